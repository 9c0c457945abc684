"""Helpers around models: files, one-hot labels, data sequences. Keras calls it `keras.utils`."""

from kerascope.not_yet import answer_missing_names
from kerascope.utils import data_utils, generic_utils, np_utils
from kerascope.utils.data_utils import Sequence, get_file, validate_file
from kerascope.utils.generic_utils import (
    CustomObjectScope,
    Progbar,
    custom_object_scope,
    get_custom_objects,
)
from kerascope.utils.np_utils import normalize, to_categorical
from kerascope.utils.seeding import set_random_seed

__all__ = [
    "CustomObjectScope",
    "Progbar",
    "Sequence",
    "custom_object_scope",
    "data_utils",
    "generic_utils",
    "get_custom_objects",
    "get_file",
    "normalize",
    "np_utils",
    "set_random_seed",
    "to_categorical",
    "validate_file",
]

answer_missing_names(__name__)
answer_missing_names(data_utils.__name__)
