"""Functions below `keras.engine` that extensions of Keras call, though they are not documented.

In Keras 2 they are in `training_utils`, `training_arrays` and `training_generator`. Each calls the
part of the engine that does the work: `training_data` (arrays), `feeds` (batches), `compiling`
(weighted losses) or `training_loop`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.ops.random import fresh_seed
from kerascope.backend.shapes import Shape
from kerascope.callbacks import History, checked_callbacks
from kerascope.configured import by_name
from kerascope.engine import feeds, training_data, training_loop
from kerascope.engine.arguments import to_list, unpack_singleton
from kerascope.engine.compiling import per_output, weighted_masked_objective
from kerascope.engine.feeds import feed_of, make_batches
from kerascope.errors import ArgumentError, DataError
from kerascope.not_yet import answer_missing_names
from kerascope.stage import Stage

__all__ = [
    "batch_shuffle",
    "check_array_length_consistency",
    "check_loss_and_target_compatibility",
    "check_num_samples",
    "collect_metrics",
    "evaluate_generator",
    "fit_generator",
    "fit_loop",
    "iter_sequence_infinite",
    "make_batches",
    "predict_generator",
    "predict_loop",
    "standardize_class_weights",
    "standardize_input_data",
    "standardize_sample_or_class_weights",
    "standardize_sample_weights",
    "standardize_single_array",
    "standardize_weights",
    "test_loop",
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


# --- loops over batches: keras.engine.training_arrays and training_generator ----------------------


def fit_loop(
    model: Any,
    f: Any,
    ins: list[Any],
    out_labels: list[str] | None = None,
    batch_size: int | None = None,
    epochs: int = 100,
    verbose: int = 1,
    callbacks: Any = None,
    val_f: Any = None,
    val_ins: list[Any] | None = None,
    shuffle: bool | str = True,
    callback_metrics: list[str] | None = None,
    initial_epoch: int = 0,
    steps_per_epoch: int | None = None,
    validation_steps: int | None = None,
) -> History:
    """Call a train function on batches of arrays, as `fit` does; return the History.

    Parameters
    ----------
    model : Model
        Which the callbacks are told of.
    f : Function
        Returns the loss and the metrics of a batch.
    ins : list of array
        What `f` takes.
    out_labels : list of str, optional
        Names of what `f` returns. Default: `model.metrics_names`.
    val_f, val_ins : optional
        The same for the evaluation after each epoch.
    callback_metrics : list of str, optional
        Names that callbacks may ask for. Default: `out_labels` and, with `val_f`, each as `val_`.
    batch_size, epochs, verbose, callbacks, shuffle, initial_epoch, steps_per_epoch
        As for `fit`.
    validation_steps : int, optional

    Raises
    ------
    ArgumentError
        `out_labels` are not the model's metrics.
    """
    labels = model.metrics_names
    if out_labels is not None and list(out_labels) != labels:
        raise ArgumentError(f"fit_loop: out_labels are {out_labels}; expected {labels}.")
    feed = feed_of(ins, batch_size, steps_per_epoch, shuffle)
    val_feed = feed_of(val_ins, batch_size, validation_steps, False) if val_f and val_ins else None
    told = training_loop.callbacks_of_fit(
        model, checked_callbacks(callbacks), feed, val_feed,
        batch_size, epochs, verbose, callback_metrics,
    )  # fmt: skip
    settings: dict[str, Any] = {"epochs": epochs, "initial_epoch": initial_epoch}
    if val_feed is not None:
        settings |= {"val_f": val_f, "val_feed": val_feed}
    Stage("fit", training_loop.fit_events(model, f, feed, told, **settings), model).run()
    history: History = model.history
    return history


def predict_loop(
    model: Any,
    f: Any,
    ins: list[Any],
    batch_size: int | None = 32,
    verbose: int = 0,
    steps: int | None = None,
) -> Any:
    """Call a predict function on batches of arrays; return the joined outputs."""
    feed = feed_of(ins, batch_size, steps, False)
    return unpack_singleton(
        Stage("predict", training_loop.predict_events(f, feed, verbose), model).run()
    )


def evaluate_loop(
    model: Any,
    f: Any,
    ins: list[Any],
    batch_size: int | None = None,
    verbose: int = 0,
    steps: int | None = None,
) -> Any:
    """Call a test function on batches of arrays; return the means of what it returns."""
    feed = feed_of(ins, batch_size, steps, False)
    events = training_loop.evaluate_events(f, feed, model, verbose)
    return unpack_singleton(Stage("evaluate", events, model).run())


test_loop = evaluate_loop  # Keras's name


def fit_generator(
    model: Any,
    generator: Any,
    steps_per_epoch: int | None = None,
    epochs: int = 1,
    verbose: int = 1,
    callbacks: Any = None,
    validation_data: Any = None,
    validation_steps: int | None = None,
    class_weight: Any = None,
    max_queue_size: int = 10,
    workers: int = 1,
    use_multiprocessing: bool = False,
    shuffle: bool = True,
    initial_epoch: int = 0,
) -> History:
    """Train a model on a generator: `model.fit_generator`."""
    history: History = model.fit_generator(**by_name(locals(), "model"))
    return history


def evaluate_generator(
    model: Any,
    generator: Any,
    steps: int | None = None,
    max_queue_size: int = 10,
    workers: int = 1,
    use_multiprocessing: bool = False,
    verbose: int = 0,
) -> Any:
    """Evaluate a model on a generator: `model.evaluate_generator`."""
    return model.evaluate_generator(**by_name(locals(), "model"))


def predict_generator(
    model: Any,
    generator: Any,
    steps: int | None = None,
    max_queue_size: int = 10,
    workers: int = 1,
    use_multiprocessing: bool = False,
    verbose: int = 0,
) -> Any:
    """Return a model's outputs for a generator: `model.predict_generator`."""
    return model.predict_generator(**by_name(locals(), "model"))


_OF_KERAS_1 = "GeneratorEnqueuer check_array_lengths slice_X weighted_objective"

answer_missing_names(__name__, later=dict.fromkeys(_OF_KERAS_1.split(), "kerascope.utils.keras1"))
