"""Optimizers of Keras 3: their configuration and their state, to and from ours.

Keras 3's state begins with the count of steps and the learning rate; then come the slots, in an
order of their own (`keras3_table.SLOTS`). A rate that falls as `decay` says is a schedule there,
and then no part of the state.

Of a flavour (`optimizers.base`) Keras 3 knows nothing: where epsilon is added outside the root, as
in Keras 2, the file says so beside the configuration. We read that; Keras 3 passes over it, and
trains on with epsilon under the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kerascope import optimizers
from kerascope.backend.graph import Variable
from kerascope.backend.state import batch_set_value
from kerascope.callers import warn
from kerascope.configured import constructor_parameters
from kerascope.errors import ConfigError
from kerascope.saving.keras3_table import (
    ANYTHING,
    ONLY_THEIR_OPTIMIZERS,
    OPTIMIZER_ARGUMENTS,
    SLOTS,
)
from kerascope.saving.keras3_weights import Orders, trained_in_order
from kerascope.spellings import HABITS, changed_habits

Config = dict[str, Any]
_CLIPS = ("clipnorm", "clipvalue", "global_clipnorm")
_FLAVOUR = "kerascope_flavour"
_SCHEDULES = "keras.optimizers.schedules"
WITHOUT_IT = "Load the model with compile=False to predict or draw."


# --- configuration --------------------------------------------------------------------------------


def optimizer_to_keras_3(optimizer: Any) -> Config:
    """Return the configuration of an optimizer in Keras 3's form.

    Raises
    ------
    ConfigError
        It has no configuration.
    """
    saved = optimizers.serialize(optimizer)
    class_name: str = saved["class_name"]
    ours: Config = dict(saved["config"])
    is_own = not type(optimizer).__module__.startswith("kerascope.")
    is_of_keras_2 = ours.pop("flavour", getattr(optimizer, "flavour", None)) == "2"
    flavour = {_FLAVOUR: "2"} if is_of_keras_2 else {}
    if is_own:
        return {**_entry(None, class_name, ours), **flavour}
    decay = ours.pop("decay", 0.0)
    schedule_decay = ours.pop("schedule_decay", 1.0)
    if schedule_decay != 1.0:
        warn(
            f"save: Keras 3's Nadam has no schedule_decay, but computes as with 1.0; the file says "
            f"so, and training goes on with 1.0 instead of {schedule_decay}."
        )
    if is_of_keras_2 and "clipnorm" in ours:
        ours["global_clipnorm"] = ours.pop("clipnorm")
    config: Config = {OPTIMIZER_ARGUMENTS.get(name, name): value for name, value in ours.items()}
    if class_name == "Adagrad":
        config.setdefault("initial_accumulator_value", 0.0)
    rate_now = config["learning_rate"]
    if isinstance(rate_now, dict):
        config["learning_rate"] = _entry(_SCHEDULES, rate_now["class_name"], rate_now["config"])
    elif decay:
        rate = {"initial_learning_rate": rate_now, "decay_steps": 1}
        schedule = {**rate, "decay_rate": decay, "staircase": False, "name": "InverseTimeDecay"}
        config["learning_rate"] = _entry(_SCHEDULES, "InverseTimeDecay", schedule)
    entry = _entry("keras.optimizers", class_name, {"name": class_name.lower(), **config})
    return {**entry, **flavour}


def _entry(module: str | None, class_name: str, config: Config) -> Config:
    registered = class_name if module is None else None
    return {
        "module": module,
        "class_name": class_name,
        "config": config,
        "registered_name": registered,
    }


def optimizer_from_keras_3(entry: Any) -> Any:
    """Return an optimizer from its configuration in Keras 3's form.

    Raises
    ------
    ConfigError
        It has an option without counterpart here.
    UnknownNameError
        There is no such optimizer.
    """
    flavour = "3" if isinstance(entry, str) else entry.get(_FLAVOUR, "3")
    defaults = HABITS["2.2" if flavour == "2" else "3"].defaults
    with changed_habits(defaults=defaults, optimizer_flavour=flavour):
        return optimizers.get(entry) if isinstance(entry, str) else _from_entry(entry)


def _from_entry(entry: Config) -> Any:
    class_name = entry["class_name"]
    cls = type(optimizers.deserialize({"class_name": class_name, "config": {}}))
    known = {*constructor_parameters(cls), *_CLIPS, "weight_decay"}
    names = {new: old for old, new in OPTIMIZER_ARGUMENTS.items()}
    config: Config = {}
    for key, value in dict(entry.get("config") or {}).items():
        name = names.get(key, key)
        if name not in known:
            _check_off(class_name, key, value)
        else:
            config[name] = value
    if isinstance(config.get("lr"), dict):
        schedule = config["lr"]
        config["lr"] = {"class_name": schedule["class_name"], "config": schedule["config"]}
    if class_name == "Nadam" and cls is optimizers.Nadam:
        config["schedule_decay"] = 1.0
    given = {name: value for name, value in config.items() if value is not None}
    return optimizers.deserialize({"class_name": class_name, "config": given})


def _check_off(class_name: str, key: str, value: Any) -> None:
    neutral = ONLY_THEIR_OPTIMIZERS.get(key, ())
    if value is None or value is False or ANYTHING in neutral or value in neutral:
        return
    raise ConfigError(
        f"optimizer {class_name}: {key}={value!r} has no counterpart here; expected it to be off. "
        f"{WITHOUT_IT}"
    )


# --- state ----------------------------------------------------------------------------------------


def state_to_keras_3(model: Any, orders: Orders | None = None) -> list[np.ndarray]:
    """Return the state of a model's optimizer as Keras 3 orders it.

    Returns
    -------
    list of np.ndarray
        Empty if the optimizer has not begun, or Keras 3 has no such state.
    """
    optimizer = model.optimizer
    places = _places(model, orders)
    if model.train_function is None or places is None:
        return []
    state = [np.asarray(optimizer.iterations.get_value(), dtype="int32")]
    if not _has_schedule(optimizer):
        state.append(np.asarray(optimizer.lr.get_value(), dtype="float32"))
    return [*state, *(w.get_value() for w in places)]


def state_from_keras_3(
    model: Any, arrays: list[np.ndarray], where: str, orders: Orders | None = None
) -> None:
    """Give a model's optimizer the state that Keras 3 wrote; warn if it does not fit.

    Parameters
    ----------
    model : Model
        Compiled, with its train function made.
    arrays : list of np.ndarray
        As they stand in the file.
    where : str
    orders : dict, optional
        As for `keras3_weights.folders`.
    """
    optimizer = model.optimizer
    places = _places(model, orders)
    first = 1 if _has_schedule(optimizer) else 2
    shapes = [a.shape for a in arrays[first:]]
    if not shapes:
        places = []  # it had not begun, or needs no slots
    has_counts = [a.shape for a in arrays[:first]] == [()] * first
    if places is None or not has_counts or shapes != [w.shape for w in places]:
        warn(f"{where}: the optimizer begins afresh; its saved state does not fit.")
        return
    pairs = [(optimizer.iterations, arrays[0]), *zip(places, arrays[first:], strict=True)]
    if first == 2:
        pairs.append((optimizer.lr, arrays[1]))
    batch_set_value(pairs)


def _has_schedule(optimizer: Any) -> bool:
    has_own = getattr(optimizer, "schedule", None) is not None
    return has_own or bool(getattr(optimizer, "initial_decay", 0.0))


def _places(model: Any, orders: Orders | None) -> list[Variable] | None:
    """Return the slots in Keras 3's order, or None if they do not correspond."""
    optimizer = model.optimizer
    groups = SLOTS.get(type(optimizer).__name__)
    if groups is None:
        return None
    if isinstance(optimizer, optimizers.SGD) and not float(optimizer.momentum.get_value()):
        return []
    mine = model._collected_trainable_weights
    theirs = [w for w in trained_in_order(model, orders) if w in set(mine)]
    if set(theirs) != set(mine):
        return None
    return list(_in_their_order(_slots_by_word(optimizer), groups, [mine.index(w) for w in theirs]))


def _slots_by_word(optimizer: Any) -> dict[str, list[Variable]]:
    """Return the slots of each kind, in the order of the parameters."""
    by_word: dict[str, list[Variable]] = {}
    for slot in optimizer.weights[1:]:
        by_word.setdefault(slot.name.rpartition("/")[2], []).append(slot)
    return by_word


def _in_their_order(
    by_word: dict[str, list[Variable]], groups: tuple[tuple[str, ...], ...], order: list[int]
) -> Iterator[Variable]:
    for words in groups:
        slots = [by_word[word] for word in words if word in by_word]
        if len(slots) == 1 and len(slots[0]) == 1 != len(order):
            yield slots[0][0]  # one for the whole optimizer
            continue
        for index in order:
            yield from (kind[index] for kind in slots)
