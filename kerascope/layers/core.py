"""Dense, Activation and Masking, and by import the rest of Keras's `layers.core`.

Each is a few lines of `K` functions: `build` makes the weights, `call` is the formula. The layers
that only rearrange numbers stand in `shaping.py`, those that hold a model back from overfitting in
`regularizing.py`, a function of your own as a layer in `lambdas.py`.

Lesson: chapter 6, which steps through `Dense`.
"""

from __future__ import annotations

from typing import Any

from kerascope import activations, constraints, initializers, regularizers
from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.layers.arguments import positive_int
from kerascope.layers.lambdas import Lambda
from kerascope.layers.regularizing import (
    ActivityRegularization,
    Dropout,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)
from kerascope.layers.shaping import Flatten, Permute, RepeatVector, Reshape

__all__ = [
    "Activation",
    "ActivityRegularization",
    "Dense",
    "Dropout",
    "Flatten",
    "Lambda",
    "Masking",
    "Permute",
    "RepeatVector",
    "Reshape",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
]


class Dense(Layer):
    """The densely connected layer: every output sees every input.

    Parameters
    ----------
    units : int
        Number of outputs.
    activation : str or callable, optional
        Applied to each output; None is `linear`.
    use_bias : bool
        Whether a bias is added.
    kernel_initializer, bias_initializer : str, callable or object
        First values of the weights.
    kernel_regularizer, bias_regularizer : str, callable or object, optional
        Penalties on the weights.
    activity_regularizer : str, callable or object, optional
        Penalty on the output.
    kernel_constraint, bias_constraint : str, callable or object, optional
        What the optimizer applies to each new value.
    **kwargs
        As for `Layer`: `name`, `input_shape`, `input_dim`, `weights`, ...

    Raises
    ------
    ArgumentError
        `units` is no whole number above 0.

    Notes
    -----
    Input (batch, ..., n), output (batch, ..., units):

        output = activation(dot(inputs, kernel) + bias)

    with `kernel` of shape (n, units) and `bias` of shape (units,). An input of more than two axes
    is not flattened: the same weights act at every place.

    Examples
    --------
    >>> import numpy as np
    >>> layer = Dense(2, activation="relu", kernel_initializer="ones")
    >>> layer(np.array([[1.0, 2.0, 3.0]])).tolist()
    [[6.0, 6.0]]
    >>> [w.name.split("/")[-1] for w in layer.weights]
    ['kernel', 'bias']
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.units = positive_int(units, f"{self.label}: units")
        self.activation = activations.get(activation)
        self.use_bias = bool(use_bias)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True

    def build(self, input_shape: Shape) -> None:
        """Make `kernel` and `bias`."""
        self.kernel = self.add_weight(
            name="kernel",
            shape=(input_shape[-1], self.units),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=(self.units,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: input_shape[-1]})
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return activation(inputs · kernel + bias)."""
        output = K.dot(inputs, self.kernel)
        if self.use_bias:
            output = K.bias_add(output, self.bias, data_format="channels_last")
        return self.activation(output)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape with `units` as its last size."""
        return (*input_shape[:-1], self.units)


class Activation(Layer):
    """An activation function as a layer of its own.

    Parameters
    ----------
    activation : str or callable
        `"relu"`, `activations.relu`, or a function from tensor to tensor.
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> import numpy as np
    >>> Activation("relu")(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation = activations.get(activation)
        self.supports_masking = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return activation(inputs)."""
        return self.activation(inputs)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


class Masking(Layer):
    """Marks the time steps to be skipped: those whose features all equal `mask_value`.

    Parameters
    ----------
    mask_value : float
        What a skipped step is filled with.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input and output (batch, time, features); the mask (batch, time) is True where a step counts.
    The features of a skipped step come out as 0.

    Examples
    --------
    >>> import numpy as np
    >>> Masking(mask_value=9.0)(np.array([[[1.0, 9.0], [9.0, 9.0]]])).tolist()
    [[[1.0, 9.0], [0.0, 0.0]]]
    """

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mask_value = mask_value
        self.supports_masking = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs with zeros in the skipped steps."""
        counts = K.any(K.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        return inputs * K.cast(counts, K.dtype(inputs))

    def compute_mask(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return True where a step has a feature other than `mask_value`."""
        return K.any(K.not_equal(inputs, self.mask_value), axis=-1)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape
