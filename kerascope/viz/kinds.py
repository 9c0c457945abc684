"""Kinds of layers: which colour and sign a box gets.

A layer's kind is that of the nearest class in its ancestry that the table names, so a subclass of
Dense is drawn as a Dense.
"""

from __future__ import annotations

from kerascope.engine.base_layer import Layer

_CLASSES_BY_KIND = {
    "input": "InputLayer",
    "dense": "Dense Highway MaxoutDense",
    "convolution": """
        Conv1D Conv2D Conv3D Conv2DTranspose Conv3DTranspose SeparableConv1D SeparableConv2D
        Conv1DTranspose DepthwiseConv1D DepthwiseConv2D LocallyConnected1D LocallyConnected2D
    """,
    "pooling": """
        MaxPooling1D MaxPooling2D MaxPooling3D AveragePooling1D AveragePooling2D
        AveragePooling3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D
        GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D
    """,
    "recurrent": """
        RNN SimpleRNN GRU LSTM ConvLSTM2D CuDNNGRU CuDNNLSTM SimpleRNNCell GRUCell LSTMCell
        StackedRNNCells ConvRecurrent2D Recurrent
    """,
    "embedding": "Embedding",
    "merge": "Add Subtract Multiply Average Maximum Minimum Concatenate Dot Merge _Merge",
    "attention": "Attention AdditiveAttention MultiHeadAttention",
    "activation": "Activation ReLU LeakyReLU PReLU ELU ThresholdedReLU Softmax",
    "function": "Lambda Operation",
    "normalization": """
        BatchNormalization LayerNormalization GroupNormalization RMSNormalization
        UnitNormalization Rescaling
    """,
    "noise": """
        Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D GaussianNoise
        GaussianDropout AlphaDropout ActivityRegularization
    """,
    "shaping": """
        Flatten Reshape Permute RepeatVector Masking UpSampling1D UpSampling2D UpSampling3D
        ZeroPadding1D ZeroPadding2D ZeroPadding3D Cropping1D Cropping2D Cropping3D
    """,
    "wrapper": "Wrapper TimeDistributed Bidirectional",
    "model": "Network",
    "layer": "Layer",
}

KIND_OF_CLASS = {
    class_name: kind for kind, names in _CLASSES_BY_KIND.items() for class_name in names.split()
}
# "tensor" is what a layer was called on that no layer made: a constant or a variable.
LAYER_KINDS = (*_CLASSES_BY_KIND, "tensor")
# What stands for several boxes, and what the levels below layers are made of.
KINDS = (
    *LAYER_KINDS,
    *("block", "scope", "op", "placeholder", "variable", "constant"),
    *("loss", "gradient", "sum", "slot", "update"),
)


def kind_of(layer: Layer) -> str:
    """Return the kind of a layer.

    Examples
    --------
    >>> class Mine(Layer): ...
    >>> kind_of(Mine())
    'layer'
    """
    for cls in type(layer).__mro__:
        if cls.__name__ in KIND_OF_CLASS:
            return KIND_OF_CLASS[cls.__name__]
    return "layer"
