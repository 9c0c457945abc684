"""What `compile` was told, in Keras 3's form and back: optimizer, losses, metrics."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from kerascope import losses, metrics
from kerascope.callers import warn
from kerascope.configured import plain
from kerascope.errors import ConfigError, KerascopeError
from kerascope.saving.keras3_names import folder_name
from kerascope.saving.keras3_optimizers import (
    WITHOUT_IT,
    optimizer_from_keras_3,
    optimizer_to_keras_3,
)
from kerascope.saving.keras3_table import LOSSES, METRIC_WORDS
from kerascope.spellings import changed_habits

Config = dict[str, Any]


# --- to Keras 3 -----------------------------------------------------------------------------------


def compile_to_keras_3(model: Any) -> Config:
    """Return what `compile` was told, in Keras 3's form.

    Raises
    ------
    ConfigError
        A loss or metric has no name.
    """
    return {
        "optimizer": optimizer_to_keras_3(model.optimizer),
        "loss": _each(model.loss, _loss_to_keras_3),
        "loss_weights": plain(model.loss_weights),
        "metrics": _per_output(model, _each(model.metrics, _metric_to_keras_3)),
        "weighted_metrics": _per_output(model, _each(model.weighted_metrics, _metric_to_keras_3)),
        "run_eagerly": False,
        "steps_per_execution": 1,
    }


def _per_output(model: Any, given: Any) -> Any:
    """Return metrics as Keras 3 wants them: a flat list is for one output only."""
    is_flat = isinstance(given, list) and not any(isinstance(one, list) for one in given)
    if is_flat and given and len(model.outputs) > 1:
        return [list(given) for _ in model.outputs]
    return given


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a loss or metric, or lists and dicts of them, with each changed."""
    if isinstance(value, dict) and "class_name" not in value:
        return {key: _each(one, change) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_each(one, change) for one in value]
    return None if value is None else change(value)


def _loss_to_keras_3(value: Any) -> Any:
    found = losses.get(value)
    saved = losses.serialize(found)
    if isinstance(saved, dict):
        return {"module": "keras.losses", **saved, "registered_name": None}
    return LOSSES.get(saved, saved) if _is_ours(found) else _own_function(found, saved)


def _metric_to_keras_3(value: Any) -> Any:
    if isinstance(value, str) and value in _words_of_metrics():
        return value
    found = metrics.get(value)
    saved = metrics.serialize(found)
    if isinstance(saved, dict):
        return {"module": "keras.metrics", **saved, "registered_name": None}
    if not _is_ours(found):
        return _own_function(found, saved)
    return saved if saved in _words_of_metrics() else _mean_of(saved, LOSSES.get(saved, saved))


def _mean_of(ours: str, theirs: str) -> Config:
    """Return a metric that Keras 3 has as a loss alone: the metric of that name may be another."""
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
    """Return the words for metrics that Keras 3 and we understand alike."""
    classes = (name for name, item in metrics._registry.items() if inspect.isclass(item))
    return {*METRIC_WORDS, *map(folder_name, classes)}


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
    """Compile a model as Keras 3 wrote it down.

    A metric that is not known here is left out with a warning: training does not depend on it.

    Raises
    ------
    ConfigError
        The optimizer or a loss has no counterpart here.
    """
    if "optimizer" not in config and "optimizer_config" in config:
        config = {**config, "optimizer": config["optimizer_config"]}  # in .h5 files
    try:
        optimizer = optimizer_from_keras_3(config["optimizer"])
        loss = _from_keras_3(config.get("loss"), losses)
    except KerascopeError as error:
        raise ConfigError(f"{where}: {str(error).replace(WITHOUT_IT, '')} {WITHOUT_IT}") from None
    with changed_habits(metrics_keep_words=True):
        model.compile(
            optimizer=optimizer,
            loss=loss,
            metrics=_metrics(config.get("metrics"), where),
            loss_weights=config.get("loss_weights"),
            weighted_metrics=_metrics(config.get("weighted_metrics"), where),
        )


def _from_keras_3(value: Any, home: Any) -> Any:
    """Return losses or metrics, in lists and dicts too, as objects of ours, or by their words."""
    if value is None:
        return None
    if isinstance(value, list):
        return [_from_keras_3(one, home) for one in value]
    if not isinstance(value, dict):
        if value not in ("acc", "accuracy", "ce", "crossentropy"):
            home.get(value)  # is it known?
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
    """Return the function whose mean a metric of Keras 3 is, or its name."""
    name = _plain(arguments.get("fn"))
    ours = {new: old for old, new in LOSSES.items() if new not in METRIC_WORDS}.get(name, name)
    metrics.get(ours)  # is it known?
    return ours


def _plain(value: Any) -> Any:
    """Return an argument of a loss or metric; a function inside by its name."""
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
        warn(f"{where}: a metric is left out ({error})")
        return _UNKNOWN


_UNKNOWN = object()
