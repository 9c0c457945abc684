"""Well-known architectures with fresh weights.

For example, `applications.ResNet50(weights=None)` returns the model ResNet50. Layers have Keras's
names, so weights saved by Keras can be loaded. Trained weights are not downloaded: without
`weights=`, which means trained weights in Keras, the functions raise an error.
"""

from kerascope.applications import imagenet_utils
from kerascope.applications.densenet import DenseNet121, DenseNet169, DenseNet201
from kerascope.applications.inception_v3 import InceptionV3
from kerascope.applications.mobilenet import MobileNet, MobileNetV2
from kerascope.applications.resnet import ResNet50, ResNet101, ResNet152
from kerascope.applications.vgg import VGG16, VGG19
from kerascope.applications.xception import Xception
from kerascope.missing_names import answer_missing_names

__all__ = [
    "VGG16",
    "VGG19",
    "DenseNet121",
    "DenseNet169",
    "DenseNet201",
    "InceptionV3",
    "MobileNet",
    "MobileNetV2",
    "ResNet50",
    "ResNet101",
    "ResNet152",
    "Xception",
    "imagenet_utils",
]

answer_missing_names(__name__)
