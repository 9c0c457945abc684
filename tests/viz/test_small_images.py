"""Small images of numbers: the images are read back from their PNG and compared with the arrays."""

import numpy as np
import pytest
from png_reading import png_read

from kerascope.viz.roles import color_of
from kerascope.viz.tensors.small_images import (
    are_probabilities,
    bars_of,
    small_image,
    small_maps,
    strongest,
)


def test_numbers_can_be_read_back_from_the_png():
    matrix = np.random.RandomState(0).randn(9, 14)
    image = small_image(matrix)
    levels, palette = png_read(image.png())
    most = np.abs(matrix).max()
    numbers = (levels.astype(float) / 250 * 2 - 1) * most
    np.testing.assert_allclose(numbers, matrix, atol=most / 250)
    np.testing.assert_allclose(image.numbers(), numbers, atol=1e-12)
    assert palette[125] == color_of("d-125", "light")
    assert [image.scale.low, image.scale.high] == [-most, most]


def test_zero_has_the_colour_of_the_middle_whatever_the_other_numbers_are():
    for matrix in ([[0.0, 3.0]], [[0.0, -3.0]], [[0.0, 0.0]]):
        assert small_image(np.array(matrix)).levels[0, 0] == 125


def test_a_constant_map_shows_its_sign():
    assert (small_image(np.full((3, 3), 5.0)).levels == 250).all()
    assert (small_image(np.full((3, 3), -5.0)).levels == 0).all()
    assert small_image(np.full((3, 3), 5.0)).words == "-5 to 5"


def test_a_picture_is_grey_from_its_smallest_to_its_largest_number():
    image = small_image(np.array([[10.0, 60.0, 110.0]]), is_picture=True)
    levels, palette = png_read(image.png())
    assert levels.tolist() == [[0, 125, 250]]
    assert [palette[i] for i in (0, 125, 250)] == ["#000000", "#808080", "#FFFFFF"]
    assert small_image(np.zeros((2, 2)), is_picture=True).levels.max() == 0
    assert small_image(np.ones((2, 2)), is_picture=True).levels.min() == 250


def test_pixels_are_those_of_the_png():
    image = small_image(np.random.RandomState(1).randn(4, 5))
    for theme in ("light", "dark"):
        levels, palette = png_read(image.png(theme))
        pixels = [[list(bytes.fromhex(palette[i][1:])) for i in row] for row in levels]
        assert image.pixels(theme).tolist() == pixels


def test_odd_numbers_have_colours_of_their_own_and_are_counted():
    image = small_image(np.array([[np.nan, 1.0], [np.inf, -np.inf]]))
    assert image.levels.tolist() == [[251, 250], [252, 253]]
    assert (image.nans, image.infinities) == (1, 2)
    assert image.words == "-1 to 1, 1 NaN, 2 Inf"
    _, palette = png_read(image.png())
    assert palette[251] == color_of("nan", "light")
    assert small_image(np.full((2, 2), np.nan)).words == "-1 to 1, 4 NaN"


def test_a_large_matrix_is_thinned_and_keeps_its_nan():
    matrix = np.arange(100.0 * 130).reshape(100, 130)
    matrix[51, 77] = np.nan
    image = small_image(matrix, side=50)
    assert image.steps == (2, 3)
    assert image.levels.shape == (50, 44)
    assert image.levels[25, 25] == 251
    numbers = image.numbers()
    expected = matrix[::2, ::3]
    is_finite = np.isfinite(numbers)
    np.testing.assert_allclose(numbers[is_finite], expected[is_finite], atol=matrix[-1, -1] / 250)


@pytest.mark.parametrize("value", [1e308, 1e-320])
def test_extreme_numbers_do_not_overflow(value):
    image = small_image(np.array([[-value, 0.0, value]]))
    assert image.levels.tolist() == [[0, 125, 250]]


def test_the_strongest_maps_are_chosen_in_order_and_odd_ones_first():
    maps = np.stack([np.full((2, 2), x) for x in (1.0, -4.0, 0.0, 2.0, np.inf, 2.0)])
    assert strongest(maps, 2) == [1, 4]
    assert strongest(maps, 3) == [1, 3, 4]
    assert strongest(maps, 10) == [0, 1, 2, 3, 4, 5]
    images = small_maps(maps, 3)
    assert [image.index for image in images] == [1, 3, 4]
    assert images[0].scale.low == -4


def test_bars_of_a_few_and_of_many_classes():
    assert [bar.name for bar in bars_of(np.arange(10.0))] == [*"0123456789"]
    many = bars_of(np.array([*range(6, 0, -1), 7, 9, np.nan, 8, 0]), [*"abcdefghijk"])
    assert [bar.name for bar in many] == ["i", "h", "j", "g", "a"]
    assert [bar.value for bar in many[1:]] == [9, 8, 7, 6]


def test_probabilities_are_recognized():
    assert are_probabilities(np.array([0.1, 0.9], "float16"))
    assert not are_probabilities(np.array([0.4, 0.4]))
    assert not are_probabilities(np.array([1.5, -0.5]))
    assert not are_probabilities(np.array([np.nan, 1.0]))
