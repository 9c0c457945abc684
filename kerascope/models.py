"""Models where Keras keeps them: `from kerascope.models import Model, Sequential`."""

from __future__ import annotations

import json
from typing import Any

from kerascope.engine.layer_type import layer_registry
from kerascope.engine.model import Model
from kerascope.engine.network import Network
from kerascope.engine.saving import load_model, save_model
from kerascope.engine.sequential import Sequential
from kerascope.errors import ConfigError
from kerascope.not_yet import answer_missing_names

__all__ = [
    "Container",
    "Functional",
    "Model",
    "Network",
    "Sequential",
    "load_model",
    "model_from_config",
    "model_from_json",
    "save_model",
]

Functional = Model  # tf.keras's and Keras 3's name
Container = Network  # Keras 1's


def model_from_config(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """Make a model from `{"class_name": ..., "config": model.get_config()}`; its weights are fresh.

    Raises
    ------
    ConfigError
        It is no such dict.
    UnknownNameError
        It names a layer class that is not known; pass it in `custom_objects`.
    """
    if not isinstance(config, dict) or "class_name" not in config:
        raise ConfigError(
            f"model_from_config: expected a dict with 'class_name' and 'config', got "
            f"{type(config).__name__}. "
            f"model.to_json() and model_from_json keep both."
        )
    return layer_registry.deserialize(config, custom_objects)


def model_from_json(json_string: str, custom_objects: dict[str, Any] | None = None) -> Any:
    """Make a model from what `model.to_json()` returned; its weights are fresh.

    Raises
    ------
    ConfigError
        The text is no JSON, or no model.
    """
    try:
        config = json.loads(json_string)
    except json.JSONDecodeError as error:
        raise ConfigError(f"model_from_json: the text is no JSON ({error}).") from None
    return model_from_config(config, custom_objects)


answer_missing_names(__name__)
