"""What pooling, padding, local, noise and activation layers promise beyond the contract."""

import numpy as np
import pytest

from kerascope import backend as K
from kerascope import layers
from kerascope.engine.sequential import Sequential
from kerascope.errors import ArgumentError, DtypeError, ShapeError, SpellingWarning
from kerascope.layers import (
    AlphaDropout,
    Cropping1D,
    Cropping2D,
    Dense,
    Embedding,
    GaussianDropout,
    GaussianNoise,
    GlobalAveragePooling1D,
    GlobalMaxPooling2D,
    Input,
    LeakyReLU,
    LocallyConnected1D,
    LocallyConnected2D,
    MaxPooling1D,
    MaxPooling2D,
    PReLU,
    ReLU,
    Softmax,
    UpSampling2D,
    ZeroPadding2D,
)

rng = np.random.default_rng(2)


def floats(*shape):
    return rng.normal(size=shape).astype("float32")


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (f"{short}Pool{axes}D", f"{long}Pooling{axes}D")
        for short, long in [
            ("Max", "Max"),
            ("Avg", "Average"),
            ("GlobalMax", "GlobalMax"),
            ("GlobalAvg", "GlobalAverage"),
        ]
        for axes in (1, 2, 3)
    ],
)
def test_short_names_are_the_same_classes(short, long):
    assert getattr(layers, short) is getattr(layers, long)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (
            "MaxPooling1D",
            {"pool_length": 3, "stride": 2, "border_mode": "same"},
            {"pool_size": 3, "strides": 2, "padding": "same"},
        ),
        (
            "AveragePooling2D",
            {"border_mode": "same", "dim_ordering": "th"},
            {"padding": "same", "data_format": "channels_first"},
        ),
        ("GlobalMaxPooling3D", {"dim_ordering": "tf"}, {"data_format": "channels_last"}),
        ("UpSampling1D", {"length": 3}, {"size": 3}),
        ("UpSampling3D", {"dim_ordering": "th"}, {"data_format": "channels_first"}),
        ("ZeroPadding2D", {"dim_ordering": "th"}, {"data_format": "channels_first"}),
        ("Cropping3D", {"dim_ordering": "th"}, {"data_format": "channels_first"}),
        (
            "LocallyConnected1D",
            {"nb_filter": 4, "filter_length": 3, "subsample_length": 2, "bias": False},
            {"filters": 4, "kernel_size": (3,), "strides": (2,), "use_bias": False},
        ),
        (
            "LocallyConnected2D",
            {"nb_filter": 4, "nb_row": 3, "nb_col": 2, "border_mode": "valid", "subsample": (1, 2)},
            {"filters": 4, "kernel_size": (3, 2), "strides": (1, 2)},
        ),
        ("GaussianNoise", {"sigma": 0.2}, {"stddev": 0.2}),
        ("GaussianDropout", {"p": 0.2}, {"rate": 0.2}),
        ("AlphaDropout", {"p": 0.2}, {"rate": 0.2}),
    ],
)
def test_keras_1_spellings_are_understood(name, old, new):
    with pytest.warns(SpellingWarning):
        layer = getattr(layers, name)(**old)
    assert {word: getattr(layer, word) for word in new} == new


def test_keras_3_calls_the_slope_of_leaky_relu_otherwise():
    assert LeakyReLU(negative_slope=0.1).alpha == 0.1


def test_keras_1_wrote_the_edges_of_an_image_without_inner_brackets():
    assert ZeroPadding2D((1, 2, 3, 4)).padding == ((1, 2), (3, 4))


# --- shapes ---------------------------------------------------------------------------------------


def test_images_of_unknown_size_keep_it_unknown():
    x = Input((None, None, 3))
    y = GlobalMaxPooling2D()(UpSampling2D()(ZeroPadding2D()(MaxPooling2D()(x))))
    assert MaxPooling2D()(x).shape == (None, None, None, 3)
    assert y.shape == (None, 3)
    compute = K.function([x], [y])
    for size in (2, 5):
        assert compute([floats(2, size, size + 1, 3)])[0].shape == (2, 3)


def test_a_window_pools_each_channel_by_itself():
    x = floats(1, 2, 2, 3)
    np.testing.assert_array_equal(MaxPooling2D()(x)[0, 0, 0], x.max(axis=(0, 1, 2)))


def test_cropping_takes_back_what_padding_added():
    x = floats(2, 3, 4, 1)
    edges = ((1, 2), (3, 0))
    np.testing.assert_array_equal(Cropping2D(edges)(ZeroPadding2D(edges)(x)), x)


def test_a_layer_can_be_called_on_several_sizes():
    layer = MaxPooling2D()
    assert [layer(Input((n, n, 1))).shape[1] for n in (4, 7)] == [2, 3]


# --- what beginners meet --------------------------------------------------------------------------

IMAGE, GREY = (8, 8, 3), (8, 8)


@pytest.mark.parametrize(
    ("layer", "shape", "message"),
    [
        (MaxPooling2D, GREY, r"MaxPooling2D 'max.*': .* got 3 .*x\[\.\.\., None\]"),
        (GlobalMaxPooling2D, GREY, r"with 4 axes \(batch, rows, columns, channels\)"),
        (UpSampling2D, (2, *IMAGE), "got 5 .* Reshape"),
        (MaxPooling1D, IMAGE, r"with 3 axes \(batch, steps, channels\)"),
        (lambda: ZeroPadding2D(data_format="channels_first"), GREY, r"x\[:, None\]"),
        (lambda: MaxPooling2D(9), IMAGE, "'max.*': expected a window of at most 8 .* got 9"),
        (lambda: Cropping2D(4), IMAGE, r"'cropping.*': .* less than the size 8 .* got 4 \+ 4"),
        (lambda: LocallyConnected2D(2, 9), IMAGE, "'locally.*': expected a window"),
        (
            lambda: LocallyConnected2D(2, 3),
            GREY,
            r"rows, columns, channels\), got .*x\[\.\.\., None\]",
        ),
        (MaxPooling2D, (8,), r"A single sample needs axes for batch and channels"),
        (lambda: LocallyConnected2D(2, 3), (None, 8, 3), "each position has its own weights"),
        (lambda: PReLU(), (None, 3), "shared_axes"),
        (lambda: Softmax(axis=3), (3,), "got 3"),
    ],
)
def test_an_input_that_does_not_fit_is_refused_and_changes_nothing(layer, shape, message):
    made = layer()
    with pytest.raises((ShapeError, ArgumentError), match=message):
        made(Input(shape))
    assert made.inbound_nodes == []
    assert made.weights == []


def test_an_image_that_shrinks_away_names_the_layer_that_is_too_much():
    model = Sequential([MaxPooling2D(input_shape=(4, 4, 1)), MaxPooling2D()])
    with pytest.raises(ShapeError, match="MaxPooling2D 'last': expected a window"):
        model.add(MaxPooling2D(name="last"))
    assert len(model.layers) == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MaxPooling2D(0), "pool_size: expected .*got 0"),
        (lambda: MaxPooling2D((2, 2, 2)), "pool_size: expected"),
        (lambda: MaxPooling2D(strides=-1), "strides: expected"),
        (lambda: MaxPooling2D(padding="full"), "'valid', 'same'"),
        (lambda: MaxPooling2D(data_format="last"), "channels_last"),
        (lambda: ZeroPadding2D((1, 2, 3)), r"padding: expected .* pairs .*got \(1, 2, 3\)"),
        (lambda: ZeroPadding2D(-1), "padding: expected a whole number >= 0"),
        (lambda: Cropping1D("a"), "cropping: expected a whole number >= 0 or a pair"),
        (lambda: UpSampling2D(0), "size: expected"),
        (lambda: UpSampling2D(interpolation="bicubic"), "'nearest' or 'bilinear'"),
        (lambda: LocallyConnected1D(0, 3), "filters: expected"),
        (lambda: LocallyConnected1D(2, 3, padding="same"), "unknown padding 'same'"),
        (lambda: GaussianNoise(-0.1), "stddev: expected a number >= 0"),
        (lambda: GaussianNoise("a"), "stddev: expected a number >= 0"),
        (lambda: GaussianDropout(1.0), "rate: expected"),
        (lambda: AlphaDropout(-0.1), "rate: expected"),
        (lambda: LeakyReLU(None), "alpha: expected a number"),
        (lambda: ReLU(negative_slope=-1), "negative_slope: expected a number >= 0"),
        (lambda: ReLU(max_value=-1), "max_value: expected a number >= 0"),
    ],
)
def test_an_argument_that_makes_no_sense_is_refused(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_a_misspelt_argument_is_guessed():
    with pytest.raises(DtypeError, match="Did you mean 'pool_size'"):
        MaxPooling2D(pool_szie=3)


# --- masks ----------------------------------------------------------------------------------------


def test_an_average_over_words_leaves_out_the_padding():
    words = np.array([[1, 2, 0, 0], [3, 0, 0, 0]])
    embedding = Embedding(4, 2, mask_zero=True)
    x = Input((4,), dtype="int32")
    output = GlobalAveragePooling1D()(embedding(x))
    assert output._keras_history.node.output_masks == [None]
    result = K.function([x], [output])([words])[0]
    table = embedding.get_weights()[0]
    np.testing.assert_allclose(result, [(table[1] + table[2]) / 2, table[3]], rtol=1e-6)


def test_the_mask_counts_in_either_layout():
    x, mask = floats(2, 3, 4), np.array([[True, False, True], [False, True, False]])
    last = GlobalAveragePooling1D(keepdims=True)(x, mask=mask)
    first = GlobalAveragePooling1D("channels_first")(x.transpose(0, 2, 1), mask=mask)
    np.testing.assert_allclose(last[:, 0], first, rtol=1e-6)
    np.testing.assert_allclose(first[1], x[1, 1], rtol=1e-6)


# --- weights of local connections -----------------------------------------------------------------


def test_local_connections_have_weights_for_each_window():
    layer = LocallyConnected2D(3, (2, 3), strides=(2, 1), name="local")
    output = layer(Input((6, 5, 4)))
    assert output.shape == (None, 3, 3, 3)
    shapes = {w.name: w.shape for w in layer.weights}
    assert shapes == {"local/kernel": (9, 24, 3), "local/bias": (3, 3, 3)}
    layer = LocallyConnected1D(3, 2, name="steps")
    layer(Input((6, 4)))
    shapes = {w.name: w.shape for w in layer.weights}
    assert shapes == {"steps/kernel": (5, 8, 3), "steps/bias": (5, 3)}


def test_equal_kernels_everywhere_make_a_window_sum():
    layer = LocallyConnected2D(1, 2, kernel_initializer="ones")
    x = floats(2, 3, 4, 2)
    sums = [[x[:, r : r + 2, c : c + 2].sum(axis=(1, 2, 3)) for c in range(3)] for r in range(2)]
    np.testing.assert_allclose(layer(x)[..., 0], np.moveaxis(sums, -1, 0), rtol=1e-4, atol=1e-5)


# --- noise ----------------------------------------------------------------------------------------

NOISE = [
    lambda **seed: GaussianNoise(0.5, **seed),
    lambda **seed: GaussianDropout(0.5, **seed),
    lambda **seed: AlphaDropout(0.5, **seed),
]


@pytest.mark.parametrize("make", NOISE)
def test_noise_acts_in_training_only_and_differs_from_call_to_call(make):
    x = Input((50,))
    layer = make()
    compute = K.function([x, K.learning_phase()], [layer(x)])
    data = floats(4, 50)
    np.testing.assert_array_equal(compute([data, 0])[0], data)
    first, second = compute([data, 1])[0], compute([data, 1])[0]
    assert (first != data).any()
    assert (first != second).any()


@pytest.mark.parametrize("make", NOISE)
def test_a_seed_makes_noise_repeatable(make):
    data = floats(4, 50)
    results = [make(seed=3)(data, training=True) for _ in range(2)]
    np.testing.assert_array_equal(*results)
    assert (make(seed=4)(data, training=True) != results[0]).any()


@pytest.mark.parametrize("make", NOISE)
def test_a_model_with_noise_trains_and_predicts_without_it(make):
    model = Sequential([Dense(4, input_shape=(3,)), make(seed=1), Dense(1)])
    model.compile("sgd", "mse")
    x, y = floats(8, 3), floats(8, 1)
    model.fit(x, y, epochs=2, verbose=0)
    np.testing.assert_array_equal(model.predict(x), model.predict(x))


def test_alpha_dropout_keeps_mean_and_variance():
    x = floats(2000, 100)
    for rate in (0.1, 0.5):
        y = AlphaDropout(rate, seed=1)(x, training=True)
        assert abs(y.mean()) < 0.02
        assert y.var() == pytest.approx(1, abs=0.03)


def test_alpha_dropout_drops_along_the_axes_of_its_noise_shape():
    y = AlphaDropout(0.5, noise_shape=(None, 1, None), seed=1)(
        np.zeros((2, 5, 50), "float32"), training=True
    )
    assert (y == y[:, :1]).all()
    assert len(np.unique(y)) == 2


# --- activations ----------------------------------------------------------------------------------


def test_prelu_learns_its_slopes():
    layer = PReLU(name="slope")
    model = Sequential([layer])
    model.build((None, 2))
    model.compile("sgd", "mse")
    x = -np.abs(floats(64, 2)) - 0.5
    model.fit(x, 0.25 * x, batch_size=4, epochs=40, verbose=0)
    assert [w.name for w in layer.weights] == ["slope/alpha"]
    np.testing.assert_allclose(layer.get_weights()[0], [0.25, 0.25], atol=0.02)


def test_prelu_shares_along_axes_of_unknown_size():
    layer = PReLU("ones", shared_axes=[1, 2])
    output = layer(Input((None, None, 3)))
    assert output.shape == (None, None, None, 3)
    assert layer.alpha.shape == (1, 1, 3)


def test_a_single_axis_can_be_shared_without_a_list():
    assert PReLU(shared_axes=1).shared_axes == [1]
