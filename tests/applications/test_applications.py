"""The architectures: as large as published, and the same numbers as Keras 3 with its weights."""

import importlib
import re

import numpy as np
import pytest
from keras_reference import answer, real_keras

from kerascope import Input, applications
from kerascope import backend as K
from kerascope.applications import imagenet_utils
from kerascope.cli.commands import main
from kerascope.compat import keras_imports
from kerascope.errors import ArgumentError, ShapeError, UnavailableError

# Parameters with 1,000 classes, as Keras's documentation lists them; layers, counted in Keras 3.
SIZES = {
    "VGG16": (138_357_544, 23),
    "VGG19": (143_667_240, 26),
    "ResNet50": (25_636_712, 177),
    "ResNet101": (44_707_176, 347),
    "ResNet152": (60_419_944, 517),
    "InceptionV3": (23_851_784, 313),
    "Xception": (22_910_480, 134),
    "MobileNet": (4_253_864, 92),
    "MobileNetV2": (3_538_984, 156),
    "DenseNet121": (8_062_504, 429),
    "DenseNet169": (14_307_880, 597),
    "DenseNet201": (20_242_984, 709),
}
SMALLEST = {"InceptionV3": 75, "Xception": 71}


def zeros(shape, dtype=None):
    return np.zeros(shape, dtype or "float32")


@pytest.fixture
def no_drawing(monkeypatch):
    """Let weights begin as zeros: drawing a hundred million numbers takes longer than the graph."""
    from kerascope.initializers import VarianceScaling

    monkeypatch.setattr(VarianceScaling, "__call__", lambda self, shape, dtype=None: zeros(shape))


DEEPER = {
    "VGG16",
    "VGG19",
    "ResNet101",
    "ResNet152",
    "DenseNet169",
    "DenseNet201",
}  # than another of its kind


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.slow) if one in DEEPER else one for one in SIZES],
)
def test_architecture_has_the_published_size(name, no_drawing):
    model = getattr(applications, name)(weights=None)
    parameters, layers = SIZES[name]
    assert model.count_params() == parameters
    assert len(model.layers) == layers
    assert model.output_shape == (None, 1000)
    del model


@pytest.mark.parametrize("name", [pytest.param("ResNet50", marks=pytest.mark.slow), "MobileNetV2"])
def test_channels_first_gives_the_same_features(name):
    size = SMALLEST.get(name, 32)
    x = np.random.default_rng(0).normal(size=(1, size, size, 3)).astype("float32")
    last = getattr(applications, name)(weights=None, include_top=False, input_shape=(size, size, 3))
    K.set_image_data_format("channels_first")
    try:
        first = getattr(applications, name)(
            weights=None, include_top=False, input_shape=(3, size, size)
        )
    finally:
        K.set_image_data_format("channels_last")
    first.set_weights(last.get_weights())
    expected = last.predict(x).transpose(0, 3, 1, 2)
    np.testing.assert_allclose(
        first.predict(x.transpose(0, 3, 1, 2)), expected, rtol=1e-3, atol=1e-4
    )


def test_images_of_any_size_without_the_classifier():
    model = applications.MobileNet(weights=None, include_top=False, pooling="avg", alpha=0.25)
    for size in (32, 50):
        assert model.predict(np.zeros((1, size, size, 3))).shape == (1, 256)


def test_an_input_tensor_begins_the_graph():
    x = Input((64, 64, 3), name="photo")
    model = applications.MobileNetV2(weights=None, input_tensor=x, classes=7)
    assert model.inputs == [x]
    assert model.output_shape == (None, 7)


def test_weights_are_read_from_a_file(tmp_path):
    small = {"include_top": False, "input_shape": (32, 32, 3), "alpha": 0.25}
    model = applications.MobileNet(weights=None, **small)
    path = str(tmp_path / "weights.h5")
    model.save_weights(path)
    twin = applications.MobileNet(weights=path, **small)
    for a, b in zip(model.get_weights(), twin.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", SIZES)
def test_trained_weights_are_refused_before_anything_is_built(name):
    for arguments in ({}, {"weights": "imagenet"}):  # what nobody says is what Keras means by it
        with pytest.raises(UnavailableError, match="weights='imagenet', the default as in Keras,"):
            getattr(applications, name)(**arguments)


def test_a_picture_of_an_architecture_needs_no_weights(capsys):
    assert main(["summary", "kerascope.applications:MobileNet"]) == 0
    assert "4,253,864" in capsys.readouterr().out


def test_images_that_are_none_or_too_small():
    with pytest.raises(ShapeError, match=r"resnet50: expected a height .*got \(28, 28\)"):
        applications.ResNet50(weights=None, input_shape=(28, 28))
    with pytest.raises(ShapeError, match="at least 75"):
        applications.InceptionV3(weights=None, input_shape=(64, 64, 3))
    with pytest.raises(ShapeError, match="expected known sizes"):
        applications.VGG16(weights=None, input_shape=(None, None, 3))
    with pytest.raises(
        ShapeError,
        match=r"vgg16: expected known sizes .*got images of shape \(None, None, 3\)",
    ):
        applications.VGG16(weights=None, input_tensor=Input((None, None, 3)))
    with pytest.raises(ArgumentError, match="expected None, 'avg' or 'max', got 'mean'"):
        applications.MobileNet(
            weights=None, include_top=False, input_shape=(32, 32, 3), pooling="mean"
        )


# --- the real Keras 3 -----------------------------------------------------------------------------


def created(layers):
    """Return layers with weights in the order in which they were made: by class and number."""

    def key(layer):
        match = re.fullmatch(r"(.*?)_?(\d+)", layer.name)
        unnamed = re.fullmatch(r"(conv2d|batch_normalization)(_\d+)?", layer.name)
        return (unnamed[1], int(match[2]) if match else 0) if unnamed else (layer.name, 0)

    return sorted((layer for layer in layers if layer.weights), key=key)


# A hundred thousand draws from a normal distribution. Weights are cut from them, in Keras 3 and
# here, so that none of tens of millions of weights has to be stored.
DRAWN = np.random.default_rng(0).normal(size=99_991).astype("float32")


def parts_of(layers):
    """Return the name and shape of each weight, by layer, in the order of `created`."""
    return [
        [
            (w.name.rpartition("/")[2].removeprefix("depthwise_"), tuple(map(int, w.shape)))
            for w in layer.weights
        ]
        for layer in created(layers)
    ]


def give_weights(layers):
    """Give every layer numbers with which a signal neither dies nor explodes on its way."""
    for number, (layer, parts) in enumerate(zip(created(layers), parts_of(layers), strict=True)):
        layer.set_weights([_likely(number, name, shape) for name, shape in parts])


def _likely(number, name, shape):
    drawn = np.resize(np.roll(DRAWN, 7919 * number), shape)
    if name in ("gamma", "moving_variance"):
        return 1 + 0.2 * np.sin(3 * drawn)
    if len(shape) == 1:
        return 0.1 * drawn
    is_depthwise = shape[-1] == 1
    fan_in = np.prod(shape[:-2] if is_depthwise else shape[:-1])
    return drawn * np.sqrt(2 / fan_in)


def pictures(shape):
    return np.random.default_rng(1).normal(size=(2, *shape)).astype("float32")


def results_of(home, name, arguments):
    """Return what an architecture with such weights predicts in Keras 3, and its weights."""
    model = getattr(home, name)(weights=None, **arguments)
    give_weights(model.layers)
    return np.asarray(model(pictures(arguments["input_shape"]))), parts_of(model.layers)


def agree(name, arguments, expected, parts):
    ours = getattr(applications, name)(weights=None, **arguments)
    assert parts_of(ours.layers) == parts
    give_weights(ours.layers)
    assert expected.std() > 1e-3
    found = ours.predict(pictures(arguments["input_shape"]))
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "size", "options"),
    [
        ("ResNet50", (32, 32), {}),
        pytest.param("InceptionV3", (75, 75), {}, marks=pytest.mark.slow),
        ("MobileNet", (32, 32), {"alpha": 0.5}),
        ("MobileNetV2", (33, 32), {"alpha": 0.35}),
        pytest.param("DenseNet121", (32, 32), {}, marks=pytest.mark.slow),
    ],
)
def test_predictions_are_those_of_keras_3_with_its_weights(keras, name, size, options):
    arguments = {"input_shape": (*size, 3), "classes": 10, **options}
    agree(name, arguments, *answer(results_of, keras.applications, name, arguments))


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size", "options"),
    [
        ("ResNet50", (64, 64), {}),
        ("InceptionV3", (96, 96), {}),
        ("MobileNet", (64, 64), {"alpha": 0.5}),
        ("MobileNetV2", (65, 64), {"alpha": 0.35}),
        ("DenseNet121", (64, 64), {}),
    ],
)
def test_predictions_for_larger_images_are_those_of_keras_3(name, size, options):
    arguments = {"input_shape": (*size, 3), "classes": 10, **options}
    agree(name, arguments, *results_of(real_keras().applications, name, arguments))


# --- images ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["caffe", "tf", "torch"])
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_images_are_prepared_as_keras_3_prepares_them(keras, mode, data_format):
    shape = (2, 4, 5, 3) if data_format == "channels_last" else (2, 3, 4, 5)
    x = np.random.default_rng(0).uniform(0, 255, shape).astype("float32")
    real = keras.applications.imagenet_utils.preprocess_input(x.copy(), data_format, mode)
    before = x.copy()
    ours = imagenet_utils.preprocess_input(x.copy(), data_format, mode)
    np.testing.assert_allclose(ours, real, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(x, before)
    symbolic = imagenet_utils.preprocess_input(K.constant(x), data_format, mode)
    np.testing.assert_allclose(K.eval(symbolic), real, rtol=1e-5, atol=1e-4)


def test_class_names_are_refused_with_a_remedy():
    with pytest.raises(UnavailableError, match=r"np\.argsort\(preds\)"):
        applications.imagenet_utils.decode_predictions(np.zeros((1, 1000)))


def test_a_layout_that_is_none_is_refused_not_taken_for_the_other():
    with pytest.raises(ArgumentError, match="got 'channel_first'"):
        imagenet_utils.preprocess_input(np.ones((3, 8, 3)), data_format="channel_first")


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("vgg16", "VGG16 preprocess_input decode_predictions"),
        ("vgg19", "VGG19 preprocess_input"),
        ("resnet50", "ResNet50 preprocess_input decode_predictions"),
        ("mobilenet_v2", "MobileNetV2 preprocess_input"),
        ("mobilenetv2", "MobileNetV2"),
        ("inception_v3", "InceptionV3 preprocess_input"),
    ],
)
def test_a_script_finds_the_architectures_in_kerass_own_modules(module, names):
    with keras_imports():
        found = importlib.import_module(f"keras.applications.{module}")
    assert all(callable(getattr(found, name)) for name in names.split())
