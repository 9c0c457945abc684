"""The layers, under the names that Keras gives them: `from kerascope.layers import Input, Dense`.

Read `core.py` first, and in it `Dense`: every other layer is built like it.
"""

from kerascope.engine.base_layer import Layer
from kerascope.engine.input_layer import Input, InputLayer
from kerascope.engine.input_spec import InputSpec
from kerascope.engine.layer_type import layer_registry
from kerascope.layers import merge
from kerascope.layers.core import (
    Activation,
    ActivityRegularization,
    Dense,
    Dropout,
    Flatten,
    Lambda,
    Masking,
    Permute,
    RepeatVector,
    Reshape,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)
from kerascope.layers.embeddings import Embedding
from kerascope.layers.merge import (
    Add,
    Average,
    Concatenate,
    Dot,
    Maximum,
    Merge,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    concatenate,
    dot,
    maximum,
    minimum,
    multiply,
    subtract,
)
from kerascope.layers.normalization import BatchNormalization
from kerascope.not_yet import answer_missing_names

serialize = layer_registry.serialize
deserialize = layer_registry.deserialize

__all__ = [
    "Activation",
    "ActivityRegularization",
    "Add",
    "Average",
    "BatchNormalization",
    "Concatenate",
    "Dense",
    "Dot",
    "Dropout",
    "Embedding",
    "Flatten",
    "Input",
    "InputLayer",
    "InputSpec",
    "Lambda",
    "Layer",
    "Masking",
    "Maximum",
    "Merge",
    "Minimum",
    "Multiply",
    "Permute",
    "RepeatVector",
    "Reshape",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
    "Subtract",
    "add",
    "average",
    "concatenate",
    "deserialize",
    "dot",
    "maximum",
    "merge",
    "minimum",
    "multiply",
    "serialize",
    "subtract",
]

answer_missing_names(__name__)
