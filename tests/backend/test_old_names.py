"""Keras 1's names and keywords of the backend."""

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.errors import ArgumentError, SpellingWarning
from kerascope.spellings import KEYWORDS

IMAGES = np.arange(2 * 5 * 6 * 3, dtype="float32").reshape(2, 5, 6, 3)
FIRST = IMAGES.transpose(0, 3, 1, 2)
KERNEL = np.ones((2, 2, 3, 4), "float32")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (lambda: K.expand_dims(IMAGES, dim=1), lambda: K.expand_dims(IMAGES, axis=1)),
        (
            lambda: K.conv2d(FIRST, KERNEL, border_mode="same", dim_ordering="th"),
            lambda: K.conv2d(FIRST, KERNEL, padding="same", data_format="channels_first"),
        ),
        (
            lambda: K.pool2d(IMAGES, (2, 2), border_mode="valid", dim_ordering="tf"),
            lambda: K.pool2d(IMAGES, (2, 2)),
        ),
        (
            lambda: K.random_normal((4,), std=3.0, seed=1),
            lambda: K.random_normal((4,), 0.0, 3.0, seed=1),
        ),
        (
            lambda: K.random_uniform((4,), low=2.0, high=3.0, seed=1),
            lambda: K.random_uniform((4,), 2.0, 3.0, seed=1),
        ),
        (
            lambda: K.resize_images(FIRST, 2, 2, dim_ordering="th"),
            lambda: K.resize_images(FIRST, 2, 2, "channels_first"),
        ),
    ],
)
def test_a_keyword_of_keras_1_is_understood_with_a_warning(old, new):
    with pytest.warns(SpellingWarning, match="is Keras 1's word"):
        tensor = old()
    np.testing.assert_array_equal(K.eval(tensor), K.eval(new()))


def test_both_spellings_at_once_are_refused():
    with pytest.raises(ArgumentError, match="are the same argument"):
        K.expand_dims(IMAGES, dim=1, axis=1)


def test_old_names_stand_for_todays_functions():
    assert K.lesser is K.less
    assert K.lesser_equal is K.less_equal
    assert K.deconv2d is not None


@pytest.mark.parametrize("where", [name for name in KEYWORDS if name.startswith("K.")])
def test_the_table_names_functions_and_their_arguments(where):
    import inspect

    arguments = inspect.signature(getattr(K, where.removeprefix("K."))).parameters
    assert set(KEYWORDS[where].values()) <= set(arguments)
