"""Models where Keras keeps them: `from kerascope.models import Model, Sequential`."""

from __future__ import annotations

from kerascope.engine.cloning import clone_model
from kerascope.engine.model import Model
from kerascope.engine.network import Network
from kerascope.engine.sequential import Sequential
from kerascope.not_yet import answer_missing_names
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


answer_missing_names(__name__)
