"""SpectralNormalization, ReversibleEmbedding, Pipeline and MelSpectrogram against Keras 3."""

import numpy as np
import pytest
from keras_reference import generator, keras

from kerascope import layers
from kerascope.errors import ArgumentError, NotYetError
from kerascope.models import Model, Sequential, load_model

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

rng = np.random.default_rng(5)
IMAGES = rng.random((2, 4, 5, 3)).astype("float32")
WORDS = rng.integers(0, 6, (3, 4))
SOUND = rng.normal(size=(2, 400)).astype("float32")
ROWS = rng.normal(size=(3, 4)).astype("float32")


def normalized(home):
    x = inputs = home.layers.Input((4, 5, 3))
    x = home.layers.SpectralNormalization(home.layers.Conv2D(4, 2), power_iterations=2)(x)
    return inputs, home.layers.SpectralNormalization(home.layers.Dense(3))(x)


def normalized_table(home):
    inputs = home.layers.Input((4,))
    return inputs, home.layers.SpectralNormalization(home.layers.Embedding(6, 3))(inputs)


def there_and_back(home, **options):
    inputs = home.layers.Input((4,))
    table = home.layers.ReversibleEmbedding(6, 3, **options)
    rows = home.layers.Dense(3, activation="tanh")(table(inputs))
    return inputs, table(rows, reverse=True)


def tied(home):
    return there_and_back(home)


def untied(home):
    return there_and_back(home, tie_weights=False, logit_soft_cap=2.0, mask_zero=True)


def masked(home):
    inputs = home.layers.Input((4,))
    rows = home.layers.ReversibleEmbedding(6, 3, mask_zero=True)(inputs)
    return inputs, home.layers.SimpleRNN(2)(home.layers.Rescaling(0.1)(rows))


def pipeline(home):
    inputs = home.layers.Input((4, 5, 3))
    kinds = home.layers
    first = [kinds.Rescaling(2.0), kinds.RandomFlip(), kinds.CenterCrop(3, 2)]
    inner = kinds.Pipeline([kinds.Dense(4), kinds.BatchNormalization(), kinds.Dense(2)])
    return inputs, inner(kinds.Pipeline(first)(inputs))


def mel(home, **options):
    inputs = home.layers.Input((400,))
    return inputs, home.layers.MelSpectrogram(64, 16, **options)(inputs)


def decibels(home):
    return mel(home, num_mel_bins=8)


def powers(home):
    options = {"sequence_length": 50, "window": "hamming", "num_mel_bins": 6, "max_freq": 4000}
    return mel(home, power_to_db=False, mag_exp=1.0, min_freq=100, **options)


def loud(home):
    return mel(home, num_mel_bins=5, top_db=6.0, ref_power=2.0, sampling_rate=8000)


MODELS = [
    (normalized, IMAGES),
    (normalized_table, WORDS),
    (tied, WORDS),
    (untied, WORDS),
    (masked, WORDS),
    (pipeline, IMAGES),
    (decibels, SOUND),
    (powers, SOUND),
    (loud, SOUND),
]


class Ours:
    layers = layers


def shaken(weights):
    """Return numbers for weights: those of a variance stay positive."""
    return [
        generator(n).uniform(0.2, 1.0, w.shape).astype("float32") for n, w in enumerate(weights)
    ]


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_what_keras_3_saves_predicts_the_same_here_and_goes_back(keras, number, tmp_path):
    graph, x = MODELS[number]
    inputs, outputs = graph(Ours)
    model = Model(inputs, outputs)
    model.set_weights(shaken(model.get_weights()))
    found = model.predict(x)
    assert len(np.unique(found.reshape(len(x), -1).round(4), axis=0)) == len(x)
    path, back, again = (tmp_path / f"{name}.keras" for name in ("model", "back", "again"))
    model.save(path)
    theirs = keras.models.load_model(path)
    wanted = np.asarray(theirs.predict(x, verbose=0))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    theirs.save(back)
    read = load_model(back)
    np.testing.assert_array_equal(read.predict(x), found)
    assert [one.get_config() for one in read.layers] == [one.get_config() for one in model.layers]
    for ours, known in zip(read.layers, theirs.layers, strict=True):
        assert ours.count_params() == int(known.count_params())
    read.save(again)
    np.testing.assert_array_equal(load_model(again).predict(x), found)
    read.save(tmp_path / "model.h5")
    np.testing.assert_array_equal(load_model(tmp_path / "model.h5").predict(x), found)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("ReversibleEmbedding", {"input_dim": 4, "output_dim": 2}),
        (
            "ReversibleEmbedding",
            {"input_dim": 4, "output_dim": 2, "tie_weights": False, "logit_soft_cap": 3.0},
        ),
        ("MelSpectrogram", {}),
        ("MelSpectrogram", {"fft_length": 64, "sequence_length": 32, "max_freq": 5000}),
    ],
)
def test_configurations_agree(name, arguments):
    ignored = ("name", "dtype", "embeddings_initializer", "quantization_config")
    known = getattr(keras.layers, name)(**arguments).get_config()
    found = getattr(layers, name)(**arguments).get_config()
    for key in set(known) - set(ignored):
        assert found[key] == known[key], key


def test_a_pipeline_says_what_keras_3_says(keras):
    theirs = keras.layers.Pipeline([keras.layers.Rescaling(2.0)], name="p").get_config()
    ours = layers.Pipeline([layers.Rescaling(2.0)], name="p").get_config()
    assert list(theirs) == sorted(ours, key=list(theirs).index)
    assert len(ours["layers"]) == len(theirs["layers"]) == 1


def test_a_pipeline_is_trained_as_its_layers_are_in_a_sequential():
    def line(kind, **options):
        dense = [layers.Dense(n, kernel_initializer="ones", activation="tanh") for n in (3, 2)]
        return kind([*dense, layers.Dropout(0.0)], **options)

    one, other = Sequential([line(layers.Pipeline, input_shape=(4,))]), line(Sequential)
    y = generator(2).normal(size=(3, 2))
    for model in (one, other):
        model.compile("sgd", "mse")
        model.fit(ROWS, y, epochs=3, shuffle=False, verbose=0)
    for a, b in zip(one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    pipe = one.layers[0]
    pipe.trainable = False
    assert pipe.trainable_weights == []
    assert len(pipe.weights) == 4


def test_the_way_back_of_an_embedding_is_trained():
    inputs, outputs = tied(Ours)
    model = Model(inputs, outputs)
    model.compile("sgd", "mse")
    before = model.layers[1].get_weights()[0].copy()
    model.fit(WORDS, np.ones((3, 4, 6)), verbose=0)
    assert (model.layers[1].get_weights()[0] != before).all()  # of words that do not come, too


def test_a_penalty_on_the_output_of_a_reversible_embedding_is_kept():
    one = layers.ReversibleEmbedding(4, 2, activity_regularizer="l2")
    again = layers.ReversibleEmbedding.from_config(one.get_config())
    assert again.get_config() == one.get_config()
    assert again.activity_regularizer is not None


@pytest.mark.parametrize("inside", [layers.Dense(3), layers.Embedding(6, 3)])
def test_spectral_normalization_refuses_to_be_trained(inside):
    layer = layers.SpectralNormalization(inside)
    is_table = isinstance(inside, layers.Embedding)
    x = WORDS if is_table else ROWS
    inputs = layers.Input((4,), dtype="int32" if is_table else "float32")
    model = Model(inputs, layer(inputs))
    model.compile("sgd", "mse")
    y = np.zeros(model.predict(x).shape)
    before = [w.copy() for w in model.get_weights()]
    with pytest.raises(NotYetError, match="'spectral_normalization_1': .*in prediction only"):
        model.fit(x, y, verbose=0)
    with pytest.raises(NotYetError, match="in prediction only"):
        layer(x, training=True)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    np.testing.assert_array_equal(layer(x), inside(x))
    assert np.isfinite(model.evaluate(x, y, verbose=0))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: layers.SpectralNormalization(layers.Flatten())(ROWS), "'kernel' .*, got Flatten"),
        (lambda: layers.SpectralNormalization(layers.Dense(2), 0), "power_iterations"),
        (lambda: layers.Pipeline([]), "expected a list of layers"),
        (lambda: layers.Pipeline([abs]), "expected a list of layers"),
        (lambda: layers.MelSpectrogram(64, 16, 65), "sequence_length of at most .*, got 65"),
        (lambda: layers.MelSpectrogram(min_freq=9000), "min_freq below .*, got 9000"),
    ],
)
def test_wrong_arguments_are_named(make, words):
    with pytest.raises(ArgumentError, match=words):
        make()
