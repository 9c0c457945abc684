"""Live models of Keras 3: converted, or recorded while they run.

| what | where |
|---|---|
| `from_keras`, `to_keras`, `converted` | `converting` |
| `record`, and which calls of it are seen | `recording`, `watching` |
| `tracing`: what is recorded of training | `training`, `gradients` |
| `watching`: the same of every model of a script | `every_model` |
| the arrays of Keras's backends | `arrays` |
| Keras itself, and where its layers keep what | `library` |
"""

from typing import Any

from kerascope.foreign.keras_models.converting import (
    as_configured,
    converted,
    from_keras,
    to_keras,
)
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
    """Return the graph of a live model of Keras.

    Parameters
    ----------
    model : keras.Layer
    *inputs, **keywords : object
        What it is called on. A Functional or Sequential model needs none: its configuration is
        read, and boxes stand in for layers that kerascope does not have.

    Raises
    ------
    ArgumentError
        There are no inputs, and the model computes what its code says.
    """
    if not inputs and not keywords and (configured := as_configured(model)) is not None:
        return graph_of_model(configured)
    writer = TapeWriter("none")
    record(model, *inputs, writer=writer, **keywords)
    return writer.graph(model.name)
