"""Layers of convolution as a user meets them: first mistakes, Keras 1's words, a net."""

import numpy as np
import pytest

from kerascope import backend as K
from kerascope import layers
from kerascope.errors import SpellingWarning
from kerascope.layers import (
    AtrousConvolution1D,
    AtrousConvolution2D,
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Convolution1D,
    Convolution2D,
    Convolution3D,
    Deconvolution2D,
    Dense,
    DepthwiseConv2D,
    GlobalMaxPooling2D,
    Input,
    SeparableConv2D,
    SeparableConvolution2D,
)
from kerascope.models import Sequential
from kerascope.optimizers import Adam
from kerascope.settings import config
from kerascope.utils import set_random_seed

IMAGES = np.ones((5, 28, 28, 1))


# --- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layer", "shapes"),
    [
        (Conv2D(4, (3, 2)), {"kernel": (3, 2, 6, 4), "bias": (4,)}),
        (Conv2D(4, 3, groups=2, use_bias=False), {"kernel": (3, 3, 3, 4)}),
        (Conv2DTranspose(4, (3, 2)), {"kernel": (3, 2, 4, 6), "bias": (4,)}),
        (
            DepthwiseConv2D(3, depth_multiplier=2),
            {"depthwise_kernel": (3, 3, 6, 2), "bias": (12,)},
        ),
        (
            SeparableConv2D(4, 3, depth_multiplier=2),
            {"depthwise_kernel": (3, 3, 6, 2), "pointwise_kernel": (1, 1, 12, 4), "bias": (4,)},
        ),
    ],
)
def test_weights_are_called_and_shaped_as_in_keras(layer, shapes):
    layer(Input((8, 8, 6)))
    assert {w.name.split("/")[-1]: w.shape for w in layer.weights} == shapes
    assert all(w is getattr(layer, name) for name, w in zip(shapes, layer.weights, strict=True))


def test_kernel_has_the_same_shape_in_either_layout():
    first, last = Conv2D(4, 3, data_format="channels_first"), Conv2D(4, 3)
    first(Input((6, 8, 9)))
    last(Input((8, 9, 6)))
    assert first.kernel.shape == last.kernel.shape == (3, 3, 6, 4)
    assert (first.output_shape, last.output_shape) == ((None, 4, 6, 7), (None, 6, 7, 4))


def test_sizes_that_only_a_run_tells():
    x = Input((None, None, 3))
    assert Conv2D(4, 3)(x).shape == (None, None, None, 4)
    y = Conv2DTranspose(2, 3, strides=2, padding="same")(x)
    assert y.shape == (None, None, None, 2)
    assert K.function([x], y)([np.ones((1, 4, 5, 3))]).shape == (1, 8, 10, 2)


def test_causal_convolution_sees_nothing_later():
    x = Input((9, 1))
    y = Conv1D(2, 3, padding="causal", dilation_rate=2)(x)
    g = K.function([x], K.gradients(K.sum(y[:, 4]), x))([np.ones((1, 9, 1))])[0]
    assert np.flatnonzero(g).tolist() == [0, 2, 4]


# --- first mistakes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: Conv2D(32, 3)(np.ones((5, 28, 28))),
            r"an input with 4 axes \(batch, rows, columns, channels\), got 3 \(5, 28, 28\)\. "
            r"If the channel axis is missing, give it one of size 1: x\[\.\.\., None\]",
        ),
        (
            lambda: Conv2D(32, 3, data_format="channels_first")(np.ones((5, 28, 28))),
            r"with 4 axes \(batch, channels, rows, columns\).*x\[:, None\]",
        ),
        (lambda: Conv2D(32, 3)(np.ones((28, 28))), r"batch and channels: x\[None, \.\.\., None\]"),
        (lambda: Conv2D(32, 3)(np.ones((1, 1, 8, 8, 3))), r"got 5 .*Reshape\(\) it"),
        (
            lambda: Conv2D(32, 3)(np.ones((5, 2, 2, 1))),
            r"a kernel of size \(3, 3\) is larger than the input \(5, 2, 2, 1\)",
        ),
        (lambda: Conv2D(32, 3)(Input((8, 8, None))), "expected a known number of channels"),
        (lambda: Conv2D("32", 3), "filters: expected a whole number above 0, got '32'"),
        (lambda: Conv2D(32, "3"), "kernel_size: expected a whole number above 0 or 2 of them"),
        (lambda: Conv2D(32, (3, 3, 3)), r"kernel_size: .*got \(3, 3, 3\)"),
        (lambda: Conv1D(32, 0), "kernel_size: expected a whole number above 0, got 0"),
        (lambda: Conv2D(32, 3, padding="smae"), "unknown padding 'smae'. Use one of 'valid', 'sam"),
        (lambda: Conv2D(32, 3, padding="causal"), "unknown padding 'causal'. Use one of"),
        (lambda: DepthwiseConv2D(3, padding="full"), "unknown padding 'full'. Use one of"),
        (lambda: Conv2D(32, 3, data_format="last"), "expected 'channels_last' or 'channels_first'"),
        (lambda: Conv2D(3, 3, groups=2), "3 filters cannot be split into 2 groups"),
        (lambda: Conv2D(4, 3, groups=2)(np.ones((1, 8, 8, 3))), "3 channels cannot be split into"),
        (lambda: Conv2DTranspose(4, 3, strides=2, output_padding=2), r"below the strides \(2, 2\)"),
        (lambda: Conv2DTranspose(4, 3, output_padding=0.5), "output_padding: expected a whole nu"),
        (
            lambda: Conv2DTranspose(4, 2, strides=2, padding="same", output_padding=0),
            "Use output_padding 1 on axis 0",
        ),
        (
            lambda: Conv2DTranspose(4, 2, padding="same", output_padding=0),
            r"an output of that size back to the input\. Use None\.",
        ),
        (lambda: Conv2DTranspose(4, 3, groups=2), "expected groups 1, got 2"),
        (lambda: Conv2D(32, float("inf")), "kernel_size: expected a whole number .*got inf"),
        (
            lambda: Conv2D(32, 3, data_format="channels_first")(np.ones((5, 28, 28))),
            r"Reshape\(\(1, 28, 28\)\)",
        ),
    ],
)
def test_a_first_mistake_is_answered(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("padding", ["valid", "causal"])
def test_strides_of_a_dilated_convolution_take_every_second_place(padding):
    whole, thinned = (Conv1D(3, 2, strides=n, dilation_rate=3, padding=padding) for n in (1, 2))
    x = np.random.default_rng(0).normal(size=(2, 11, 4))
    expected = whole(x)[:, ::2]
    thinned.build((None, 11, 4))
    thinned.set_weights(whole.get_weights())
    np.testing.assert_allclose(thinned(x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [Conv1D, Conv2D, Conv3D, Conv2DTranspose])
def test_strides_and_dilation_above_one_are_refused_in_keras_3(monkeypatch, kind):
    monkeypatch.setattr(config, "dialect", "3")
    with pytest.raises(ValueError, match=r"strides or dilation_rate to be 1, got strides"):
        kind(32, 3, strides=2, dilation_rate=2)
    assert SeparableConv2D(32, 3, strides=2, dilation_rate=2).strides == (2, 2)


def test_a_misspelt_keyword_is_answered():
    with pytest.raises(TypeError, match="Did you mean 'kernel_size'"):
        Conv2D(32, 3, kernel_sise=3)


def test_an_image_of_other_channels_is_refused_after_the_first():
    layer = Conv2D(2, 3)
    layer(np.ones((1, 8, 8, 3)))
    with pytest.raises(ValueError, match="with size 3 on axis 3, as at the first call"):
        layer(np.ones((1, 8, 8, 1)))
    with pytest.raises(ValueError, match="is larger than the input"):
        layer(np.ones((1, 2, 8, 3)))


def test_a_failed_first_call_leaves_the_layer_new():
    layer = Conv2D(2, 3)
    with pytest.raises(ValueError, match="axes"):
        layer(np.ones((5, 28, 28)))
    assert not layer.built
    assert layer.weights == []
    assert layer(IMAGES).shape == (5, 26, 26, 2)


# --- Keras 1 --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (lambda: Convolution2D(32, 3, 5), {"kernel_size": (3, 5), "strides": (1, 1)}),
        (lambda: Convolution2D(32, nb_row=3, nb_col=5), {"kernel_size": (3, 5)}),
        (lambda: Convolution2D(nb_filter=32, nb_row=3, nb_col=5), {"filters": 32}),
        (lambda: Convolution2D(32, 3, nb_col=5), {"kernel_size": (3, 5)}),
        (
            lambda: Convolution2D(32, 3, 3, border_mode="same", subsample=(2, 2)),
            {"padding": "same", "strides": (2, 2), "kernel_size": (3, 3)},
        ),
        (lambda: Convolution2D(32, 3, 3, dim_ordering="th"), {"data_format": "channels_first"}),
        (lambda: Convolution2D(32, 3, 3, bias=False), {"use_bias": False}),
        (lambda: AtrousConvolution2D(32, 3, 3, atrous_rate=(2, 2)), {"dilation_rate": (2, 2)}),
        (
            lambda: Convolution1D(nb_filter=4, filter_length=3, subsample_length=2),
            {"filters": 4, "kernel_size": (3,), "strides": (2,)},
        ),
        (lambda: AtrousConvolution1D(4, 3, atrous_rate=2), {"dilation_rate": (2,)}),
        (lambda: Convolution3D(4, 3, 2, 1), {"kernel_size": (3, 2, 1)}),
        (
            lambda: Convolution3D(4, kernel_dim1=3, kernel_dim2=2, kernel_dim3=1),
            {"kernel_size": (3, 2, 1)},
        ),
        (
            lambda: Deconvolution2D(3, 3, 3, (None, 28, 28, 3), subsample=(2, 2)),
            {"filters": 3, "kernel_size": (3, 3), "strides": (2, 2)},
        ),
        (
            lambda: Deconvolution2D(3, 3, 3, output_shape=(None, 28, 28, 3)),
            {"kernel_size": (3, 3)},
        ),
        (lambda: SeparableConvolution2D(3, 3, 3), {"kernel_size": (3, 3)}),
    ],
)
def test_the_words_of_keras_1_are_understood(old, new):
    with pytest.warns(SpellingWarning):
        layer = old()
    assert {name: getattr(layer, name) for name in new} == new
    twin = type(layer).from_config(layer.get_config())
    assert twin.get_config() == layer.get_config()


def test_initializer_of_a_separable_convolution_in_keras_1_is_that_of_the_first_step():
    with pytest.warns(SpellingWarning, match="depthwise_initializer"):
        layer = SeparableConv2D(3, (3, 3), init="zeros")
    assert type(layer.depthwise_initializer).__name__ == "Zeros"


def test_a_configuration_of_keras_1_is_read():
    old = {"class_name": "Convolution2D", "config": {"nb_filter": 8, "nb_row": 3, "nb_col": 3}}
    with pytest.warns(SpellingWarning):
        layer = layers.deserialize(old)
    assert (type(layer), layer.filters, layer.kernel_size) == (Conv2D, 8, (3, 3))


def test_two_numbers_by_place_mean_strides_in_keras_3():
    config.dialect, before = "3", config.dialect
    try:
        layer = Conv2D(32, 3, 2)
    finally:
        config.dialect = before
    assert (layer.kernel_size, layer.strides) == ((3, 3), (2, 2))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Conv2D(32, 3, 3, padding="same"), r"may mean a kernel of sizes \(3, 3\), as in"),
        (lambda: Conv2D(32, 3, 2, strides=2), r"Give kernel_size=\(3, 2\), or strides=2, by name"),
        (lambda: Conv2D(32, nb_row=3), "expected nb_row and nb_col, or kernel_size alone, got nb"),
        (lambda: Conv2D(32, nb_row=3, nb_col=3, kernel_size=3), "nb_col and kernel_size"),
    ],
)
def test_what_may_mean_two_things_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_todays_calls_do_not_warn():
    Conv2D(32, 3)
    Conv2D(32, (3, 3), (2, 2), "same")
    Conv3D(32, 3, 2)
    Conv1D(32, 3, 2)
    assert Conv2D(32, 3, 2, padding="same").strides == (2, 2)
    assert Conv2DTranspose(32, 4, 2, use_bias=False).kernel_size == (4, 4)


def test_pooling_and_padding_are_found_here_as_in_keras():
    for name in ("MaxPooling2D", "AveragePooling1D", "ZeroPadding2D", "UpSampling2D", "Cropping1D"):
        assert getattr(layers.convolutional, name) is getattr(layers, name)


# --- a net ----------------------------------------------------------------------------------------


def test_a_small_net_learns_where_the_line_is():
    """Images with a horizontal or a vertical line: a Dense on pixels cannot tell them apart."""
    rng = np.random.default_rng(0)
    images, labels = np.zeros((256, 8, 8, 1), "float32"), rng.integers(0, 2, 256)
    for image, label, place in zip(images, labels, rng.integers(0, 8, 256), strict=True):
        image[place if label else slice(None), slice(None) if label else place] = 1
    set_random_seed(1)
    model = Sequential(
        [
            Conv2D(8, 3, activation="relu", input_shape=(8, 8, 1)),
            GlobalMaxPooling2D(),
            Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(Adam(0.02), "binary_crossentropy", metrics=["accuracy"])
    model.fit(images[:200], labels[:200], epochs=30, batch_size=20, verbose=0)
    assert model.evaluate(images[200:], labels[200:], verbose=0)[1] > 0.95
