"""Images as arrays: reading, changing them at random, making batches of them.

Keras keeps all of this in `keras.preprocessing.image`. Here it stands in several files: `warping`
moves the pixels, `image_transforms` draws the moves, `image_files` knows PIL, `image_iterators` and
`image_folders` make batches, `image_generator` and `image_statistics` are `ImageDataGenerator`.
"""

from kerascope.preprocessing.image_files import (
    array_to_img,
    img_to_array,
    list_pictures,
    load_img,
    save_img,
)
from kerascope.preprocessing.image_folders import DataFrameIterator, DirectoryIterator
from kerascope.preprocessing.image_generator import ImageDataGenerator
from kerascope.preprocessing.image_iterators import Iterator, NumpyArrayIterator
from kerascope.preprocessing.image_transforms import (
    apply_brightness_shift,
    apply_channel_shift,
    flip_axis,
    random_brightness,
    random_channel_shift,
    random_rotation,
    random_shear,
    random_shift,
    random_zoom,
)
from kerascope.preprocessing.warping import apply_affine_transform

__all__ = [
    "DataFrameIterator",
    "DirectoryIterator",
    "ImageDataGenerator",
    "Iterator",
    "NumpyArrayIterator",
    "apply_affine_transform",
    "apply_brightness_shift",
    "apply_channel_shift",
    "array_to_img",
    "flip_axis",
    "img_to_array",
    "list_pictures",
    "load_img",
    "random_brightness",
    "random_channel_shift",
    "random_rotation",
    "random_shear",
    "random_shift",
    "random_zoom",
    "save_img",
]
