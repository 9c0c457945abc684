"""Helpers around models: files, one-hot labels, data sequences. Keras calls it `keras.utils`."""

from kerascope.utils import data_utils, np_utils
from kerascope.utils.data_utils import Sequence, get_file, validate_file
from kerascope.utils.np_utils import normalize, to_categorical

__all__ = [
    "Sequence",
    "data_utils",
    "get_file",
    "normalize",
    "np_utils",
    "to_categorical",
    "validate_file",
]
