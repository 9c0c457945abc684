"""The losses of Keras 3 under their names: each is a function and its arguments.

Each takes also `reduction`, `name` and `dtype`: see `Loss`.
"""

from __future__ import annotations

from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.losses import functions, newer
from kerascope.losses.classes import Loss
from kerascope.losses.functions import registry

_MEAN = "sum_over_batch_size"


@registry.register
class MeanSquaredError(Loss):
    """mean (p - y)^2, as an object."""

    function = functions.mean_squared_error

    def __init__(
        self, reduction: str | None = _MEAN, name: str | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(name, reduction, dtype)


@registry.register
class MeanAbsoluteError(Loss):
    """mean |p - y|, as an object."""

    function = functions.mean_absolute_error

    def __init__(
        self, reduction: str | None = _MEAN, name: str | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(name, reduction, dtype)


@registry.register
class MeanAbsolutePercentageError(Loss):
    """100 * mean |p - y| / |y|, as an object."""

    function = functions.mean_absolute_percentage_error

    def __init__(
        self, reduction: str | None = _MEAN, name: str | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(name, reduction, dtype)


@registry.register
class MeanSquaredLogarithmicError(Loss):
    """mean (log(1 + p) - log(1 + y))^2, as an object."""

    function = functions.mean_squared_logarithmic_error

    def __init__(
        self, reduction: str | None = _MEAN, name: str | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(name, reduction, dtype)


@registry.register
class LogCosh(Loss):
    """mean log(cosh(p - y)), as an object."""

    function = functions.logcosh

    def __init__(
        self, reduction: str | None = _MEAN, name: str | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(name, reduction, dtype)


@registry.register
class Hinge(Loss):
    """mean max(1 - y p, 0); targets 0 and 1 count as -1 and 1, as an object."""

    function = newer.hinge_of_bits

    def __init__(
        self, reduction: str | None = _MEAN, name: str | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(name, reduction, dtype)


@registry.register
class CategoricalHinge(Loss):
    """max(1 + greatest p of a wrong class - p of the right one, 0), as an object."""

    function = functions.categorical_hinge

    def __init__(
        self, reduction: str | None = _MEAN, name: str | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(name, reduction, dtype)


@registry.register
class KLDivergence(Loss):
    """sum y log(y / p), as an object."""

    function = functions.kullback_leibler_divergence

    def __init__(
        self, reduction: str | None = _MEAN, name: str | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(name, reduction, dtype)


@registry.register
class Poisson(Loss):
    """mean p - y log(p), as an object."""

    function = functions.poisson

    def __init__(
        self, reduction: str | None = _MEAN, name: str | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(name, reduction, dtype)


@registry.register
class SquaredHinge(Loss):
    """mean max(1 - y p, 0)^2; targets 0 and 1 count as -1 and 1."""

    function = newer.squared_hinge_of_bits

    def __init__(
        self,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)


@registry.register
class Huber(Loss):
    """`huber` with its `delta`."""

    function = newer.huber

    def __init__(
        self,
        delta: float = 1.0,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self.delta = delta


@registry.register
class CosineSimilarity(Loss):
    """Minus the cosine of the angle between y and p."""

    function = newer.cosine_similarity_along

    def __init__(
        self,
        axis: int = -1,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self.axis = axis


@registry.register
class BinaryCrossentropy(Loss):
    """Binary crossentropy, of logits too."""

    function = newer.binary_crossentropy_with_options

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing
        self.axis = axis


@registry.register
class CategoricalCrossentropy(Loss):
    """Crossentropy of one-hot targets, of logits too."""

    function = newer.categorical_crossentropy_with_options

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing
        self.axis = axis


@registry.register
class SparseCategoricalCrossentropy(Loss):
    """Crossentropy of class numbers, of logits too; those of `ignore_class` are no samples."""

    function = newer.sparse_categorical_crossentropy_with_options

    def __init__(
        self,
        from_logits: bool = False,
        ignore_class: int | None = None,
        reduction: str | None = _MEAN,
        axis: int = -1,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self.from_logits = from_logits
        self.ignore_class = ignore_class
        self.axis = axis

    def counted(self, y_true: Tensor, y_pred: Tensor) -> Tensor | None:
        """Return where the class is not `ignore_class`: the mean is over those."""
        return newer.counted_classes(y_true, y_pred, self.ignore_class, self.axis)


@registry.register
class BinaryFocalCrossentropy(Loss):
    """`binary_focal_crossentropy` with its arguments."""

    function = newer.binary_focal_crossentropy

    def __init__(
        self,
        apply_class_balancing: bool = False,
        alpha: float = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self.apply_class_balancing = apply_class_balancing
        self.alpha = alpha
        self.gamma = gamma
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing
        self.axis = axis


@registry.register
class CategoricalFocalCrossentropy(Loss):
    """`categorical_focal_crossentropy` with its arguments."""

    function = newer.categorical_focal_crossentropy

    def __init__(
        self,
        alpha: Any = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self.alpha = alpha
        self.gamma = gamma
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing
        self.axis = axis
