"""The metrics of Keras 3 that are means, under their names: each is a function and its arguments.

Each takes also `name`, the key in the logs, and `dtype`: see `Metric`.
"""

from __future__ import annotations

from kerascope import backend as K
from kerascope import losses
from kerascope.backend.graph import Tensor
from kerascope.errors import ArgumentError
from kerascope.losses import newer
from kerascope.metrics import functions
from kerascope.metrics.classes import MeanMetric
from kerascope.metrics.functions import registry


def _accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    return K.mean(K.cast(K.equal(y_true, y_pred), K.floatx()), axis=-1)


def _binary_accuracy(y_true: Tensor, y_pred: Tensor, threshold: float) -> Tensor:
    decided = K.cast(K.greater(y_pred, threshold), K.floatx())
    return K.mean(K.cast(K.equal(y_true, decided), K.floatx()), axis=-1)


def _sparse_top_k(y_true: Tensor, y_pred: Tensor, k: int, from_sorted_ids: bool) -> Tensor:
    if from_sorted_ids:
        raise ArgumentError(
            "SparseTopKCategoricalAccuracy: from_sorted_ids=True does not exist here; give scores."
        )
    return functions.sparse_top_k_categorical_accuracy(y_true, y_pred, k)


def _cosine_similarity(y_true: Tensor, y_pred: Tensor, axis: int) -> Tensor:
    return -newer.cosine_similarity_along(y_true, y_pred, axis)


@registry.register
class CategoricalAccuracy(MeanMetric):
    """`categorical_accuracy` as an object."""

    function = functions.categorical_accuracy

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.register
class SparseCategoricalAccuracy(MeanMetric):
    """`sparse_categorical_accuracy` as an object."""

    function = functions.sparse_categorical_accuracy

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.register
class MeanSquaredError(MeanMetric):
    """`mean_squared_error` as an object."""

    function = losses.mean_squared_error

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.register
class MeanAbsoluteError(MeanMetric):
    """`mean_absolute_error` as an object."""

    function = losses.mean_absolute_error

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.register
class MeanAbsolutePercentageError(MeanMetric):
    """`mean_absolute_percentage_error` as an object."""

    function = losses.mean_absolute_percentage_error

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.register
class MeanSquaredLogarithmicError(MeanMetric):
    """`mean_squared_logarithmic_error` as an object."""

    function = losses.mean_squared_logarithmic_error

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.register
class CategoricalHinge(MeanMetric):
    """`categorical_hinge` as an object."""

    function = losses.categorical_hinge

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.register
class Hinge(MeanMetric):
    """`hinge_of_bits` as an object."""

    function = newer.hinge_of_bits

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.register
class SquaredHinge(MeanMetric):
    """`squared_hinge_of_bits` as an object."""

    function = newer.squared_hinge_of_bits

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.register
class KLDivergence(MeanMetric):
    """`kullback_leibler_divergence` as an object."""

    function = losses.kullback_leibler_divergence

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.register
class Poisson(MeanMetric):
    """`poisson` as an object."""

    function = losses.poisson

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.alias("log_cosh_error")
class LogCoshError(MeanMetric):
    """`logcosh` as an object."""

    function = losses.logcosh

    def __init__(
        self,
        name: str = "logcosh",
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.register
class TopKCategoricalAccuracy(MeanMetric):
    """Share of samples whose class is among the `k` greatest predictions."""

    function = functions.top_k_categorical_accuracy

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        k: int = 5,
    ) -> None:
        super().__init__(name, dtype)
        self.k = k


@registry.register
class SparseTopKCategoricalAccuracy(MeanMetric):
    """`TopKCategoricalAccuracy` for class numbers."""

    function = _sparse_top_k

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        k: int = 5,
        from_sorted_ids: bool = False,
    ) -> None:
        super().__init__(name, dtype)
        self.k = k
        self.from_sorted_ids = from_sorted_ids


@registry.register
class Accuracy(MeanMetric):
    """Share of predictions that equal their targets."""

    function = _accuracy

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.register
class BinaryAccuracy(MeanMetric):
    """Share of probabilities on the right side of `threshold`."""

    function = _binary_accuracy

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        threshold: float = 0.5,
    ) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold


@registry.alias("cosine_similarity")
class CosineSimilarity(MeanMetric):
    """Cosine of the angle between targets and predictions: 1 if they point the same way."""

    function = _cosine_similarity

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        axis: int = -1,
    ) -> None:
        super().__init__(name, dtype)
        self.axis = axis


@registry.alias("bce", "BCE")
class BinaryCrossentropy(MeanMetric):
    """`binary_crossentropy` as an object."""

    function = newer.binary_crossentropy_with_options

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        super().__init__(name, dtype)
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing


@registry.register
class CategoricalCrossentropy(MeanMetric):
    """`categorical_crossentropy` as an object."""

    function = newer.categorical_crossentropy_with_options

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
        axis: int = -1,
    ) -> None:
        super().__init__(name, dtype)
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing
        self.axis = axis


@registry.register
class SparseCategoricalCrossentropy(MeanMetric):
    """`sparse_categorical_crossentropy` as an object."""

    function = newer.sparse_categorical_crossentropy_with_options

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        from_logits: bool = False,
        ignore_class: int | None = None,
        axis: int = -1,
    ) -> None:
        super().__init__(name, dtype)
        self.from_logits = from_logits
        self.ignore_class = ignore_class
        self.axis = axis
