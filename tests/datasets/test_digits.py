import hashlib
from importlib.resources import files

import numpy as np
import pytest

from kerascope.datasets import digits
from kerascope.errors import ArgumentError

# How often each digit occurs, as the donors' documentation of the test set counts it.
COUNTS = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
FIRST_TEST_LABELS = [2, 8, 2, 6, 6, 7, 1, 9, 8, 5, 2, 8]


def rows(x, y):
    return sorted((*image.ravel().tolist(), int(label)) for image, label in zip(x, y, strict=True))


def test_each_digit_occurs_as_often_as_its_donors_say():
    _, labels = digits.read_file()
    assert np.bincount(labels).tolist() == COUNTS


def test_images_and_labels_have_the_documented_shapes_types_and_ranges():
    (x_train, y_train), (x_test, y_test) = digits.load_data()
    assert x_train.shape == (1437, 8, 8)
    assert x_test.shape == (360, 8, 8)
    assert y_train.shape == (1437,)
    assert y_test.shape == (360,)
    assert {part.dtype for part in (x_train, y_train, x_test, y_test)} == {np.dtype("uint8")}
    assert (x_train.min(), x_train.max()) == (0, 16)


def test_the_split_loses_no_sample_and_shares_none():
    (x_train, y_train), (x_test, y_test) = digits.load_data(test_size=500, seed=3)
    assert sorted(rows(x_train, y_train) + rows(x_test, y_test)) == rows(*digits.read_file())
    assert len(x_test) == 500


def test_images_keep_their_labels():
    images, labels = digits.read_file()
    label_of = {image.tobytes(): label for image, label in zip(images, labels, strict=True)}
    for x, y in digits.load_data(seed=7):
        assert [label_of[image.tobytes()] for image in x] == y.tolist()


def test_the_same_seed_gives_the_same_split_for_ever():
    _, (_, y_test) = digits.load_data()
    assert y_test[:12].tolist() == FIRST_TEST_LABELS
    _, (_, again) = digits.load_data(seed=0)
    np.testing.assert_array_equal(y_test, again)


def test_another_seed_gives_another_split():
    _, (x_0, _) = digits.load_data(seed=0)
    _, (x_1, _) = digits.load_data(seed=1)
    assert not np.array_equal(x_0, x_1)


def test_the_default_split_has_every_digit_in_both_sets():
    (_, y_train), (_, y_test) = digits.load_data()
    assert np.bincount(y_test).min() >= 25
    assert np.bincount(y_train).min() >= 120


def test_loading_leaves_numpys_random_numbers_alone():
    np.random.seed(5)
    expected = np.random.random(3)
    np.random.seed(5)
    digits.load_data()
    np.testing.assert_array_equal(np.random.random(3), expected)


@pytest.mark.parametrize("test_size", [0, -1, 1797, 2000])
def test_a_split_that_leaves_one_set_empty_is_refused(test_size):
    with pytest.raises(
        ArgumentError, match=f"expected a test_size from 1 to 1796, got {test_size}"
    ):
        digits.load_data(test_size=test_size)


def test_the_file_is_the_published_one_and_its_licence_lies_beside_it():
    folder = files("kerascope.datasets")
    checksum = hashlib.sha256(folder.joinpath("digits.csv.gz").read_bytes()).hexdigest()
    notice = folder.joinpath("digits.LICENSE.txt").read_text(encoding="utf-8")
    for words in (checksum, "CC BY 4.0", "10.24432/C50P49", "Alpaydin", "Kaynak"):
        assert words in notice
