"""A second run with one thing changed: `play(model, x, y, beside={"lr": 0.1})`.

The second run is that of a copy of the model, with the same weights, the same state of the
optimizer and the same random numbers, on the same batch. Only the named thing differs.

    {"lr": 0.1}                                  # the learning rate, also as "learning_rate"
    {"label": other_y}                           # the targets of the batch
    {"hidden.activation": "tanh"}                # a setting of the layer "hidden"
    {"hidden.kernel_initializer": "zeros"}       # its kernel is initialized again
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import applies_in_order
from kerascope.backend.ops.random import RandomOp
from kerascope.engine.base_layer import layers_within
from kerascope.engine.pickling import Carried, pickle_model, unpickle_model
from kerascope.errors import ArgumentError, DataError
from kerascope.player.words import Text
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, Event
from kerascope.trace.statistics import figure
from kerascope.trace.tape_store import difference
from kerascope.viz.tensors.small_images import are_probabilities

LEARNING_RATE, LABEL = "lr", "label"
NEW_NAME = "learning_rate"  # of Keras 2.3 and later
INITIALIZER = "_initializer"
SETTINGS = ("activation", INITIALIZER)  # ends of the names of a layer's settings
EXAMPLE = 'beside={"lr": 0.1}'


class SecondRun(NamedTuple):
    """A second run: its model and targets, and the titles of the two runs."""

    model: Any
    y: Any
    names: tuple[Text | str, Text | str]


def with_change(model: Any, y: Any, change: Mapping[str, Any]) -> SecondRun:
    """Return a run that differs from that of a model on its targets `y` in one thing.

    Parameters
    ----------
    model : Model
        A compiled model. It is not changed.
    y : array_like
        The targets of the batch.
    change : mapping of str to object
        One key with its new value; the docstring of the module has examples.

    Raises
    ------
    ArgumentError
        If there is not one key, the key is unknown, or its value is unsuitable.
    """
    if len(change) != 1:
        raise ArgumentError(
            f"play: beside: expected one thing to change, such as {EXAMPLE}, got {len(change)}: "
            f"{', '.join(map(str, change)) or 'none'}."
        )
    ((key, value),) = change.items()
    key = LEARNING_RATE if key == NEW_NAME else key
    state = pickle_model(model)
    settings = {
        f"{own['name']}.{name}": own
        for own in _configs_in(state["config"])
        for name in own
        if name.endswith(SETTINGS)
    }
    if key not in (LEARNING_RATE, LABEL, *settings):
        known = [LEARNING_RATE, LABEL, *settings]
        raise ArgumentError(
            f"play: beside: expected the name of something to change, got {key!r}. "
            f"{did_you_mean(str(key), known)}Known: {', '.join(known)}."
        )
    before: Any = None
    if key == LABEL:
        before, y = y, _label_like(y, value)
    elif key in settings:
        name = key.rpartition(".")[2]
        before, settings[key][name] = settings[key][name], value
    state["weights"] = None  # a weight with another initializer gets new numbers
    copy = _made(state)
    for own, theirs in zip(_state_variables(model), _state_variables(copy), strict=True):
        if not (key.endswith(INITIALIZER) and _is_initialized_by(copy, theirs, key)):
            theirs.set_value(own.get_value())
    if key == LEARNING_RATE:
        before = float(np.asarray(model.optimizer.lr.get_value()))
        copy.optimizer.lr = _rate(value)
    _share_seeds(model, copy)
    return SecondRun(copy, y, (_title(key, before, True), _title(key, value, False)))


def _configs_in(config: Any) -> Iterator[dict[str, Any]]:
    """Yield the configuration of each layer inside a configuration, including nested layers."""
    parts = config.values() if isinstance(config, dict) else config
    if isinstance(config, dict) and "class_name" in config and "name" in config.get("config", ()):
        yield config["config"]
    if isinstance(config, (dict, list)):
        for part in parts:
            yield from _configs_in(part)


def _made(state: dict[str, Any]) -> Any:
    """Return the model of a state. New weights do not depend on NumPy's global random numbers."""
    drawn = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    try:
        return unpickle_model(state)
    finally:
        np.random.set_state(drawn)  # noqa: NPY002


def _state_variables(model: Any) -> list[Any]:
    """Return the weights of a model, and the other variables that its training step updates."""
    if model.train_function is None:
        model._make_train_function()
    updated = [update.variable for update in model.train_function.updates]
    return list(dict.fromkeys([*model.weights, *updated]))


def _is_initialized_by(model: Any, variable: Any, key: str) -> bool:
    """Return whether a variable is the weight of the initializer with the key, such as a kernel."""
    name, _, setting = key.rpartition(".")
    tail = variable.name.partition(":")[0].rpartition("/")[2]
    layers = [layer for layer in layers_within(model) if layer.name == name]
    is_own = any(variable in layer.weights for layer in layers)
    return is_own and tail == setting.removesuffix(INITIALIZER)


def _share_seeds(model: Any, copy: Any) -> None:
    """Let the random ops of a copy, such as those of a Dropout, draw the numbers of the model."""
    seeds = {apply.name: apply.op.seed for apply in _random_ops(model)}
    for apply in _random_ops(copy):
        if apply.name in seeds:
            apply.op = replace(apply.op, seed=seeds[apply.name])


def _random_ops(model: Any) -> list[Any]:
    applies = applies_in_order([model.total_loss])
    return [apply for apply in applies if isinstance(apply.op, RandomOp)]


def _rate(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise ArgumentError(
            f"play: beside: lr: expected a number such as 0.1, got {value!r:.60}. Write {EXAMPLE}."
        )
    return float(value)


def _label_like(y: Any, value: Any) -> np.ndarray:
    """Return new targets of the shape of `y`. A class number becomes one-hot where `y` is so."""
    old, new = np.asarray(y), np.asarray(value)
    if not new.ndim and new.dtype.kind in "iu" and _is_one_hot(old):
        last = old.shape[-1] - 1
        if not 0 <= new <= last:
            raise DataError(f"play: beside: label: expected a class from 0 to {last}, got {new}.")
        new = np.eye(last + 1, dtype=old.dtype)[new]
    try:
        return np.array(np.broadcast_to(new, old.shape))
    except ValueError:
        raise DataError(
            f"play: beside: label: expected targets of the shape {old.shape}, got {new.shape}."
        ) from None


def _is_one_hot(y: np.ndarray) -> bool:
    """Return whether the rows of an array are one-hot, or contain the probabilities of classes."""
    return (
        y.ndim > 1 and y.shape[-1] > 1 and all(map(are_probabilities, y.reshape(-1, y.shape[-1])))
    )


def _title(key: str, value: Any, is_first: bool) -> Text | str:
    """Return the title of one of the two runs, such as "lr = 0.1"."""
    if isinstance(value, dict) and "class_name" in value:
        value = value["class_name"]
    value = value.function if isinstance(value, Carried) else value
    value = getattr(value, "__name__", value)
    if isinstance(value, float):
        value = figure(value)
    if isinstance(value, (str, int)):
        return f"{key} = {value}"
    en, zh = ("as given", "原来的") if is_first else ("changed", "换过的")
    return {"en": f"{key}: {en}", "zh": f"{key}：{zh}"}


# --- where the two runs first differ --------------------------------------------------------------


def first_difference(
    sides: Sequence[Sequence[Event]], moments: Sequence[Sequence[int]]
) -> int | None:
    """Return the first moment at which two runs have different results; None if there is none.

    The begins of events are not compared: the result of an event is at its end. So given values,
    such as the batch, do not count before something is computed from them.

    Parameters
    ----------
    sides : two sequences of Event
        The events of the two runs that a page shows.
    moments : sequence of (int, int)
        The steps that the two sides show at each moment; see `player.moments_of`.
    """
    before = [-1, -1]
    for moment, steps in enumerate(moments):
        new = [
            [events[step]] if step != last and events[step].ph != BEGIN else []
            for events, step, last in zip(sides, steps, before, strict=True)
        ]
        if difference(*new):
            return moment
        before = list(steps)
    return None
