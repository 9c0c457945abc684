"""BatchNormalization: inputs with mean 0 and variance 1, feature by feature.

It is the one core layer with all that a layer can have: weights that training changes and weights
that it does not, a different formula in training and in test, and updates that belong to a call.
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope import constraints, initializers, regularizers
from kerascope.backend.eager import is_eager
from kerascope.backend.graph import Placeholder, Tensor, Variable
from kerascope.backend.ops.reduction import CountOver
from kerascope.backend.shapes import Shape, normalize_axis
from kerascope.callers import warn
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.errors import ArgumentError, ShapeError, SpellingWarning
from kerascope.spellings import habits

__all__ = ["BatchNormalization"]


class BatchNormalization(Layer):
    """Normalises each feature: by the batch in training, by moving averages in test.

    Parameters
    ----------
    axis : int
        Where the features lie: -1, or 1 for images with "channels_first".
    momentum : float
        How much of a moving average stays at each step.
    epsilon : float
        Added to the variance, to keep the division finite.
    center, scale : bool
        Whether `beta` is added, and whether it is multiplied by `gamma`.
    beta_initializer, gamma_initializer : str, callable or object
        First offset and scale.
    moving_mean_initializer, moving_variance_initializer : str, callable or object
        First moving averages.
    beta_regularizer, gamma_regularizer : str, callable or object, optional
        Penalties.
    beta_constraint, gamma_constraint : str, callable or object, optional
        What the optimizer applies to each new value.
    **kwargs
        As for `Layer`.

    Notes
    -----
    output = gamma * (inputs - mean) / sqrt(variance + epsilon) + beta, and in training

        moving_mean     = momentum * moving_mean     + (1 - momentum) * mean
        moving_variance = momentum * moving_variance + (1 - momentum) * variance

    `mean` and `variance` are those of the n values that the batch has for the feature; variance is
    their mean squared distance, divided by n. In dialect "2.2" the moving variance follows, as in
    Keras 2.2.4, variance * n / (n - 1 - epsilon) instead (Bessel's correction for a mean that is
    estimated too): it is 14 % more with 8 values, and as good as the same with many. Of one value
    the variance is 0, and so is what the moving variance follows; NaN if epsilon is 0 as well.
    The averages count from their first values on, as with Theano under Keras; TensorFlow under
    Keras 2.2.4 takes the share of the first values out again (`zero_debias`).

    The two updates are entered under the inputs of the call: a model that does not contain that
    call does not run them.

    When the layer is frozen (`trainable = False`), training leaves the moving averages alone, but
    normalises by the batch all the same; in dialect "3" by the moving averages, as in test. What
    `trainable` is when the train function is made counts: after a change call `compile` again.

    References
    ----------
    1. Ioffe, Szegedy: Batch Normalization: Accelerating Deep Network Training by Reducing Internal
       Covariate Shift, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> layer = BatchNormalization(momentum=0.5)
    >>> layer(np.array([[1.0], [3.0]]), training=True).round(2).tolist()
    [[-1.0], [1.0]]
    >>> [w.round(2).tolist() for w in layer.get_weights()]      # gamma, beta, the moving averages
    [[1.0], [0.0], [1.0], [1.5]]
    """

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        _check_mode(kwargs)
        super().__init__(**kwargs)
        self.axis = int(axis)
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = bool(center)
        self.scale = bool(scale)
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        self.supports_masking = True
        self._tests_when_frozen = habits().freezes_inside
        self._corrects_variance = habits().corrects_variance

    def build(self, input_shape: Shape) -> None:
        """Make gamma, beta, moving_mean and moving_variance: one number for each feature."""
        axis = normalize_axis(self.axis, len(input_shape), f"{self.label}: axis")
        size = input_shape[axis]
        if size is None:
            raise ShapeError(
                f"{self.label}: the size of axis {self.axis} of {input_shape} is not known; "
                f"expected a number, since it has weights for each feature. Give the Input that "
                f"size.",
                subject=self,
            )
        self.gamma = self._feature_weight("gamma", size) if self.scale else None
        self.beta = self._feature_weight("beta", size) if self.center else None
        self.moving_mean = self._moving_average("moving_mean", size, self.moving_mean_initializer)
        self.moving_variance = self._moving_average(
            "moving_variance", size, self.moving_variance_initializer
        )
        self.input_spec = InputSpec(ndim=len(input_shape), axes={axis: size})
        self.built = True

    def _feature_weight(self, word: str, size: int) -> Variable:
        """Make `gamma` or `beta`, from the arguments that begin with its name."""
        return self.add_weight(
            name=word,
            shape=(size,),
            initializer=getattr(self, f"{word}_initializer"),
            regularizer=getattr(self, f"{word}_regularizer"),
            constraint=getattr(self, f"{word}_constraint"),
        )

    def _moving_average(self, word: str, size: int, initializer: Any) -> Variable:
        return self.add_weight(name=word, shape=(size,), initializer=initializer, trainable=False)

    def call(self, inputs: Tensor, training: Any = None, mask: Tensor | None = None) -> Tensor:
        """Return the normalised inputs, and enter the updates of the moving averages.

        With Keras 3's habits, what a mask leaves out does not count for mean and variance.
        """
        training = K.learning_phase() if training is None else training
        if self._tests_when_frozen and is_eager():
            training = training and self.trainable
        if not isinstance(training, Tensor) and not training:
            return self._normalized_for_test(inputs)
        axis = self.axis % K.ndim(inputs)
        others = [a for a in range(K.ndim(inputs)) if a != axis]
        if mask is not None and self._ends_masks:
            normalized, mean, variance, count = self._normalized_by_masked(inputs, mask, others)
        else:
            normalized, mean, variance = K.normalize_batch_in_training(
                inputs, self.gamma, self.beta, others, epsilon=self.epsilon
            )
            count = CountOver(tuple(others), _wide(variance))(inputs)
        if self._corrects_variance:
            variance = self._corrected(variance, count)
        self.add_update(
            [
                K.moving_average_update(self.moving_mean, mean, self.momentum),
                K.moving_average_update(self.moving_variance, variance, self.momentum),
            ],
            inputs,
        )
        if self._tests_when_frozen and not is_eager():
            # A choice of its own, and no product: so both are known when a program is made.
            normalized = K.in_train_phase(
                normalized, lambda: self._normalized_for_test(inputs), Thawed(self)
            )
        return K.in_train_phase(normalized, lambda: self._normalized_for_test(inputs), training)

    def _normalized_by_masked(self, inputs: Tensor, mask: Tensor, axes: list[int]) -> list[Tensor]:
        """Return the normalised inputs; mean, variance and count of what the mask keeps."""
        kept = K.cast(K.expand_dims(mask, -1), inputs.dtype) * K.ones_like(inputs)
        count = K.sum(kept, axes, keepdims=True) + K.epsilon()
        mean = K.sum(inputs * kept, axes, keepdims=True) / count
        variance = K.sum(K.square((inputs - mean) * kept), axes, keepdims=True) / count
        mean, variance, count = K.flatten(mean), K.flatten(variance), K.flatten(count)
        normalized = K.batch_normalization(
            inputs, mean, variance, self.beta, self.gamma, axis=self.axis, epsilon=self.epsilon
        )
        return [normalized, mean, variance, count]

    def _corrected(self, variance: Tensor, count: Tensor) -> Tensor:
        """Return the variance as Keras 2.2.4's moving variance takes it.

        The factor is a number that a program knows from the shapes, so it costs one product.
        """
        count = K.cast(count, _wide(variance))
        return variance * K.cast(count / (count - (1.0 + self.epsilon)), variance.dtype)

    def _normalized_for_test(self, inputs: Tensor) -> Tensor:
        return K.batch_normalization(
            inputs,
            self.moving_mean,
            self.moving_variance,
            self.beta,
            self.gamma,
            axis=self.axis,
            epsilon=self.epsilon,
        )

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


def _wide(x: Tensor) -> str:
    """Return the type to count in: in float16, 2049 would be 2048, and 70000 infinite."""
    return "float32" if x.dtype == "float16" else x.dtype


class Thawed(Placeholder):
    """1, or 0 for a function that is made while a layer is frozen."""

    __slots__ = ("layer",)

    def __init__(self, layer: Layer) -> None:
        super().__init__((), "float32", f"{layer.name}/thawed")
        self.layer = layer

    @property
    def default(self) -> float:  # type: ignore[override]
        """The number, for the function that is being made now."""
        return float(self.layer.trainable)

    @default.setter
    def default(self, value: None) -> None:
        """Leave it: the layer decides."""


def _check_mode(kwargs: dict[str, Any]) -> None:
    """Take out Keras 1's argument `mode`, of which only 0 is left: normalise by feature.

    Raises
    ------
    ArgumentError
        It asks for another mode.
    """
    if "mode" not in kwargs:
        return
    mode = kwargs.pop("mode")
    if mode != 0:
        raise ArgumentError(
            f"BatchNormalization: mode {mode!r} of Keras 1 exists no more; expected 0, by feature. "
            f"Leave mode out."
        )
    warn(
        "BatchNormalization: 'mode' is Keras 1's word; today there is only mode 0. Leave it out.",
        SpellingWarning,
    )
