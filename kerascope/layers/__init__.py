"""The layers, under their names in Keras: `from kerascope.layers import Input, Dense`.

Read `core.py` first, and in it `Dense`: every other layer is built like it. Each module lists its
public names in `__all__`; a new layer needs no other registration.
"""

# ruff: noqa: F401, F403 (each module's __all__ says which names it has)

from kerascope.engine.base_layer import Layer
from kerascope.engine.input_layer import Input, InputLayer
from kerascope.engine.input_spec import InputSpec
from kerascope.engine.layer_type import layer_registry
from kerascope.layers.advanced_activations import *
from kerascope.layers.attention import *
from kerascope.layers.convolutional import *
from kerascope.layers.convolutional_recurrent import *
from kerascope.layers.core import *
from kerascope.layers.embeddings import *
from kerascope.layers.local import *
from kerascope.layers.merge import *
from kerascope.layers.noise import *
from kerascope.layers.normalization import *
from kerascope.layers.ops.operation import Operation
from kerascope.layers.pooling import *
from kerascope.layers.recurrent import *
from kerascope.layers.spatial import *
from kerascope.layers.wrappers import *
from kerascope.missing_names import answer_missing_names

serialize = layer_registry.serialize
deserialize = layer_registry.deserialize

_MODULES = """advanced_activations attention convolutional convolutional_recurrent core embeddings
    local merge noise normalization pooling recurrent spatial wrappers"""
_OWN = "Input InputLayer InputSpec Layer Operation deserialize merge serialize"

__all__ = sorted(
    {*_OWN.split(), *(name for module in _MODULES.split() for name in globals()[module].__all__)}
)

# Module -> its public names. The module is imported when one of these names is first used.
_LATER = {
    "keras3.augmentation": """AugMix AutoContrast RandAugment RandomColorDegeneration
        RandomColorJitter RandomCrop RandomElasticTransform RandomErasing RandomGaussianBlur
        RandomGrayscale RandomHue RandomInvert RandomPerspective RandomPosterization
        RandomSaturation RandomSharpness RandomShear Solarization""",
    "keras3.categories": """CategoryEncoding Discretization IntegerLookup StringLookup
        TextVectorization""",
    "keras3.images": """CenterCrop RandomBrightness RandomContrast RandomFlip RandomRotation
        RandomTranslation RandomZoom Resizing""",
    "keras1.legacy": """ConvRecurrent2D Highway MaxoutDense ParametricSoftplus Recurrent SReLU
        TimeDistributedDense time_distributed_dense""",
    "keras3.kin": """AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D
        AdaptiveMaxPooling1D AdaptiveMaxPooling2D AdaptiveMaxPooling3D ConvLSTM1D ConvLSTM3D
        EinsumDense GroupQueryAttention Identity Pipeline ReversibleEmbedding
        SpectralNormalization""",
    "keras3.local_contrast": "ContrastLimitedAdaptiveHistogramEqualization",
    "keras3.sounds": "MelSpectrogram",
}

answer_missing_names(
    __name__, {name: f"{__name__}.{m}" for m, names in _LATER.items() for name in names.split()}
)
