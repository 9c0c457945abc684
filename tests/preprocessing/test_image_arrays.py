"""Moving the pixels of one image: against SciPy, against the real Keras, and by hand."""

import math

import numpy as np
import pytest

from kerascope.errors import ArgumentError
from kerascope.preprocessing import image
from kerascope.preprocessing.image import warp

RNG = np.random.default_rng(0)
IMAGE = RNG.uniform(0, 255, (9, 12, 3))
MOVES = [
    {"theta": 30},
    {"theta": -170},
    {"tx": 2.4, "ty": -3.25},
    {"shear": 25},
    {"zx": 0.5, "zy": 1.7},
    {"theta": 40, "tx": -4, "ty": 1, "shear": 10, "zx": 1.3, "zy": 0.8},
    {"tx": 40, "ty": -50},
]
# What SciPy calls the modes as Keras documents them: its "wrap" repeats with a period too short.
SCIPY_MODES = {
    "nearest": "nearest",
    "constant": "constant",
    "reflect": "reflect",
    "wrap": "grid-wrap",
}


def matrix_of(theta=0, tx=0, ty=0, shear=0, zx=1, zy=1):
    a, s = math.radians(theta), math.radians(shear)
    turn = np.array([[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1]])
    shift = np.array([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    slant = np.array([[1, -math.sin(s), 0], [0, math.cos(s), 0], [0, 0, 1]])
    return turn @ shift @ slant @ np.diag([zx, zy, 1])


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("fill_mode", SCIPY_MODES)
@pytest.mark.parametrize("moves", MOVES, ids=str)
def test_a_warp_is_that_of_scipy(moves, fill_mode, order):
    ndimage = pytest.importorskip("scipy.ndimage")
    matrix = matrix_of(**moves)
    middle = np.array([(IMAGE.shape[0] - 1) / 2, (IMAGE.shape[1] - 1) / 2])
    offset = matrix[:2, :2] @ -middle + matrix[:2, 2] + middle
    expected = np.stack(
        [
            ndimage.affine_transform(
                IMAGE[..., channel],
                matrix[:2, :2],
                offset,
                order=order,
                mode=SCIPY_MODES[fill_mode],
                cval=7.0,
            )
            for channel in range(3)
        ],
        axis=-1,
    )
    result = image.apply_affine_transform(
        IMAGE, **moves, fill_mode=fill_mode, cval=7.0, order=order
    )
    np.testing.assert_allclose(result, expected, atol=1e-5)


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
@pytest.mark.parametrize("fill_mode", ["nearest", "constant", "reflect"])
@pytest.mark.parametrize("moves", MOVES, ids=str)
def test_a_warp_is_that_of_keras(keras, moves, fill_mode):
    real = keras.src.legacy.preprocessing.image
    arguments = {**moves, "fill_mode": fill_mode, "cval": 3.0}
    square = IMAGE[:, :9]
    theirs = real.apply_affine_transform(
        square.copy(), row_axis=0, col_axis=1, channel_axis=2, **arguments
    )
    # Keras 3 counts the columns before the rows; Keras 2, as we, the rows before the columns.
    ours = image.apply_affine_transform(square, row_axis=1, col_axis=0, **arguments)
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


def test_turning_by_right_angles_moves_whole_pixels():
    square = RNG.uniform(size=(5, 5, 1))
    quarter = image.apply_affine_transform(square, theta=90, fill_mode="constant", cval=-1)
    np.testing.assert_allclose(quarter, np.rot90(square, -1), atol=1e-8)
    half = image.apply_affine_transform(square, theta=180, fill_mode="constant", cval=-1)
    np.testing.assert_allclose(half, square[::-1, ::-1], atol=1e-8)


def test_shifts_by_whole_pixels_show_each_fill_mode():
    row = np.arange(4.0).reshape(1, 4, 1)

    def shifted(**arguments):
        return image.apply_affine_transform(row, ty=3, **arguments)[0, :, 0].tolist()

    assert shifted(fill_mode="nearest") == [3, 3, 3, 3]
    assert shifted(fill_mode="constant", cval=9) == [3, 9, 9, 9]
    assert shifted(fill_mode="reflect") == [3, 3, 2, 1]
    assert shifted(fill_mode="wrap") == [3, 0, 1, 2]


def test_no_move_gives_a_copy():
    result = image.apply_affine_transform(IMAGE)
    np.testing.assert_array_equal(result, IMAGE)
    result[0] = 0
    assert IMAGE[0].any()


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_the_type_stays(dtype):
    pixels = IMAGE.astype(dtype)
    assert image.apply_affine_transform(pixels, theta=10).dtype == dtype
    assert image.apply_channel_shift(pixels, 3).dtype == dtype
    assert image.apply_brightness_shift(pixels, 1.5).dtype == dtype


def test_channels_may_come_first():
    first = np.transpose(IMAGE, (2, 0, 1))
    axes = {"row_axis": 1, "col_axis": 2, "channel_axis": 0}
    result = image.apply_affine_transform(first, theta=20, zx=0.7, **axes)
    expected = image.apply_affine_transform(IMAGE, theta=20, zx=0.7)
    np.testing.assert_allclose(np.transpose(result, (1, 2, 0)), expected)


# --- random ones ----------------------------------------------------------------------------------

RANDOM = {
    "random_rotation": (30,),
    "random_shift": (0.2, 0.3),
    "random_shear": (20,),
    "random_zoom": ((0.7, 1.4),),
    "random_channel_shift": (20,),
    "random_brightness": ((0.5, 1.5),),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_changes_repeat_with_numpys_seed(name):
    function = getattr(image, name)
    first_channels = np.transpose(IMAGE, (2, 0, 1))
    np.random.seed(4)
    once = function(first_channels, *RANDOM[name])
    np.random.seed(4)
    np.testing.assert_array_equal(function(first_channels, *RANDOM[name]), once)
    assert not np.array_equal(function(first_channels, *RANDOM[name]), once)
    assert once.shape == first_channels.shape


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
@pytest.mark.parametrize("name", ["random_rotation", "random_shift", "random_shear", "random_zoom"])
def test_random_moves_draw_what_keras_draws(keras, name):
    real = keras.src.legacy.preprocessing.image
    square = np.transpose(IMAGE[:, :9], (2, 0, 1))
    np.random.seed(11)
    ours = getattr(image, name)(square, *RANDOM[name], row_axis=2, col_axis=1)
    np.random.seed(11)
    theirs = getattr(real, name)(square.copy(), *RANDOM[name])
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


def test_a_zoom_of_one_changes_nothing():
    np.testing.assert_array_equal(image.random_zoom(IMAGE, (1, 1)), IMAGE)


def test_a_channel_shift_keeps_the_range_of_the_image():
    shifted = image.apply_channel_shift(IMAGE, 1000)
    np.testing.assert_array_equal(shifted, np.full_like(IMAGE, IMAGE.max()))


def test_an_axis_is_mirrored():
    np.testing.assert_array_equal(image.flip_axis(IMAGE, 1), IMAGE[:, ::-1])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: image.random_zoom(IMAGE, 0.5), "zoom_range: expected two numbers.*got 0.5"),
        (lambda: image.random_brightness(IMAGE, 2), "brightness_range: expected two.*got 2"),
        (
            lambda: image.apply_affine_transform(IMAGE, theta=1, fill_mode="nearst"),
            "unknown fill_mode 'nearst'. Did you mean 'nearest'",
        ),
        (lambda: image.apply_affine_transform(IMAGE, theta=1, order=3), "expected order 0 or 1"),
        (lambda: warp(IMAGE, np.eye(3), "mirror", 0, 1), "unknown fill_mode 'mirror'"),
    ],
)
def test_mistakes_are_named(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


def test_bytes_do_not_begin_again_at_0():
    pixels = np.array([[[0, 200, 255]]], dtype="uint8")
    for shifted in (image.apply_channel_shift(pixels, 100), image.apply_channel_shift(pixels, 300)):
        assert shifted.dtype == "uint8"
        assert shifted[0, 0, 1:].tolist() == [255, 255]
    assert image.apply_brightness_shift(pixels, 2).tolist() == [[[0, 255, 255]]]
