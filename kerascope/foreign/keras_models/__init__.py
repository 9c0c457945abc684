"""Converts live models of Keras 3 to kerascope, or records them while they run.

| what | where |
|---|---|
| `from_keras`, `to_keras`, `converted` | `converting` |
| `record`, and which calls are observed | `recording`, `watching` |
| `tracing`: the training of a model is recorded | `training`, `gradients` |
| `watching`: the training of every model of a script is recorded | `every_model` |
| the arrays of Keras's backends | `arrays` |
| Keras itself, and the paths of layers in its files | `library` |
"""

from typing import Any

from kerascope.foreign.keras_models.converting import as_configured, converted, from_keras, to_keras
from kerascope.foreign.keras_models.every_model import watching
from kerascope.foreign.keras_models.library import LIBRARY
from kerascope.foreign.keras_models.recording import record
from kerascope.foreign.keras_models.training import tracing
from kerascope.foreign.writer import TapeWriter
from kerascope.viz.extract.subjects import graph_of as graph_of_model
from kerascope.viz.graph import Graph

__all__ = [
    "LIBRARY", "as_configured", "converted", "from_keras", "graph_of", "record", "to_keras",
    "tracing", "watching",
]  # fmt: skip


def graph_of(model: Any, *inputs: Any, **keywords: Any) -> Graph:
    """Return the graph of a live Keras model.

    Parameters
    ----------
    model : keras.Layer
    *inputs, **keywords : object
        The inputs. A Functional or Sequential model needs none: its graph is made from its
        configuration, with plain boxes for layers that kerascope does not have.

    Raises
    ------
    ArgumentError
        If inputs are missing, but the model is defined by the code of its `call`.
    """
    if not inputs and not keywords and (configured := as_configured(model)) is not None:
        return graph_of_model(configured)
    writer = TapeWriter("none")
    record(model, *inputs, writer=writer, **keywords)
    return writer.graph(model.name)
