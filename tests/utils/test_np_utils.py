import numpy as np
import pytest

from kerascope.errors import ArgumentError
from kerascope.utils import normalize, to_categorical


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((), (5,)), ((3,), (3, 5)), ((3, 1), (3, 5)), ((4, 3), (4, 3, 5)), ((4, 3, 1), (4, 3, 5))],
)
def test_one_hot_rows_replace_a_last_axis_of_one(shape, expected):
    classes = np.random.default_rng(0).integers(0, 5, size=shape)
    one_hot = to_categorical(classes, 5)
    assert one_hot.shape == expected
    np.testing.assert_array_equal(one_hot.argmax(-1), classes.reshape(expected[:-1]))
    np.testing.assert_array_equal(one_hot.sum(-1), np.ones(expected[:-1]))


def test_one_hot_is_float32_unless_told_otherwise():
    assert to_categorical([0, 1]).dtype == np.float32
    assert to_categorical([0, 1], dtype="int8").dtype == np.int8


def test_the_number_of_classes_is_one_more_than_the_largest():
    assert to_categorical([0, 6]).shape == (2, 7)


def test_whole_floats_bools_and_bytes_are_classes():
    expected = [[0, 1], [1, 0]]
    for y in ([1.0, 0.0], [True, False], np.array([1, 0], np.uint8)):
        assert to_categorical(y).tolist() == expected


def test_no_labels_of_known_classes_give_no_rows():
    assert to_categorical([], num_classes=3).shape == (0, 3)


@pytest.mark.parametrize(
    ("y", "num_classes", "words"),
    [
        ([0, 3], 3, "expected classes from 0 to 2, got 3"),
        ([0, -1], None, "got -1"),
        ([0.5], None, "got dtype"),
        ([np.nan], None, "got dtype"),
        (["cat"], None, "got dtype"),
        ([], None, "expected at least one label"),
    ],
)
def test_what_is_no_class_is_refused(y, num_classes, words):
    with pytest.raises(ArgumentError, match=words):
        to_categorical(y, num_classes)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("order", [1, 2, np.inf])
def test_normalized_vectors_have_length_one_along_their_axis(axis, order):
    vectors = np.random.default_rng(1).normal(size=(4, 6))
    lengths = np.linalg.norm(normalize(vectors, axis=axis, order=order), ord=order, axis=axis)
    np.testing.assert_allclose(lengths, 1)


def test_normalize_keeps_directions_and_zeros():
    vectors = np.array([[3.0, -4.0], [0.0, 0.0]])
    np.testing.assert_allclose(normalize(vectors), [[0.6, -0.8], [0, 0]])
    np.testing.assert_array_equal(normalize(np.array([3.0, 4.0])), [0.6, 0.8])
    assert vectors[0, 0] == 3, "the argument stays as it was"
