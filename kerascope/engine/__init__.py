"""The engine: layers, the graph that their calls make, and the models that run and train it.

Read in this order: `node`, `base_layer`, `calling`, `input_layer`, `graph_map`, `network`,
`compiling`, `training_loop`, `model`. The names exported here are those of `keras.engine`.
"""

from kerascope.engine.base_layer import Layer
from kerascope.engine.input_layer import Input, InputLayer
from kerascope.engine.input_spec import InputSpec
from kerascope.engine.model import Model
from kerascope.engine.network import Network
from kerascope.engine.node import Node
from kerascope.engine.sequential import Sequential
from kerascope.missing_names import answer_missing_names

Container = Network  # Keras 1's name

__all__ = [
    "Container",
    "Input",
    "InputLayer",
    "InputSpec",
    "Layer",
    "Model",
    "Network",
    "Node",
    "Sequential",
]

answer_missing_names(__name__)
