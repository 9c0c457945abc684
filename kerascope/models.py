"""Models where Keras keeps them: `from kerascope.models import Model, Sequential`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kerascope.engine.cloning import clone_model
from kerascope.engine.model import Model
from kerascope.engine.network import Network
from kerascope.engine.sequential import Sequential
from kerascope.not_yet import answer_missing_names

if TYPE_CHECKING:  # at run time they come when they are first used
    from kerascope.saving import (
        load_model,
        model_from_config,
        model_from_json,
        model_from_yaml,
        save_model,
    )

__all__ = [
    "Container",
    "Functional",
    "Model",
    "Network",
    "Sequential",
    "clone_model",
    "load_model",
    "model_from_config",
    "model_from_json",
    "model_from_yaml",
    "save_model",
]


Functional = Model  # tf.keras's and Keras 3's name
Container = Network  # Keras 1's


_OF_FILES = ("load_model", "model_from_config", "model_from_json", "model_from_yaml", "save_model")

answer_missing_names(__name__, later=dict.fromkeys(_OF_FILES, "kerascope.saving"))
