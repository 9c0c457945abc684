"""Converts the data of `fit`, `evaluate` and `predict` to batches for a model's functions.

Users pass lists, dicts by name, labels without their last axis, class weights, or generators. The
functions of a model take arrays in a fixed order: inputs, targets, sample weights, and a number for
the learning phase if the model has dropout or a similar layer. This file converts the data. It
checks them against the model and each other (`training_data.py`), and puts them into a feed
(`feeds.py`), which yields the batches of an epoch.

In Keras, `Model._standardize_user_data` checks the data, and the loops make the batches. Lesson:
chapter 15.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from kerascope.backend.graph import Placeholder
from kerascope.backend.state import learning_phase
from kerascope.engine import compile_rules, training_data
from kerascope.engine.feeds import (
    USUAL_BATCH_SIZE,
    WorkerOptions,
    feed_of,
    generator_feed,
    makes_batches,
    read_first,
    split_item,
)
from kerascope.engine.known_batches import note_arrays, ready_arrays
from kerascope.errors import DataError
from kerascope.spellings import dialect_options


@dataclass(frozen=True)
class FitOptions:
    """The arguments of `fit` after x and y, in Keras's order, with their values or defaults."""

    batch_size: int | None = None
    epochs: int | None = None
    verbose: int = 1
    callbacks: Any = None
    validation_split: float = 0.0
    validation_data: Any = None
    shuffle: bool | str = True
    class_weight: Any = None
    sample_weight: Any = None
    initial_epoch: int = 0
    steps_per_epoch: int | None = None
    validation_steps: int | None = None
    validation_batch_size: int | None = None
    validation_freq: Any = 1


# --- arrays for a function ------------------------------------------------------------------------


def arrays_for(
    model: Any, name: str, x: Any, y: Any, weights: tuple[Any, Any], where: str, makes: bool = True
) -> list[Any]:
    """Check data, and return the arrays that the model's function `name` takes.

    Parameters
    ----------
    name : {"train_function", "test_function"}
    weights : tuple (sample_weight, class_weight)
    where : str
        The text with which error messages begin.
    makes : bool
        Whether to make the model's function of this name too.
    """
    sample_weight, class_weight = weights
    phase = 1.0 if name == "train_function" else 0.0
    model._make_ready_for(name, x)
    ins = training_arrays(model, x, y, sample_weight, class_weight, phase, where)
    if makes:
        getattr(model, f"_make_{name}")()
    is_plain = sample_weight is None and class_weight is None
    if is_plain and getattr(model, name) is not None:
        note_arrays(model, name, x, y, ins)
    return ins


def training_arrays(
    model: Any, x: Any, y: Any, sample_weight: Any, class_weight: Any, phase: float, where: str
) -> list[Any]:
    """Return the arrays for a train function (phase 1) or a test function (phase 0)."""
    x, y, weights = training_data.data_as_arrays(model, x, y, sample_weight, class_weight, where)
    model._has_trained_on_labels |= bool(phase)
    return x + y + weights + phase_flags(model, phase)


def arrays_to_predict(model: Any, x: Any, where: str | None = None) -> list[Any]:
    """Return the arrays for the predict function.

    If earlier data had the same types and shapes, the data are not checked again.

    Raises
    ------
    DataError
        The numbers of samples differ or are 0 (only checked if `where` is given).
    """
    known = ready_arrays(model, "predict_function", x, None, 0.0)
    if known is not None:
        return known
    model._make_ready_for("predict_function", x)
    arrays = training_data.inputs_as_arrays(model, x)
    if where is not None:
        training_data.check_lengths(arrays, [], [], where)
    ins = arrays + phase_flags(model, 0.0)
    model._make_predict_function()
    lengths = {array.shape[0] for array in arrays}
    if len(lengths) == 1 and 0 not in lengths:
        note_arrays(model, "predict_function", x, None, ins)
    return ins


def phase_flags(model: Any, phase: float) -> list[float]:
    """Return a list with the value of the learning phase; empty if the model does not use it.

    After `K.set_learning_phase` the value is the one set there.
    """
    if not model.uses_learning_phase:
        return []
    fixed = learning_phase()
    return [phase if isinstance(fixed, Placeholder) else float(fixed)]


# --- feeds of arrays ------------------------------------------------------------------------------


def feed(
    model: Any, ins: list[Any], batch_size: int | None, steps: int | None, shuffle: Any = False
) -> Any:
    """Return a feed of arrays. The default batch size is the fixed batch size of the Inputs.

    If the Inputs have no fixed batch size, the default is that of `feed_of`.

    Raises
    ------
    DataError
        The model is stateful, its batch size is fixed, and the last batch would be smaller.
    """
    sizes = {x.shape[0] for x in model._feed_inputs if x.ndim} - {None}
    in_batches = steps is None or dialect_options().steps_are_batches
    if batch_size is None and in_batches and len(sizes) == 1:
        (batch_size,) = sizes
    made = feed_of(ins, batch_size, steps, shuffle)
    if sizes and made.samples and made.samples % made.batch_size and model.stateful:
        raise DataError(
            f"{model.label}: In a stateful network, you should only pass inputs with a number "
            f"of samples that can be divided by the batch size. Found {made.samples} samples "
            f"and batches of {made.batch_size}. Leave the last samples out."
        )
    return made


def labelled_feed(
    model: Any, ins: list[Any], batch_size: int | None, steps: int | None, shuffle: Any = False
) -> Any:
    """Return a feed of inputs, targets and sample weights.

    Sample weights that are all 1 are replaced by a read-only array of ones, which is reused.
    """
    made = feed(model, ins, batch_size, steps, shuffle)
    made.first_weight = _first_weight(model)
    return made


def feeds_of_arrays(
    model: Any, x: Any, y: Any, options: FitOptions, has_callbacks: bool, endings: ExitStack
) -> tuple[Any, Any]:
    """Return the feed for training on arrays, and the feed for validation or None.

    The validation data are arrays or a generator. For a generator, closing `endings` ends the
    workers of its feed.
    """
    weights = options.sample_weight, options.class_weight
    ins = model._ins_for("train_function", x, y, weights, "fit", makes=False)
    data, steps = options.validation_data, options.validation_steps
    ins, val_ins = _with_validation(model, ins, data, options.validation_split, has_callbacks)
    size = options.batch_size
    train_feed = labelled_feed(model, ins, size, options.steps_per_epoch, options.shuffle)
    train_feed.goes_on = True
    train_feed.batch_size = train_feed.batch_size or size or USUAL_BATCH_SIZE
    val_size = options.validation_batch_size or size
    val_feed = labelled_feed(model, val_ins, val_size, steps) if val_ins else None
    if makes_batches(data):
        standardize = batch_arrays(model, "test_function")
        made = generator_feed(data, steps, standardize, False, WorkerOptions())
        val_feed = endings.enter_context(made)
    return train_feed, val_feed


def _with_validation(
    model: Any, ins: list[Any], data: Any, split: float, has_callbacks: bool
) -> tuple[list[Any], list[Any]]:
    """Return the arrays for training, and those for validation.

    The second list is empty without validation, or if a generator makes the validation batches.
    """
    if makes_batches(data):
        return ins, []
    if data is not None:
        return ins, _validation_arrays(model, data, has_callbacks)
    if not split:
        return ins, []
    flags = phase_flags(model, 1.0)
    arrays, held_out = training_data.split_off_validation(ins[: len(ins) - len(flags)], split)
    held_out += phase_flags(model, 0.0)
    if has_callbacks:
        held_out = training_data.with_own_weights(held_out, _first_weight(model))
    return arrays + flags, held_out


def _validation_arrays(model: Any, data: Any, has_callbacks: bool) -> list[Any]:
    """Return the test function's arrays for validation data (x, y) or (x, y, sample_weight)."""
    if not isinstance(data, (list, tuple)) or len(data) not in (2, 3):
        raise DataError("fit: validation_data: expected a tuple (x, y) or (x, y, sample_weight).")
    x, y, sample_weight = (*data, None)[:3]
    ins = training_arrays(model, x, y, sample_weight, None, 0.0, "validation_data")
    if has_callbacks:
        ins = training_data.with_own_weights(ins, _first_weight(model))
    return ins


def _first_weight(model: Any) -> int:
    """Return the index of the first array of sample weights among a function's inputs."""
    return len(model._feed_inputs) + len(model._feed_targets)


# --- feeds of generators and Sequences ------------------------------------------------------------


def feeds_of_generator(
    model: Any,
    generator: Any,
    workers: WorkerOptions,
    options: FitOptions,
    has_callbacks: bool,
    endings: ExitStack,
) -> tuple[Any, Any]:
    """Return the feed for training on a generator, and the feed for validation or None."""
    generator = ready_for_generator(model, generator, "train_function")
    data, steps = options.validation_data, options.validation_steps
    standardize = batch_arrays(model, "train_function", options.class_weight)
    made = generator_feed(
        generator, options.steps_per_epoch, standardize, bool(options.shuffle), workers
    )
    train_feed = endings.enter_context(made)
    val_feed: Any = None
    if isinstance(data, (tuple, list)):
        val_ins = _validation_arrays(model, data, has_callbacks)
        steps = steps if dialect_options().steps_are_batches else None
        val_feed = labelled_feed(model, val_ins, options.validation_batch_size, steps)
    elif data is not None:
        standardize = batch_arrays(model, "test_function")
        made = generator_feed(data, steps, standardize, False, workers)
        val_feed = endings.enter_context(made)
    return train_feed, val_feed


def batch_arrays(model: Any, name: str, class_weight: Any = None) -> Callable[[Any], list[Any]]:
    """Return a function that converts an item of a generator to arrays for the function `name`."""

    def arrays_to_predict_of(item: Any) -> list[Any]:
        x, _, _ = split_item(item, with_targets=False)
        return training_data.inputs_as_arrays(model, x) + phase_flags(model, 0.0)

    def arrays_of(item: Any) -> list[Any]:
        x, y, sample_weight = split_item(item, with_targets=True)
        weights = sample_weight, class_weight
        return model._ins_for(name, x, y, weights, "generator", makes=False)

    return arrays_to_predict_of if name == "predict_function" else arrays_of


def ready_for_generator(model: Any, generator: Any, name: str) -> Any:
    """Make the model ready to run the function `name` on the batches of a generator.

    A model without a graph takes its input shapes from the first batch.

    Returns
    -------
    generator
        Yields all batches, including the first one.
    """
    with_targets = name != "predict_function"
    adapts = with_targets and bool(model.targets_of_any_rank) and not model._has_trained_on_labels
    if model.outputs and not adapts:
        model._make_ready_for(name, None)
        return generator
    first, generator = read_first(generator)
    x, y, _ = split_item(first, with_targets=with_targets)
    model._make_ready_for(name, x)
    if with_targets:
        given = training_data.of_trained_outputs(model, y)
        compile_rules.adapt_to_targets(model, given, "generator")
    return generator
