"""The functions of `keras.engine.training_utils`, which extensions of Keras call.

Each calls the part of the engine that does the work: `training_data` (arrays), `feeds` (batches) or
`compiling` (weighted losses).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.ops.random import fresh_seed
from kerascope.backend.shapes import Shape
from kerascope.engine import feeds, training_data
from kerascope.engine.arguments import to_list
from kerascope.engine.compiling import per_output, weighted_masked_objective
from kerascope.engine.feeds import make_batches
from kerascope.errors import ArgumentError, DataError
from kerascope.not_yet import answer_missing_names

__all__ = [
    "batch_shuffle",
    "check_array_length_consistency",
    "check_loss_and_target_compatibility",
    "check_num_samples",
    "collect_metrics",
    "iter_sequence_infinite",
    "make_batches",
    "standardize_class_weights",
    "standardize_input_data",
    "standardize_sample_or_class_weights",
    "standardize_sample_weights",
    "standardize_single_array",
    "standardize_weights",
    "weighted_masked_objective",
]


# --- arrays ---------------------------------------------------------------------------------------


def standardize_single_array(x: Any) -> Any:
    """Return an array of one axis as a column; anything else, None too, as it is.

    Examples
    --------
    >>> standardize_single_array(np.arange(3)).shape
    (3, 1)
    """
    return np.expand_dims(x, 1) if x is not None and np.ndim(x) == 1 else x


def standardize_input_data(
    data: Any,
    names: list[str],
    shapes: list[Shape | None] | None = None,
    check_batch_axis: bool = True,
    exception_prefix: str = "",
) -> list[Any]:
    """Return one array for each name, checked against the shapes; see `training_data.as_arrays`.

    Parameters
    ----------
    data : array, list of arrays, dict by name, or None
    names : list of str
    shapes : list of (tuple or None), optional
    check_batch_axis : bool
        Whether the number of samples must be that of the shape, where the shape has one.
    exception_prefix : str
        What the data are called in an error.

    Raises
    ------
    DataError
        The data do not fit.
    """
    if data is None:
        return [None] * len(names)
    where = exception_prefix or "data"
    given: list[Any] = [None] * len(names) if shapes is None else list(shapes)
    arrays = training_data.as_arrays(data, names, given, where)
    for array, shape, name in zip(arrays, given, names, strict=True):
        samples = shape[0] if shape and check_batch_axis else None
        if samples is not None and int(array.shape[0]) != samples:
            raise DataError(
                f"{where} for '{name}': array of {array.shape[0]} samples; expected {samples}."
            )
    return arrays


def standardize_sample_or_class_weights(
    x_weight: Any, output_names: list[str], weight_type: str
) -> list[Any]:
    """Spread weights of samples or classes over the outputs."""
    return training_data.per_output_data(x_weight, output_names, weight_type)


def standardize_class_weights(class_weight: Any, output_names: list[str]) -> list[Any]:
    """Spread the weights of classes over the outputs."""
    return training_data.per_output_data(class_weight, output_names, "class_weight")


def standardize_sample_weights(sample_weight: Any, output_names: list[str]) -> list[Any]:
    """Spread the weights of samples over the outputs."""
    return training_data.per_output_data(sample_weight, output_names, "sample_weight")


def standardize_weights(
    y: Any, sample_weight: Any = None, class_weight: Any = None, sample_weight_mode: Any = None
) -> np.ndarray:
    """Return the weight of each sample of one output; ones if none are given."""
    target = standardize_single_array(np.asarray(y))
    rank = 2 if sample_weight_mode == "temporal" else 1
    weights = training_data.weights_of_samples(target, sample_weight, class_weight, rank, "y")
    return weights if weights.flags.writeable else weights.copy()


def check_array_length_consistency(inputs: Any, targets: Any, weights: Any = None) -> None:
    """Check that all arrays have equally many samples.

    Raises
    ------
    DataError
        They have not.
    """
    given = (to_list(arrays) for arrays in (inputs, targets, weights))
    x, y, w = ([array for array in arrays if array is not None] for arrays in given)
    training_data.check_lengths(x, y, w, "arrays")


class _Output(NamedTuple):
    """What `check_targets` wants to know of an output."""

    name: str
    shape: Shape


def check_loss_and_target_compatibility(
    targets: Any, loss_fns: Any, output_shapes: list[Shape]
) -> None:
    """Check that the labels have the form that their loss expects.

    Raises
    ------
    DataError
        They have not.
    """
    outputs: list[Any] = [_Output(f"output {i}", shape) for i, shape in enumerate(output_shapes)]
    rows = zip(to_list(targets), to_list(loss_fns), outputs, strict=True)
    there = [row for row in rows if row[0] is not None and row[1] is not None]
    training_data.check_targets(
        [y for y, _, _ in there], [f for _, f, _ in there], [o for _, _, o in there]
    )


def collect_metrics(metrics: Any, output_names: list[str]) -> list[list[Any]]:
    """Return the metrics of each output.

    Examples
    --------
    >>> collect_metrics({"b": "mae"}, ["a", "b"])
    [[], ['mae']]
    """
    if not (metrics is None or callable(metrics) or isinstance(metrics, (str, list, tuple, dict))):
        raise TypeError(
            f"metrics: expected names and functions in a list or dict, "
            f"got {type(metrics).__name__}."
        )
    if isinstance(metrics, dict):
        return [to_list(one) for one in per_output(metrics, output_names, "metrics", default=[])]
    return [to_list(metrics) for _ in output_names]


# --- batches --------------------------------------------------------------------------------------


def batch_shuffle(index_array: np.ndarray, batch_size: int) -> np.ndarray:
    """Return the numbers of rows with whole batches shuffled; a smaller last one stays last."""
    return feeds.batch_shuffle(index_array, batch_size, np.random.default_rng(fresh_seed()))


def check_num_samples(
    ins: list[Any],
    batch_size: int | None = None,
    steps: int | None = None,
    steps_name: str = "steps",
) -> int | None:
    """Return the number of samples; None if steps are counted and no array tells it.

    Raises
    ------
    ArgumentError
        Both a batch size and steps are given, or nothing tells the number of samples.
    """
    if steps is not None and batch_size is not None:
        raise ArgumentError(f"{steps_name} is given, so batch_size must be None.")
    if ins and hasattr(ins[0], "shape"):
        return int(ins[0].shape[0])
    if steps is not None:
        return None
    raise ArgumentError(f"no array tells the number of samples; expected {steps_name}.")


def iter_sequence_infinite(seq: Iterable[Any]) -> Iterator[Any]:
    """Yield the items of a Sequence from first to last, again and again."""
    while True:
        yield from seq


_OF_KERAS_1 = "GeneratorEnqueuer check_array_lengths slice_X weighted_objective"

answer_missing_names(__name__, later=dict.fromkeys(_OF_KERAS_1.split(), "kerascope.utils.keras1"))
