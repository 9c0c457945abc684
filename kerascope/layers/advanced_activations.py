"""Layers that apply an activation function with parameters or weights.

Add one after a layer without activation: `Dense(64)`, then `LeakyReLU(0.1)`. An activation without
parameters is an argument of the layer itself: `Dense(64, activation="relu")`.
"""

from __future__ import annotations

from typing import Any

from kerascope import activations, constraints, initializers, regularizers
from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape, normalize_axis
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.arguments import Identifier, make_weight, number

__all__ = ["ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"]


class _Activation(Layer):
    """Base class of activation layers, whose output has the shape and the mask of the input."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


class LeakyReLU(_Activation):
    """The rectified linear unit with a small slope below 0.

    Parameters
    ----------
    alpha : float
        Slope below 0. Keras 3 calls it `negative_slope`.
    **kwargs
        As for `Layer`.

    Notes
    -----
    output = x where x >= 0, alpha * x elsewhere.

    References
    ----------
    1. Maas, Hannun, Ng: Rectifier Nonlinearities Improve Neural Network Acoustic Models, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> LeakyReLU(0.5)(np.array([-2.0, 3.0])).tolist()
    [-1.0, 3.0]
    """

    def __init__(self, alpha: float = 0.3, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = number(alpha, f"{self.label}: alpha")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs, with negative inputs multiplied by `alpha`."""
        return K.relu(inputs, alpha=self.alpha)


class LearntActivation(_Activation):
    """Base class of activation layers with trained parameters.

    By default, each element of a sample has its own parameter.

    Parameters
    ----------
    shared_axes : int or list of int, optional
        Axes along which a parameter is shared, counted from 1 (0 is the batch).
    **kwargs
        As for `Layer`.
    """

    _is_part = True

    def __init__(self, *, shared_axes: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        axes = [shared_axes] if isinstance(shared_axes, int) else shared_axes
        self.shared_axes = None if axes is None else [int(axis) for axis in axes]

    def _shape_of_parameters(self, input_shape: Shape) -> Shape:
        """Return the parameters' shape: the shape of a sample, with size 1 along the shared axes.

        Inputs of later calls must have the same sizes along the axes that are not shared.

        Raises
        ------
        ArgumentError
            A shared axis is not valid, or an axis of unknown size is not shared.
        """
        ndim, where = len(input_shape), f"{self.label}: shared_axes"
        shared = {normalize_axis(axis, ndim, where) for axis in self.shared_axes or ()}
        shape = tuple(1 if a in shared else n for a, n in enumerate(input_shape))[1:]
        if 0 in shared or None in shape:
            raise ArgumentError(
                f"{where}: expected axes from 1 to {ndim - 1}, and among them every axis of "
                f"unknown size, got {self.shared_axes} for an input of shape {input_shape}.",
                subject=self,
            )
        known = {axis: n for axis, n in enumerate(input_shape) if axis > 0 and axis not in shared}
        self.input_spec = InputSpec(ndim=ndim, axes=known)
        return shape


class PReLU(LearntActivation):
    """A `LeakyReLU` that learns its slopes.

    Parameters
    ----------
    alpha_initializer : str, callable or object
        Initial values of the slopes.
    alpha_regularizer : str, callable or object, optional
        Penalty on the slopes.
    alpha_constraint : str, callable or object, optional
        Applied by the optimizer to each new value.
    shared_axes : int or tuple of int, optional
        Axes along which a slope is shared, counted from 1 (0 is the batch). `(1, 2)` gives each
        channel of an image one slope. By default, each element of a sample has its own slope.
    **kwargs
        As for `Layer`.

    Notes
    -----
    output = x where x >= 0, alpha * x elsewhere. The weight `alpha` has the shape of a sample, with
    size 1 along the shared axes.

    References
    ----------
    1. He et al.: Delving Deep into Rectifiers, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> layer = PReLU("ones", shared_axes=[1, 2])
    >>> layer(np.full((5, 8, 8, 3), -2.0)).shape, layer.alpha.shape
    ((5, 8, 8, 3), (1, 1, 3))
    """

    def __init__(
        self,
        alpha_initializer: Identifier = "zeros",
        alpha_regularizer: Identifier = None,
        alpha_constraint: Identifier = None,
        shared_axes: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(shared_axes=shared_axes, **kwargs)
        self.alpha_initializer = initializers.get(alpha_initializer)
        self.alpha_regularizer = regularizers.get(alpha_regularizer)
        self.alpha_constraint = constraints.get(alpha_constraint)

    def build(self, input_shape: Shape) -> None:
        """Create the weight `alpha`, which contains the slopes.

        Raises
        ------
        ArgumentError
            A shared axis is not valid, or an axis of unknown size is not shared.
        """
        self.alpha = make_weight(self, "alpha", self._shape_of_parameters(input_shape))
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs, with negative inputs multiplied by their slopes."""
        return K.relu(inputs) - self.alpha * K.relu(-inputs)


class ELU(_Activation):
    """The exponential linear unit.

    Parameters
    ----------
    alpha : float
        The output tends to -alpha for very negative inputs.
    **kwargs
        As for `Layer`.

    Notes
    -----
    output = x where x > 0, alpha * (exp(x) - 1) elsewhere.

    References
    ----------
    1. Clevert, Unterthiner, Hochreiter: Fast and Accurate Deep Network Learning by Exponential
       Linear Units, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> ELU(alpha=2.0)(np.array([-100.0, 0.0, 3.0])).tolist()
    [-2.0, 0.0, 3.0]
    """

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = number(alpha, f"{self.label}: alpha")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the exponential linear unit of the inputs."""
        return K.elu(inputs, self.alpha)


class ThresholdedReLU(_Activation):
    """Returns inputs above a threshold unchanged, and 0 for all other inputs.

    Parameters
    ----------
    theta : float
        The threshold.
    **kwargs
        As for `Layer`.

    Notes
    -----
    output = x where x > theta, 0 elsewhere.

    References
    ----------
    1. Konda, Memisevic, Krueger: Zero-Bias Autoencoders and the Benefits of Co-Adapting Features,
       2014.

    Examples
    --------
    >>> import numpy as np
    >>> ThresholdedReLU(2.0)(np.array([-3.0, 2.0, 3.0])).tolist()
    [0.0, 0.0, 3.0]
    """

    def __init__(self, theta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.theta = number(theta, f"{self.label}: theta")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs that are greater than `theta`, and 0 for all other inputs."""
        return K.switch(K.greater(inputs, self.theta), inputs, K.zeros_like(inputs))


class Softmax(_Activation):
    """Turns inputs x into positive numbers proportional to exp(x) that sum to 1 along an axis.

    Parameters
    ----------
    axis : int, or list of int
        Axis along which the sum is 1. For a list, the sum over all its axes together is 1.
    **kwargs
        As for `Layer`.

    Notes
    -----
    With a `mask`, the outputs at masked positions are 0, and the other outputs sum to 1. The axes
    of the mask are the last axes of the inputs, each with the same size or with size 1. The mask
    that an input tensor has from the layer before is used in dialect "3" only.

    Examples
    --------
    >>> import numpy as np
    >>> Softmax()(np.log([[1.0, 3.0]])).round(3).tolist()
    [[0.25, 0.75]]
    >>> Softmax()(np.log([[1.0, 3.0, 4.0]]), mask=np.array([[1, 1, 0]])).round(3).tolist()
    [[0.25, 0.75, 0.0]]
    """

    def __init__(self, axis: Any = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        several = isinstance(axis, (list, tuple))
        self.axis: Any = [int(one) for one in axis] if several else int(axis)
        self._receives_masks = self._ends_masks

    def call(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the softmax over the unmasked inputs. Outputs at masked positions are 0.

        Raises
        ------
        ShapeError
            The shape of the mask does not match the last axes of the inputs.
        """
        if mask is None:
            return self._softmax(inputs)
        kept = self._fitted(mask, inputs)
        low = -3e4 if inputs.dtype == "float16" else -1e9  # as Keras 3: their exp is 0
        found = self._softmax(K.switch(kept, inputs, K.ones_like(inputs) * low))
        return K.switch(kept, found, K.zeros_like(found))

    def _softmax(self, x: Tensor) -> Tensor:
        if not isinstance(self.axis, list):
            return activations.softmax(x, axis=self.axis)
        powers = K.exp(x - K.max(x, axis=self.axis, keepdims=True))
        return powers / K.sum(powers, axis=self.axis, keepdims=True)

    def _fitted(self, mask: Tensor, inputs: Tensor) -> Tensor:
        """Return the mask as a bool tensor with as many axes as the inputs, the first of size 1."""
        sizes = list(zip(mask.shape[::-1], inputs.shape[::-1], strict=False))
        fits = mask.ndim <= inputs.ndim and all(m in (1, n) or None in (m, n) for m, n in sizes)
        if not fits:
            raise ShapeError(
                f"{self.label}: expected a mask with the last axes of the inputs {inputs.shape}, "
                f"each of the same size or 1, got shape {mask.shape}.",
                subject=self,
            )
        for _ in range(inputs.ndim - mask.ndim):
            mask = K.expand_dims(mask, 0)
        return mask if mask.dtype == "bool" else mask > 0.5


class ReLU(_Activation):
    """The rectified linear unit with a slope, a threshold and a maximum.

    Parameters
    ----------
    max_value : float, optional
        Maximum of the output, at least 0.
    negative_slope : float
        Slope below the threshold, at least 0.
    threshold : float
        The smallest input that is returned unchanged.
    **kwargs
        As for `Layer`.

    Notes
    -----
    output = max_value where x >= max_value, x where threshold <= x < max_value,
    negative_slope * (x - threshold) elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> ReLU(max_value=6)(np.array([-1.0, 3.0, 9.0])).tolist()
    [0.0, 3.0, 6.0]
    """

    def __init__(
        self,
        max_value: float | None = None,
        negative_slope: float = 0.0,
        threshold: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.max_value = None
        if max_value is not None:
            self.max_value = number(max_value, f"{self.label}: max_value", least=0)
        self.negative_slope = number(negative_slope, f"{self.label}: negative_slope", least=0)
        self.threshold = number(threshold, f"{self.label}: threshold")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the rectified inputs, with the layer's slope, threshold and maximum."""
        return K.relu(inputs, self.negative_slope, self.max_value, self.threshold)
