"""Layers of images and `keras.ops.image` against the real Keras 3."""

import keras_reference
import numpy as np
import pytest
from keras_reference import generator, jax, keras

from kerascope import backend as K
from kerascope import layers
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.ops import image as ops
from kerascope.models import Model, Sequential, load_model
from kerascope.settings import config

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

rng = np.random.default_rng(3)
IMAGES = rng.random((2, 4, 5, 3)).astype("float32")
PIXELS = rng.integers(0, 256, (2, 4, 5, 3)).astype("uint8")
TRANSFORMS = np.array(
    [[0.9, 0.1, 1, -0.2, 1.1, -0.5, 0, 0], [1, 0, 0.3, 0, 1, 0.7, 0, 0]], "float32"
)
PLACES = np.stack([rng.uniform(-3, 7, 6), rng.uniform(-3, 9, 6)]).astype("float32")
FILL_MODES = ["constant", "nearest", "wrap", "mirror", "reflect"]
METHODS = ["bilinear", "nearest", "bicubic", "lanczos3", "lanczos5"]

CASES = [
    *(
        ("resize", (IMAGES, size), {"interpolation": method, "antialias": antialias})
        for size in [(6, 7), (2, 3), (3, 9)]
        for method in METHODS
        for antialias in (False, True)
    ),
    *(
        ("resize", (IMAGES, size), option)
        for size in [(2, 5), (5, 2), (8, 8)]
        for option in (
            {"crop_to_aspect_ratio": True},
            {"pad_to_aspect_ratio": True, "fill_value": 2.0},
        )
    ),
    ("resize", (PIXELS, (3, 3)), {}),
    ("resize", (PIXELS, (7, 6)), {"interpolation": "lanczos5"}),
    ("resize", (IMAGES[0], (3, 3)), {}),
    ("resize", (IMAGES, (3, 4)), {"data_format": "channels_first"}),
    *(
        (
            "affine_transform",
            (IMAGES, TRANSFORMS),
            {"interpolation": method, "fill_mode": mode, "fill_value": 0.5},
        )
        for method in METHODS[:2]
        for mode in FILL_MODES
    ),
    ("affine_transform", (IMAGES[0], TRANSFORMS[0]), {}),
    ("affine_transform", (PIXELS, TRANSFORMS), {}),
    *(
        ("map_coordinates", (IMAGES[0, :, :, 0], PLACES, order), {"fill_mode": mode})
        for order in (0, 1)
        for mode in FILL_MODES
    ),
    ("map_coordinates", (np.array([0, 1, 3, 7], "uint8"), PLACES[:1], 1), {}),
    (
        "pad_images",
        (IMAGES,),
        {"top_padding": 1, "left_padding": 2, "bottom_padding": 0, "right_padding": 1},
    ),
    (
        "pad_images",
        (IMAGES,),
        {"top_padding": 1, "left_padding": 2, "target_height": 8, "target_width": 9},
    ),
    (
        "crop_images",
        (IMAGES,),
        {"top_cropping": 1, "left_cropping": 2, "target_height": 2, "target_width": 2},
    ),
    (
        "crop_images",
        (IMAGES[0],),
        {"top_cropping": 1, "left_cropping": 0, "bottom_cropping": 1, "right_cropping": 2},
    ),
    ("rgb_to_grayscale", (IMAGES,), {}),
    ("rgb_to_grayscale", (PIXELS,), {}),
    ("rgb_to_hsv", (IMAGES,), {}),
    ("hsv_to_rgb", (IMAGES,), {}),
    ("extract_patches", (IMAGES, 2), {}),
    ("extract_patches", (IMAGES, (2, 3)), {"strides": 1, "padding": "same"}),
    ("extract_patches", (IMAGES[0], 2), {"strides": 1, "dilation_rate": 2}),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_operations_on_images_agree(number):
    name, (x, *args), options = CASES[number]
    wanted = np.asarray(getattr(keras.ops.image, name)(x, *args, **options))
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if wanted.dtype.kind == "f" else {"rtol": 0}
    ours = getattr(ops, name)
    found = ours(x, *args, **options)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, **tolerance)
    symbol = K.placeholder((None, *x.shape[1:]) if x.ndim == 4 else x.shape, dtype=x.dtype.name)
    (computed,) = K.function([symbol], [ours(symbol, *args, **options)])([x])
    np.testing.assert_array_equal(computed, found)


@pytest.mark.parametrize(
    ("name", "args", "options"),
    [
        ("resize", ((6, 7),), {"interpolation": "bicubic"}),
        ("affine_transform", (TRANSFORMS,), {"fill_mode": "reflect"}),
        ("rgb_to_hsv", (), {}),
        ("extract_patches", (2,), {"strides": 1}),
    ],
)
def test_gradients_of_operations_on_images_agree(name, args, options):
    x = K.placeholder(IMAGES.shape)
    y = getattr(ops, name)(x, *args, **options)
    factors = generator(4).normal(size=y.shape).astype("float32")
    (found,) = K.function([x], K.gradients(K.sum(y * factors), [x]))([IMAGES])
    theirs = getattr(keras.ops.image, name)
    wanted = jax.grad(lambda x: (theirs(x, *args, **options) * factors).sum())(IMAGES)
    np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-3, atol=1e-4)


def operations_in_a_file(keras, path):
    """Save a model of all operations of one input, and return what it computes."""
    x = keras.Input((4, 5, 3))
    image = keras.ops.image
    y = image.hsv_to_rgb(image.rgb_to_hsv(image.resize(x, (6, 8), interpolation="bicubic")))
    y = image.crop_images(image.pad_images(y, 1, 1, 1, 1), 1, 2, target_height=4, target_width=5)
    y = image.affine_transform(y, keras.ops.array(TRANSFORMS[:1]), fill_mode="reflect")
    model = keras.Model(x, image.extract_patches(image.rgb_to_grayscale(y), 2))
    model.save(path)
    return np.asarray(model(IMAGES[:1]))


def test_operations_on_images_are_read_from_a_file(keras, tmp_path):
    path = tmp_path / "model.keras"
    wanted = keras_reference.answer(operations_in_a_file, keras, path)
    found = load_model(path).predict(IMAGES[:1])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


# --- layers ---------------------------------------------------------------------------------------

# What draws nothing: a factor between a and a.
FIXED = [
    ("Resizing", {"height": 3, "width": 7, "interpolation": "bicubic"}),
    ("Resizing", {"height": 3, "width": 3, "crop_to_aspect_ratio": True}),
    ("Resizing", {"height": 2, "width": 5, "pad_to_aspect_ratio": True, "fill_value": 1.0}),
    ("CenterCrop", {"height": 3, "width": 2}),
    ("CenterCrop", {"height": 2, "width": 7}),
    ("CenterCrop", {"height": 6, "width": 7}),
    ("RandomRotation", {"factor": (0.25, 0.25)}),
    ("RandomRotation", {"factor": (-0.1, -0.1), "fill_mode": "constant", "fill_value": 0.5}),
    ("RandomRotation", {"factor": (0.1, 0.1), "interpolation": "nearest", "fill_mode": "wrap"}),
    ("RandomZoom", {"height_factor": (0.5, 0.5)}),
    ("RandomZoom", {"height_factor": (0.2, 0.2), "width_factor": (-0.3, -0.3)}),
    ("RandomTranslation", {"height_factor": (0.25, 0.25), "width_factor": (-0.2, -0.2)}),
    ("RandomBrightness", {"factor": (0.2, 0.2), "value_range": (0.0, 1.0)}),
    ("RandomContrast", {"factor": (0.0, 0.0), "value_range": (0.0, 1.0)}),
    ("RandomFlip", {}),
]


@pytest.mark.parametrize("number", range(len(FIXED)))
def test_layers_of_images_agree_where_nothing_is_left_to_chance(number):
    name, arguments = FIXED[number]
    ours, theirs = (getattr(home, name)(**arguments) for home in (layers, keras.layers))
    is_random = name.startswith("Random")
    for keywords in [{"training": True}, {"training": False}] if is_random else [{}]:
        if name == "RandomFlip" and keywords["training"]:
            continue
        wanted = np.asarray(theirs(IMAGES, **keywords))
        np.testing.assert_allclose(ours(IMAGES, **keywords), wanted, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(
            ours(IMAGES[0], **keywords), np.asarray(theirs(IMAGES[0], **keywords)), atol=1e-5
        )
    ignored = ("name", "dtype")
    known = {key: v for key, v in theirs.get_config().items() if key not in ignored}
    found = {key: v for key, v in ours.get_config().items() if key not in ignored}
    assert {k: np.array(v).tolist() for k, v in found.items()} == {
        k: np.array(v).tolist() for k, v in known.items()
    }


def test_pixels_stay_whole_numbers_when_they_are_resized(keras):
    ours, theirs = (home.Resizing(3, 3) for home in (layers, keras.layers))
    wanted = np.asarray(theirs(PIXELS))
    assert ours(PIXELS).dtype == wanted.dtype
    np.testing.assert_array_equal(ours(PIXELS), wanted)


def in_keras(inside):
    return inside.Sequential([inside.layers.RandomBrightness((0.2, 0.2), value_range=(0, 9))])


@pytest.mark.parametrize("dialect", ["2.2", "3"])
def test_called_on_arrays_a_random_layer_acts_unless_it_is_told_not_to(keras, dialect):
    config.dialect = dialect
    layer = layers.RandomBrightness((0.2, 0.2), value_range=(0, 9), input_shape=(4, 5, 3))
    models = [layer, Sequential([layer])]
    theirs = keras.Sequential([keras.layers.RandomBrightness((0.2, 0.2), value_range=(0, 9))])
    for keywords in ({}, {"training": True}, {"training": False}):
        wanted = np.asarray(theirs(IMAGES, **keywords))
        assert np.allclose(wanted, IMAGES) == (keywords == {"training": False})
        for one in models:
            np.testing.assert_allclose(one(IMAGES, **keywords), wanted, rtol=1e-5)
    np.testing.assert_array_equal(models[1].predict(IMAGES), IMAGES)


@pytest.fixture(autouse=True)
def dialect_as_before():
    before = config.dialect
    yield
    config.dialect = before


RANDOM = [
    ("RandomFlip", {"mode": "horizontal"}),
    ("RandomRotation", {"factor": 0.2}),
    ("RandomZoom", {"height_factor": 0.4}),
    ("RandomTranslation", {"height_factor": 0.4, "width_factor": 0.4}),
    ("RandomBrightness", {"factor": 0.5, "value_range": (0.0, 1.0)}),
    ("RandomContrast", {"factor": 0.5, "value_range": (0.0, 1.0)}),
]


@pytest.mark.parametrize(("name", "arguments"), RANDOM)
def test_a_seed_decides_what_is_drawn_and_each_call_draws_anew(name, arguments):
    x = np.repeat(IMAGES[:1], 16, axis=0)
    one, other = (getattr(layers, name)(seed=3, **arguments) for _ in range(2))
    first, second = one(x), one(x)
    np.testing.assert_array_equal(first, other(x))
    np.testing.assert_array_equal(second, other(x))
    assert not np.array_equal(first, second)
    assert len(np.unique(first.reshape(16, -1).round(4), axis=0)) > 1  # not all images alike
    assert first.shape == x.shape
    assert first.min() >= 0
    assert first.max() <= 1


def test_images_are_flipped_half_of_the_time():
    x = np.arange(6.0).reshape(1, 2, 3, 1).repeat(400, axis=0).astype("float32")
    flipped = layers.RandomFlip("horizontal", seed=1)(x)
    is_flipped = (flipped == x[:, :, ::-1]).all((1, 2, 3))
    assert ((flipped == x).all((1, 2, 3)) | is_flipped).all()
    assert 150 < is_flipped.sum() < 250


@pytest.mark.parametrize(("name", "arguments"), RANDOM)
def test_random_layers_act_while_a_model_is_trained_and_not_when_it_predicts(name, arguments):
    layer = getattr(layers, name)(seed=1, **arguments)
    inputs = layers.Input((4, 5, 3))
    changed = layer(inputs)
    phases = K.function([inputs, K.learning_phase()], [changed])
    np.testing.assert_array_equal(phases([IMAGES, 0])[0], IMAGES)
    assert not np.allclose(phases([IMAGES.repeat(8, 0), 1])[0], IMAGES.repeat(8, 0))
    model = Model(inputs, layers.Dense(2)(layers.Flatten()(changed)))
    model.compile("sgd", "mse")
    model.fit(IMAGES, np.zeros((2, 2)), epochs=2, verbose=0)
    assert np.isfinite(model.predict(IMAGES)).all()


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_channels_may_come_first(data_format):
    is_first = data_format == "channels_first"
    x = IMAGES.transpose(0, 3, 1, 2) if is_first else IMAGES
    for name, arguments in FIXED[2:12:3]:
        found = getattr(layers, name)(data_format=data_format, **arguments)(x)
        wanted = getattr(layers, name)(**arguments)(IMAGES)
        np.testing.assert_allclose(found.transpose(0, 2, 3, 1) if is_first else found, wanted)


def test_a_file_with_layers_of_images_goes_to_keras_3_and_back(keras, tmp_path):
    inputs = layers.Input((4, 5, 3))
    x = layers.RandomFlip("horizontal", seed=2)(inputs)
    x = layers.RandomZoom((0.1, 0.3), fill_mode="nearest")(layers.RandomRotation(0.1)(x))
    x = layers.RandomContrast(0.2)(
        layers.RandomBrightness(0.1)(layers.RandomTranslation(0, 0.1)(x))
    )
    x = layers.CenterCrop(2, 4)(layers.Resizing(6, 6)(x))
    model = Model(inputs, layers.Dense(2)(layers.Flatten()(layers.Rescaling(0.5)(x))))
    path, back = tmp_path / "model.keras", tmp_path / "back.keras"
    model.save(path)
    theirs = keras.models.load_model(path)
    np.testing.assert_allclose(
        model.predict(IMAGES), np.asarray(theirs(IMAGES, training=False)), rtol=1e-4, atol=1e-5
    )
    theirs.save(back)
    read = load_model(back)
    np.testing.assert_array_equal(read.predict(IMAGES), model.predict(IMAGES))
    for ours, layer in zip(model.layers, read.layers, strict=True):
        assert ours.get_config() == layer.get_config()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: layers.RandomRotation(1.5), ArgumentError, "factor .*, got 1.5"),
        (lambda: layers.RandomContrast(-0.1), ArgumentError, "factor .*, got -0.1"),
        (lambda: layers.RandomFlip("sideways"), ArgumentError, "mode 'sideways'"),
        (lambda: layers.RandomZoom(0.1, fill_mode="edge"), ArgumentError, "fill_mode 'edge'"),
        (lambda: layers.Resizing(0, 3), ArgumentError, "height"),
        (lambda: layers.Resizing(2, 3, "cubic"), ArgumentError, "interpolation 'cubic'"),
        (lambda: layers.Resizing(2, 3)(layers.Input((None, 5, 3))), ShapeError, "known numbers"),
        (lambda: layers.CenterCrop(2, 3)(layers.Input((None, 5, 3))), ShapeError, "known numbers"),
        (lambda: ops.resize(np.zeros((2, 3)), (2, 2)), ShapeError, "rows, columns, channels"),
        (lambda: ops.pad_images(IMAGES, top_padding=1), ArgumentError, "exactly two"),
        (lambda: ops.rgb_to_hsv(IMAGES[..., :2]), ShapeError, "3 channels"),
    ],
)
def test_what_cannot_be_done_with_images_is_said(make, error, words):
    with pytest.raises(error, match=words):
        make()
