"""Augmentations of images against the real Keras 3: formulas, configurations, files."""

import numpy as np
import pytest
from keras_reference import generator, keras

from kerascope import backend as K
from kerascope import layers
from kerascope.errors import ArgumentError, NotYetError
from kerascope.models import Model, load_model

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

IMAGES = np.random.default_rng(3).random((2, 4, 5, 3)).astype("float32")
UNIT = {"value_range": (0.0, 1.0)}
BY_TILES = "ContrastLimitedAdaptiveHistogramEqualization"
ACT_ALWAYS = ("AutoContrast", BY_TILES)

# What draws nothing: a factor between a and a, a chance of 1.
FIXED = [
    ("AutoContrast", UNIT),
    (BY_TILES, UNIT),
    (BY_TILES, {"tile_grid_size": (2, 3), "clip_limit": 40.0, **UNIT}),
    (BY_TILES, {"tile_grid_size": (3, 2), "clip_limit": 0, "value_range": (-1, 1)}),
    ("RandomColorDegeneration", {"factor": (0.7, 0.7), **UNIT}),
    ("RandomGrayscale", {"factor": 1.0}),
    ("RandomInvert", {"factor": (1.0, 1.0), **UNIT}),
    ("RandomPosterization", {"factor": (3, 3), **UNIT}),
    ("RandomPosterization", {"factor": (1, 2), "value_range": (-1, 1)}),
    ("RandomSaturation", {"factor": (0.3, 0.3), **UNIT}),
    ("RandomSaturation", {"factor": (0.6, 0.6), **UNIT}),
    ("RandomSharpness", {"factor": (0.0, 0.0), **UNIT}),
    ("RandomSharpness", {"factor": (0.9, 0.9), **UNIT}),
    ("Solarization", UNIT),
    ("Solarization", {"value_range": (-1, 1)}),
]
# In either direction, so that what comes out is one of two images.
TWO_SIDED = [
    ("RandomHue", {"factor": (0.3, 0.3), **UNIT}),
    ("RandomHue", {"factor": (0.8, 0.8), **UNIT}),
    ("RandomShear", {"x_factor": (0.4, 0.4), "y_factor": (0.2, 0.2)}),
    ("RandomShear", {"x_factor": (0.9, 0.9), "fill_mode": "constant", "fill_value": 0.5}),
]
UNTRAINED = [
    ("AugMix", {}),
    ("AugMix", {"factor": (0.1, 0.2), "all_ops": False}),
    ("RandAugment", {"num_ops": 3}),
    ("RandomColorJitter", {"hue_factor": 0.2}),
    ("RandomColorJitter", {"brightness_factor": (0.1, 0.2), "contrast_factor": 0.3}),
    ("RandomCrop", {"height": 3, "width": 2, "seed": 4}),
    ("RandomElasticTransform", {"scale": 0.5}),
    ("RandomErasing", {"fill_value": 0.5}),
    ("RandomGaussianBlur", {"kernel_size": 5}),
    ("RandomPerspective", {"factor": 0.5}),
]
EVERY_ONE = [
    *FIXED,
    *TWO_SIDED,
    *UNTRAINED,
    ("RandomColorDegeneration", {"factor": 0.2}),
    ("RandomGrayscale", {}),
    ("RandomHue", {"factor": 0.2}),
    ("RandomInvert", {}),
    ("RandomPosterization", {"factor": 4}),
    ("RandomSaturation", {"factor": 0.2}),
    ("RandomSharpness", {"factor": 0.2}),
    ("RandomShear", {"x_factor": 0.2}),
    ("Solarization", {"addition_factor": 0.1, "threshold_factor": (0.2, 0.5)}),
]


def made(number, rows):
    name, arguments = rows[number]
    return [getattr(home, name)(**arguments) for home in (layers, keras.layers)]


@pytest.mark.parametrize("number", range(len(FIXED)))
def test_augmentations_agree_where_nothing_is_left_to_chance(number):
    ours, theirs = made(number, FIXED)
    for x in (IMAGES, IMAGES[0]):
        wanted = np.asarray(theirs(x, training=True))
        assert not np.allclose(wanted, x)
        np.testing.assert_allclose(ours(x, training=True), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("number", range(len(TWO_SIDED)))
def test_augmentations_in_two_directions_give_what_keras_gives_in_one_of_them(number):
    ours, theirs = made(number, TWO_SIDED)
    x = np.repeat(IMAGES[:1], 20, axis=0)
    found = ours(x, training=True)
    wanted = np.asarray(theirs(x, training=True))
    assert len(np.unique(found.reshape(20, -1).round(1), axis=0)) > 1
    for image in found:
        assert np.abs(wanted - image).max((1, 2, 3)).min() < 2e-4


@pytest.mark.parametrize("number", range(len(EVERY_ONE)))
def test_configurations_agree_and_prediction_changes_what_keras_changes(number):
    ours, theirs = made(number, EVERY_ONE)
    wanted = np.asarray(theirs(IMAGES, training=False))
    kept = {} if EVERY_ONE[number][0] in ACT_ALWAYS else {"training": False}
    np.testing.assert_allclose(ours(IMAGES, **kept), wanted, rtol=1e-5, atol=1e-6)
    ignored = ("name", "dtype")
    known = {k: np.array(v).tolist() for k, v in theirs.get_config().items() if k not in ignored}
    found = {k: np.array(v).tolist() for k, v in ours.get_config().items() if k not in ignored}
    assert found == known
    again = type(ours).from_config(ours.get_config())
    assert again.get_config() == ours.get_config()


# Keras 3 cannot open its own file of one RandomShear: it refuses the pair that it wrote.
OF_FILES = [n for n, row in enumerate(EVERY_ONE) if row != ("RandomShear", {"x_factor": 0.2})]


@pytest.mark.parametrize("number", OF_FILES)
def test_a_file_with_an_augmentation_goes_to_keras_3_and_back(keras, number, tmp_path):
    ours, _ = made(number, EVERY_ONE)
    inputs = layers.Input((4, 5, 3))
    model = Model(inputs, layers.Dense(2)(layers.GlobalAveragePooling2D()(ours(inputs))))
    path, back = tmp_path / "model.keras", tmp_path / "back.keras"
    model.save(path)
    theirs = keras.models.load_model(path)
    wanted = theirs.predict(IMAGES, verbose=0)
    np.testing.assert_allclose(model.predict(IMAGES), np.asarray(wanted), rtol=1e-4, atol=1e-5)
    theirs.save(back)
    read = load_model(back)
    np.testing.assert_array_equal(read.predict(IMAGES), model.predict(IMAGES))
    assert [one.get_config() for one in read.layers] == [one.get_config() for one in model.layers]


@pytest.mark.parametrize("number", range(len(UNTRAINED)))
def test_what_is_known_in_prediction_alone_refuses_to_be_trained(number):
    name, arguments = UNTRAINED[number]
    layer = getattr(layers, name)(**arguments)
    for keywords in ({}, {"training": True}):
        with pytest.raises(NotYetError, match=f"^{name} .*in prediction only"):
            layer(IMAGES, **keywords)
    inputs = layers.Input((4, 5, 3))
    model = Model(inputs, layers.Dense(2)(layers.GlobalAveragePooling2D()(layer(inputs))))
    model.compile("sgd", "mse")
    before = [w.copy() for w in model.get_weights()]
    with pytest.raises(NotYetError, match=f"^{name} .*in prediction only"):
        model.fit(IMAGES, np.zeros((2, 2)), verbose=0)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    assert np.isfinite(model.evaluate(IMAGES, np.zeros((2, 2)), verbose=0))


@pytest.mark.parametrize(
    ("name", "arguments"),
    EVERY_ONE[len(FIXED) + len(TWO_SIDED) + len(UNTRAINED) :],
)
def test_a_seed_decides_how_images_are_augmented(name, arguments):
    x = generator(1).random((1, 4, 5, 3)).astype("float32").repeat(16, axis=0) * 255
    one, other = (getattr(layers, name)(seed=3, **arguments) for _ in range(2))
    first, second = one(x), one(x)
    np.testing.assert_array_equal(first, other(x))
    np.testing.assert_array_equal(second, other(x))
    assert not np.array_equal(first, second)
    assert len(np.unique(first.reshape(16, -1).round(3), axis=0)) > 1
    assert first.min() >= -0.01
    assert first.max() <= 255.01
    inputs = layers.Input((4, 5, 3))
    phases = K.function([inputs, K.learning_phase()], [one(inputs)])
    np.testing.assert_array_equal(phases([x, 0])[0], x)
    assert not np.allclose(phases([x, 1])[0], x)


def test_a_channel_of_one_color_keeps_it(keras):
    x = IMAGES.copy()
    x[0, ..., 1] = 0.25
    wanted = np.asarray(keras.layers.AutoContrast(value_range=(0.0, 1.0))(x))
    np.testing.assert_allclose(layers.AutoContrast((0.0, 1.0))(x), wanted, atol=1e-5)
    np.testing.assert_array_equal(wanted[0, ..., 1], x[0, ..., 1])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: layers.RandomHue(1.5), "factor .*, got 1.5"),
        (lambda: layers.RandomGrayscale(-0.5), r"factor .*, got \(-0.5, -0.5\)"),
        (lambda: layers.RandomPosterization(9), "from 1 to 8, got 9"),
        (lambda: layers.RandomHue(0.1, value_range=3), "value_range: .*, got 3"),
        (lambda: layers.AutoContrast(data_format="channels_first"), "channels_last"),
        (lambda: layers.RandomShear(0.1, fill_mode="edge"), "fill_mode 'edge'"),
        (lambda: layers.RandomCrop(0, 3), "height"),
    ],
)
def test_wrong_arguments_of_augmentations_are_named(make, words):
    with pytest.raises(ArgumentError, match=words):
        make()
