"""What `compile` was told, in Keras 3's form and back: optimizer, losses, metrics."""

from __future__ import annotations

from typing import Any

from kerascope import losses, metrics
from kerascope.callers import warn
from kerascope.configured import plain
from kerascope.errors import ConfigError, KerascopeError
from kerascope.saving.keras3_optimizers import (
    WITHOUT_IT,
    optimizer_from_keras_3,
    optimizer_to_keras_3,
)
from kerascope.saving.keras3_table import LOSSES

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
        "loss": _to_keras_3(model.loss, losses, "keras.losses"),
        "loss_weights": plain(model.loss_weights),
        "metrics": _per_output(model, _to_keras_3(model.metrics, metrics, "keras.metrics")),
        "weighted_metrics": _per_output(
            model, _to_keras_3(model.weighted_metrics, metrics, "keras.metrics")
        ),
        "run_eagerly": False,
        "steps_per_execution": 1,
    }


def _per_output(model: Any, given: Any) -> Any:
    """Return metrics as Keras 3 wants them: a flat list is for one output only."""
    is_flat = isinstance(given, list) and not any(isinstance(one, list) for one in given)
    if is_flat and given and len(model.outputs) > 1:
        return [list(given) for _ in model.outputs]
    return given


def _to_keras_3(value: Any, home: Any, module: str) -> Any:
    if value is None:
        return None
    if isinstance(value, dict) and "class_name" not in value:
        return {key: _to_keras_3(one, home, module) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_keras_3(one, home, module) for one in value]
    if isinstance(value, str) and value in ("acc", "accuracy", "ce", "crossentropy"):
        return LOSSES.get(value, value)
    found = home.get(value)
    saved = home.serialize(found)
    if isinstance(saved, dict):
        return {"module": module, **saved, "registered_name": None}
    is_ours = getattr(found, "__module__", "").startswith("kerascope.")
    if is_ours:
        return LOSSES.get(saved, saved)
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
    model.compile(
        optimizer=optimizer,
        loss=loss,
        metrics=_metrics(config.get("metrics"), where),
        loss_weights=config.get("loss_weights"),
        weighted_metrics=_metrics(config.get("weighted_metrics"), where),
    )


def _from_keras_3(value: Any, home: Any) -> Any:
    """Return losses or metrics, in lists and dicts too, as objects of ours."""
    if value is None:
        return None
    if isinstance(value, list):
        return [_from_keras_3(one, home) for one in value]
    if isinstance(value, dict):
        if "class_name" not in value:
            return {key: _from_keras_3(one, home) for key, one in value.items()}
        if value["class_name"] == "function":
            return _from_keras_3(value["config"], home)
        if value["class_name"] == "__tuple__":
            return _from_keras_3(value.get("items", []), home)
        arguments = value.get("config") or {}
        kept = {key: _plain(item) for key, item in arguments.items() if key != "dtype"}
        return home.deserialize({"class_name": value["class_name"], "config": kept})
    if value in ("acc", "accuracy", "ce", "crossentropy"):
        return value
    return home.get(value)


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
