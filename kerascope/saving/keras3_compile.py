"""Convert the arguments of `compile` to Keras 3's format and back: optimizer, losses, metrics.

The first part converts optimizers and their state, the second all arguments of `compile`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from kerascope import losses, metrics, optimizers
from kerascope.backend.state import batch_set_value
from kerascope.backend.variables import Variable
from kerascope.configurable import configured_names, plain
from kerascope.errors import ConfigError, KerascopeError, NotYetError
from kerascope.optimizers.base import SavedState
from kerascope.saving import keras3_table as table
from kerascope.saving.keras3_weights import Orders, folder_name, trained_in_order
from kerascope.spellings import DIALECTS, override_dialect
from kerascope.user_frames import warn

# --- optimizers -----------------------------------------------------------------------------------
# In Keras 3, the state starts with the count of steps and the learning rate. The slots follow in
# Keras 3's order (`keras3_table.SLOTS`). A rate with `decay` is a schedule in Keras 3, and then not
# part of the state.
#
# Keras 3 does not have flavours (`optimizers.base`). If epsilon is added outside the root, as in
# Keras 2, the file says so next to the configuration. Only kerascope reads this. Keras 3 ignores
# it, and continues training with epsilon under the root.


Config = dict[str, Any]
_CLIPS = ("clipnorm", "clipvalue", "global_clipnorm")
_FLAVOUR = "kerascope_flavour"
_SCHEDULES = "keras.optimizers.schedules"
WITHOUT_IT = "Load the model with compile=False to predict or draw."
STATE_DOES_NOT_FIT = "{}: the saved state of the optimizer does not fit, so the optimizer is reset."


# --- configuration --------------------------------------------------------------------------------


def optimizer_to_keras_3(optimizer: Any) -> Config:
    """Return the configuration of an optimizer in Keras 3's format.

    Raises
    ------
    ConfigError
        The optimizer has no configuration.
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
            f"save: Nadam of Keras 3 always uses schedule_decay=1.0, so training with the file "
            f"continues with 1.0 instead of {schedule_decay}."
        )
    if is_of_keras_2 and "clipnorm" in ours:
        ours["global_clipnorm"] = ours.pop("clipnorm")
    config: Config = {
        table.OPTIMIZER_ARGUMENTS.get(name, name): value for name, value in ours.items()
    }
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
    """Return an optimizer from its configuration in Keras 3's format.

    Raises
    ------
    ConfigError
        The configuration has an option that is not supported.
    UnknownNameError
        The optimizer is unknown.
    """
    flavour = "3" if isinstance(entry, str) else entry.get(_FLAVOUR, "3")
    defaults = DIALECTS["2.2" if flavour == "2" else "3"].defaults
    with override_dialect(defaults=defaults, optimizer_flavour=flavour):
        return optimizers.get(entry) if isinstance(entry, str) else _from_entry(entry)


def _from_entry(entry: Config) -> Any:
    class_name = entry["class_name"]
    cls = type(optimizers.deserialize({"class_name": class_name, "config": {}}))
    known = {*configured_names(cls), *_CLIPS, "weight_decay"}
    names = {new: old for old, new in table.OPTIMIZER_ARGUMENTS.items()}
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
    neutral = table.ONLY_THEIR_OPTIMIZERS.get(key, ())
    if value is None or value is False or table.ANYTHING in neutral or value in neutral:
        return
    raise ConfigError(
        f"optimizer {class_name}: {key}={value!r} has no counterpart here. {WITHOUT_IT}"
    )


# --- state ----------------------------------------------------------------------------------------


def state_to_keras_3(model: Any, orders: Orders | None = None) -> list[np.ndarray]:
    """Return the state of a model's optimizer in Keras 3's order.

    Returns
    -------
    list of np.ndarray
        An empty list if the optimizer has no state yet, or if Keras 3's optimizer has other slots.
    """
    optimizer = model.optimizer
    has_begun = len(optimizer.weights) > 0 and model.train_function is not None  # in this order
    places = _places(model, orders)
    if not has_begun or places is None:
        return []
    state = [np.asarray(optimizer.iterations.get_value(), dtype="int32")]
    if not _has_schedule(optimizer):
        state.append(np.asarray(optimizer.lr.get_value(), dtype="float32"))
    return [*state, *(w.get_value() for w in places)]


def state_from_keras_3(
    model: Any, arrays: list[np.ndarray], where: str, orders: Orders | None = None
) -> None:
    """Restore the optimizer's state that Keras 3 wrote, and warn if the state does not fit.

    The slots are checked and set later, when the train function is built.

    Parameters
    ----------
    model : Model
        A compiled model.
    arrays : list of np.ndarray
        The arrays of the state in the order of the file.
    where : str
        The name of the file in messages.
    orders : dict, optional
        As for `keras3_weights.folders`.
    """
    optimizer = model.optimizer
    heads = [optimizer.iterations] if _has_schedule(optimizer) else optimizer.variables[:2]
    begun, saved = arrays[: len(heads)], arrays[len(heads) :]

    def set_slots() -> bool:
        places = _places(model, orders) if saved else []  # there are no slots, or no state yet
        if places is None or [a.shape for a in saved] != [w.shape for w in places]:
            return False
        batch_set_value(zip(places, saved, strict=True))
        return True

    if [a.shape for a in begun] == [()] * len(heads):
        restore_when_trained(model, where, zip(heads, begun, strict=True), set_slots)
    else:
        warn(STATE_DOES_NOT_FIT.format(where))


def restore_when_trained(
    model: Any, where: str, begun: Iterable[Any], set_slots: Callable[[], bool]
) -> None:
    """Restore the state of a model's optimizer from a file, as soon as the optimizer has slots.

    Parameters
    ----------
    model : Model
        A compiled model.
    where : str
        The name of the file in messages.
    begun : iterable of (Variable, np.ndarray)
        The values that are set at once: the count of steps, and the learning rate.
    set_slots : callable
        Sets the slots if the arrays in the file fit, and returns whether they do.
    """
    optimizer, loss, begun = model.optimizer, model.total_loss, list(begun)
    before = [(variable, variable.get_value()) for variable, _ in begun]

    def make_slots() -> None:
        try:
            if model.total_loss is loss:
                model._make_train_function()
        except NotYetError as error:
            warn(f"{where}: the saved state of the optimizer is lost: {error}")
        finally:
            optimizer._saved_state = None

    def restore() -> None:
        if model.total_loss is loss and not set_slots():  # otherwise the model was compiled again
            warn(STATE_DOES_NOT_FIT.format(where))
            batch_set_value(before)

    batch_set_value(begun)
    optimizer._saved_state = SavedState(make_slots, restore)


def _has_schedule(optimizer: Any) -> bool:
    has_own = getattr(optimizer, "schedule", None) is not None
    return has_own or bool(getattr(optimizer, "initial_decay", 0.0))


def _places(model: Any, orders: Orders | None) -> list[Variable] | None:
    """Return an optimizer's slots in Keras 3's order; None if they differ from those in Keras 3."""
    optimizer = model.optimizer
    groups = table.SLOTS.get(type(optimizer).__name__)
    if groups is None:
        return None
    if isinstance(optimizer, optimizers.SGD) and not float(optimizer.momentum.get_value()):
        return []
    mine = model._collected_trainable_weights
    theirs = [w for w in trained_in_order(model, orders) if w in set(mine)]
    if set(theirs) != set(mine):
        return None
    return list(_in_their_order(_slots_by_word(optimizer, mine), groups, theirs))


def _slots_by_word(optimizer: Any, params: list[Variable]) -> dict[str, dict[Any, Variable]]:
    """Return an optimizer's slots: for each name, such as "m", a dict from weight to slot.

    A slot that all weights share has the key None instead of a weight.
    """
    by_word: dict[str, list[Variable]] = {}
    for slot in optimizer.weights[1:]:
        by_word.setdefault(slot.name.rpartition("/")[2], []).append(slot)
    found: dict[str, dict[Any, Variable]] = {}
    for word, slots in by_word.items():
        owners = [p for p in params if optimizer.has_slot(word, p)]
        is_for_all = len(slots) == 1 != len(owners)
        found[word] = dict(zip([None] if is_for_all else owners, slots, strict=True))
    return found


def _in_their_order(
    by_word: dict[str, dict[Any, Variable]],
    groups: tuple[tuple[str, ...], ...],
    params: list[Variable],
) -> Iterator[Variable]:
    for words in groups:
        kinds = [by_word[word] for word in words if word in by_word]
        for p in (None, *params):
            yield from (kind[p] for kind in kinds if p in kind)


# --- to Keras 3 -----------------------------------------------------------------------------------


def compile_to_keras_3(model: Any) -> Config:
    """Return the arguments of `compile` in Keras 3's format.

    Raises
    ------
    ConfigError
        A loss or metric has no name.
    """
    return {
        "optimizer": optimizer_to_keras_3(model.optimizer),
        "loss": each_of(model.loss, _loss_to_keras_3),
        "loss_weights": plain(model.loss_weights),
        "metrics": _per_output(model, each_of(model.metrics, _metric_to_keras_3)),
        "weighted_metrics": _per_output(model, each_of(model.weighted_metrics, _metric_to_keras_3)),
        "run_eagerly": False,
        "steps_per_execution": 1,
    }


def _per_output(model: Any, given: Any) -> Any:
    """Return metrics in the form of Keras 3, which requires a separate list for each output."""
    is_flat = isinstance(given, list) and not any(isinstance(one, list) for one in given)
    if is_flat and given and len(model.outputs) > 1:
        return [list(given) for _ in model.outputs]
    return given


def each_of(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return nested lists and dicts in which `change` was applied to each loss or metric."""
    if isinstance(value, dict) and "class_name" not in value:
        return {key: each_of(one, change) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [each_of(one, change) for one in value]
    return None if value is None else change(value)


def _loss_to_keras_3(value: Any) -> Any:
    found = losses.get(value)
    saved = losses.serialize(found)
    if isinstance(saved, dict):
        return {"module": "keras.losses", **saved, "registered_name": None}
    return table.LOSSES.get(saved, saved) if _is_ours(found) else _own_function(found, saved)


def _metric_to_keras_3(value: Any) -> Any:
    if isinstance(value, str) and value in _words_of_metrics():
        return value
    found = metrics.get(value)
    saved = metrics.serialize(found)
    if isinstance(saved, dict):
        return {"module": "keras.metrics", **saved, "registered_name": None}
    if not _is_ours(found):
        return _own_function(found, saved)
    return (
        saved if saved in _words_of_metrics() else _mean_of(saved, table.LOSSES.get(saved, saved))
    )


def _mean_of(ours: str, theirs: str) -> Config:
    """Return Keras 3's configuration of a metric named `ours`: the mean of the loss `theirs`."""
    function = {
        "module": "builtins",
        "class_name": "function",
        "config": theirs,
        "registered_name": theirs,
    }
    return {
        "module": "keras.metrics",
        "class_name": "MeanMetricWrapper",
        "config": {"name": ours, "dtype": "float32", "fn": function},
        "registered_name": None,
    }


def _words_of_metrics() -> set[str]:
    """Return the names of metrics that have the same meaning in Keras 3 and in kerascope."""
    classes = (name for name, item in metrics._registry.items() if inspect.isclass(item))
    return {*table.METRIC_WORDS, *map(folder_name, classes)}


def _is_ours(found: Any) -> bool:
    return getattr(found, "__module__", "").startswith("kerascope.")


def _own_function(found: Any, saved: str) -> Config:
    return {
        "module": getattr(found, "__module__", None),
        "class_name": "function",
        "config": saved,
        "registered_name": saved,
    }


# --- from Keras 3 ---------------------------------------------------------------------------------


def compile_from_keras_3(model: Any, config: Config, where: str) -> None:
    """Compile a model with the arguments in a file of Keras 3.

    Unknown metrics are omitted with a warning, because training does not depend on them.

    Raises
    ------
    ConfigError
        The optimizer or a loss is not supported.
    """
    if "optimizer" not in config and "optimizer_config" in config:
        config = {**config, "optimizer": config["optimizer_config"]}  # in .h5 files
    try:
        optimizer = optimizer_from_keras_3(config["optimizer"])
        loss = _from_keras_3(config.get("loss"), losses)
    except KerascopeError as error:
        words = str(error) if WITHOUT_IT in str(error) else f"{error} {WITHOUT_IT}"
        raise ConfigError(f"{where}: {words}") from None
    with override_dialect(metrics_keep_words=True):
        model.compile(
            optimizer=optimizer,
            loss=loss,
            metrics=_metrics(config.get("metrics"), where),
            loss_weights=config.get("loss_weights"),
            weighted_metrics=_metrics(config.get("weighted_metrics"), where),
        )


def _from_keras_3(value: Any, home: Any) -> Any:
    """Convert losses or metrics of Keras 3, single or in lists and dicts, to kerascope's."""
    if value is None:
        return None
    if isinstance(value, list):
        return [_from_keras_3(one, home) for one in value]
    if not isinstance(value, dict):
        if value not in ("acc", "accuracy", "ce", "crossentropy"):
            home.get(value)  # raises for an unknown name
        return value
    if "class_name" not in value:
        return {key: _from_keras_3(one, home) for key, one in value.items()}
    kind, arguments = value["class_name"], value.get("config") or {}
    if kind == "function":
        return _from_keras_3(arguments, home)
    if kind == "__tuple__":
        return _from_keras_3(value.get("items", []), home)
    if kind == "MeanMetricWrapper":
        return _function_of_mean(arguments)
    kept = {key: _plain(item) for key, item in arguments.items() if key != "dtype"}
    return home.deserialize({"class_name": kind, "config": kept})


def _function_of_mean(arguments: Config) -> Any:
    """Return kerascope's name of the function in a `MeanMetricWrapper`; raise if it is unknown."""
    name = _plain(arguments.get("fn"))
    ours = {new: old for old, new in table.LOSSES.items() if new not in table.METRIC_WORDS}.get(
        name, name
    )
    metrics.get(ours)  # raises for an unknown name
    return ours


def _plain(value: Any) -> Any:
    """Return an argument of a loss or metric, with a function replaced by its name."""
    if isinstance(value, dict) and value.get("class_name") == "function":
        return value["config"]
    return value


def _metrics(value: Any, where: str) -> Any:
    known = _known_metrics(value, where)
    return None if known is _UNKNOWN else known


def _known_metrics(value: Any, where: str) -> Any:
    if isinstance(value, list):
        found = [_known_metrics(one, where) for one in value]
        return [one for one in found if one is not _UNKNOWN]
    if isinstance(value, dict) and "class_name" not in value:
        found_by_name = {key: _known_metrics(one, where) for key, one in value.items()}
        return {key: one for key, one in found_by_name.items() if one is not _UNKNOWN}
    try:
        return _from_keras_3(value, metrics)
    except KerascopeError as error:
        warn(f"{where}: a metric is omitted: {error}")
        return _UNKNOWN


_UNKNOWN = object()
