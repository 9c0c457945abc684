"""Kinds of layers, which determine the colour and the symbol of a box (`theme.py`).

A layer has the kind of the first class in its method resolution order that is in the table, so a
subclass of Dense is drawn as a Dense.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kerascope.engine.base_layer import Layer
from kerascope.layers.ops.operation import Operation

_CLASSES_BY_KIND = {
    "input": "InputLayer",
    "dense": "Dense EinsumDense Highway MaxoutDense",
    "convolution": """
        Conv1D Conv2D Conv3D Conv2DTranspose Conv3DTranspose SeparableConv1D SeparableConv2D
        Conv1DTranspose DepthwiseConv1D DepthwiseConv2D LocallyConnected1D LocallyConnected2D
    """,
    "pooling": """
        MaxPooling1D MaxPooling2D MaxPooling3D AveragePooling1D AveragePooling2D
        AveragePooling3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D
        GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D
        AdaptiveMaxPooling1D AdaptiveMaxPooling2D AdaptiveMaxPooling3D
        AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D
    """,
    "recurrent": """
        RNN SimpleRNN GRU LSTM ConvLSTM2D CuDNNGRU CuDNNLSTM SimpleRNNCell GRUCell LSTMCell
        StackedRNNCells ConvRecurrent2D Recurrent
    """,
    "embedding": "Embedding",
    "merge": "Add Subtract Multiply Average Maximum Minimum Concatenate Dot Merge _Merge",
    "attention": "Attention AdditiveAttention MultiHeadAttention",
    "activation": "Activation ReLU LeakyReLU PReLU ELU ThresholdedReLU Softmax "
    "SReLU ParametricSoftplus",
    "function": "Lambda Operation Identity CategoryEncoding Discretization IntegerLookup "
    "StringLookup TextVectorization MelSpectrogram",
    "normalization": """
        BatchNormalization LayerNormalization GroupNormalization RMSNormalization
        UnitNormalization Normalization Rescaling AutoContrast
        ContrastLimitedAdaptiveHistogramEqualization
    """,
    "noise": """
        Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D GaussianNoise
        GaussianDropout AlphaDropout ActivityRegularization RandomBrightness RandomContrast
        RandomFlip RandomRotation RandomTranslation RandomZoom AugMix RandAugment
        RandomColorDegeneration RandomColorJitter RandomCrop RandomElasticTransform RandomErasing
        RandomGaussianBlur RandomGrayscale RandomHue RandomInvert RandomPerspective
        RandomPosterization RandomSaturation RandomSharpness RandomShear Solarization
    """,
    "shaping": """
        Flatten Reshape Permute RepeatVector Masking UpSampling1D UpSampling2D UpSampling3D
        ZeroPadding1D ZeroPadding2D ZeroPadding3D Cropping1D Cropping2D Cropping3D
        CenterCrop Resizing
    """,
    "wrapper": "Wrapper TimeDistributed Bidirectional Pipeline",
    "model": "Network",
    "layer": "Layer",
}


def kinds_by_name(table: Mapping[str, str]) -> dict[str, str]:
    """Invert a table: from the class names of each kind to the kind of each class name.

    Examples
    --------
    >>> kinds_by_name({"merge": "add mul", "dense": "dot"})
    {'add': 'merge', 'mul': 'merge', 'dot': 'dense'}
    """
    return {name: kind for kind, names in table.items() for name in names.split()}


KIND_OF_CLASS = kinds_by_name(_CLASSES_BY_KIND)
# "tensor" is a layer's input that is not a layer's output: a constant or a variable.
LAYER_KINDS = (*_CLASSES_BY_KIND, "tensor")
# Boxes that represent several others, and boxes of the levels below layers.
KINDS = (
    *LAYER_KINDS,
    *("block", "scope", "card", "op", "placeholder", "variable", "constant"),
    *("loss", "gradient", "sum", "slot", "update"),
)

# Operations on layers' outputs that merge if they have several inputs.
_MERGING_OPERATIONS = (
    *("Add", "Subtract", "Multiply", "Divide", "Maximum", "Minimum", "Average"),
    *("Concatenate", "Stack", "Matmul", "Dot"),
)


def kind_of(layer: Layer) -> str:
    """Return the kind of a layer, one of `LAYER_KINDS`; "layer" if its classes are not listed.

    Examples
    --------
    >>> class Mine(Layer): ...
    >>> kind_of(Mine())
    'layer'
    """
    if isinstance(layer, Operation) and layer.operation in _MERGING_OPERATIONS:
        return "merge" if len(_tensors(layer.pattern)) > 1 else "function"
    for cls in type(layer).__mro__:
        if cls.__name__ in KIND_OF_CLASS:
            return KIND_OF_CLASS[cls.__name__]
    return "layer"


def _tensors(pattern: Any) -> list[Any]:
    if isinstance(pattern, list):
        return [found for item in pattern for found in _tensors(item)]
    return [pattern] if isinstance(pattern, dict) and "tensor" in pattern else []
