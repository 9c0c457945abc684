"""A mask that reaches a layer without masking: refused in Keras 2, ends there in Keras 3."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from keras_reference import answer
from keras_reference import keras as keras_module

from kerascope import Input, Sequential, config, layers
from kerascope.errors import ConfigError, DtypeError, KerascopeWarning, ShapeError
from kerascope.models import Model, clone_model, load_model, model_from_json
from kerascope.spellings import override_dialect


def test_keras_2_refuses_it():
    with pytest.raises(DtypeError, match="does not support masking"):
        Sequential([layers.Embedding(6, 3, mask_zero=True, input_length=4), Refusing()])


class Refusing(layers.Layer):
    """Does not say that it supports masking."""


def test_with_keras_3s_habits_it_ends_there_with_a_warning():
    config.dialect = "3"
    try:
        with pytest.warns(KerascopeWarning, match="will not see the mask"):
            model = Sequential([layers.Embedding(6, 3, mask_zero=True, input_length=4), Refusing()])
    finally:
        config.dialect = "2.2"
    assert model.predict(np.ones((1, 4))).shape == (1, 4, 3)


@pytest.mark.filterwarnings("ignore:.*will not see the mask")
@pytest.mark.filterwarnings("ignore:.*destroy the mask information")
@pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")
def test_a_file_of_keras_3_with_such_a_mask_opens_and_predicts_the_same(keras, tmp_path):
    theirs = keras.Sequential(
        [
            keras.layers.Input((4,)),
            keras.layers.Embedding(6, 3, mask_zero=True),
            keras.layers.Conv1D(2, 2),
        ]
    )
    path = str(tmp_path / "m.keras")
    theirs.save(path)
    ours = load_model(path)
    x = np.array([[1, 2, 0, 0], [3, 0, 5, 0]])
    np.testing.assert_allclose(ours.predict(x), np.asarray(theirs(x)), rtol=1e-5, atol=1e-6)
    assert clone_model(ours).predict(x).shape == (2, 3, 2)


# --- which masks of a file are kept ---------------------------------------------------------------

WORDS = np.array([[1, 2, 0, 3, 0], [4, 0, 0, 0, 0], [5, 6, 7, 8, 9]], "int32")
KEEP = np.array([[1, 1, 0, 1, 1], [0, 1, 1, 0, 0], [1, 0, 0, 0, 0]], "bool")
SERIES = np.sin(np.arange(60, dtype="float32")).reshape(3, 5, 4)
SERIES[0, 2:] = 0.5


def causal_after_an_embedding(keras: Any, words: Any, keep: Any, series: Any) -> list[Any]:
    layers = keras.layers
    x = layers.Embedding(10, 4, mask_zero=True)(words)
    first = layers.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True)
    one, other = layers.Dense(4)(first), layers.Masking(0.5)(series)
    return [
        first,
        layers.Attention()([one, other], use_causal_mask=True),
        layers.AdditiveAttention()([other, one], use_causal_mask=True),
    ]


def by_hand_beside_made_masks(keras: Any, words: Any, keep: Any, series: Any) -> list[Any]:
    layers = keras.layers
    x = layers.Embedding(10, 4, mask_zero=True)(words)
    first = layers.LSTM(3, return_sequences=True)(layers.Dense(3)(x), mask=keep)
    return [
        layers.LSTM(3)(x),
        layers.LSTM(2)(x, mask=keep),
        layers.GRU(2)(first),
        layers.SimpleRNN(2)(layers.Masking(0.5)(series), mask=keep),
        layers.Bidirectional(layers.GRU(2))(series, mask=keras.ops.not_equal(words, 0)),
        layers.GRU(2)(series, mask=keras.ops.logical_and(keep, keras.ops.not_equal(words, 0))),
    ]


def of_attention_by_hand(keras: Any, words: Any, keep: Any, series: Any) -> list[Any]:
    layers, ops = keras.layers, keras.ops
    x = layers.Embedding(10, 4, mask_zero=True)(words)
    may_look = ops.expand_dims(keep, 1)
    return [
        layers.Attention()([series, series], mask=[keep, ops.not_equal(words, 0)]),
        layers.MultiHeadAttention(2, 3)(series, series, value_mask=keep),
        layers.MultiHeadAttention(2, 3)(series, series, query_mask=keep),
        layers.MultiHeadAttention(2, 3)(series, x, attention_mask=may_look),
    ]


def joined_from_several(keras: Any, words: Any, keep: Any, series: Any) -> list[Any]:
    layers = keras.layers
    x = layers.Embedding(10, 4, mask_zero=True)(words)
    y = layers.Masking(0.5)(series)
    joined = [
        layers.Add()([x, y]),
        layers.Add()([x, series]),
        layers.Subtract()([y, x]),
        layers.Average()([x, y, x]),
        layers.Concatenate()([x, y]),
        layers.Concatenate()([x, series]),
        layers.Concatenate(axis=1)([x, y]),
        layers.Attention()([x, y]),
        layers.TimeDistributed(layers.Dense(2))(y),
    ]
    return [layers.LSTM(2)(one) for one in joined]


def states_by_place(keras: Any, words: Any, keep: Any, series: Any) -> list[Any]:
    layers = keras.layers
    h, c = layers.Dense(3)(series[:, 0]), layers.Dense(3)(series[:, 1])
    return [
        layers.LSTM(3)(series, [h, c]),
        layers.GRU(3)(series, h, keep),
        layers.LSTM(3)(series, [h, c], keep),
    ]


def of_a_softmax(keras: Any, words: Any, keep: Any, series: Any) -> list[Any]:
    softmax, wide = keras.layers.Softmax, keras.ops.expand_dims(keep, -1)
    return [
        softmax(axis=1)(series, mask=wide),
        softmax(axis=[1, 2])(series, mask=wide),
        softmax(axis=(-1,))(series),
        softmax()(series[:, :, 0], mask=keep),
        softmax()(series[:, :, 0], mask=keras.ops.cast(keep, "float32") * 0.6),
        softmax()(keras.ops.transpose(series, (0, 2, 1)), mask=keras.ops.expand_dims(keep, 1)),
    ]


def nested(keras: Any, words: Any, keep: Any, series: Any) -> list[Any]:
    layers = keras.layers
    x = layers.Embedding(10, 4, mask_zero=True)(words)
    reading = keras.Sequential([keras.Input((5, 4)), layers.GRU(2)])
    inputs = keras.Input((5,))
    embedding = keras.Model(inputs, layers.Embedding(10, 4, mask_zero=True)(inputs))
    return [reading(x), reading(series), layers.LSTM(3)(embedding(words))]


@pytest.mark.filterwarnings("ignore:.*will not see the mask")
@pytest.mark.filterwarnings("ignore:.*destroy the mask information")
@pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")
@pytest.mark.parametrize(
    "make",
    [
        causal_after_an_embedding,
        by_hand_beside_made_masks,
        of_attention_by_hand,
        joined_from_several,
        states_by_place,
        of_a_softmax,
        nested,
    ],
    ids=lambda make: make.__name__,
)
def test_masks_made_given_and_causal_stay_what_they_are(make, keras, tmp_path):
    words = keras.Input((5,), dtype="int32", name="words")
    keep = keras.Input((5,), dtype="bool", name="keep")
    series = keras.Input((5, 4), name="series")
    inputs = [words, keep, series]
    theirs = keras.Model(inputs, make(keras, *inputs))
    arrays = [WORDS, KEEP, SERIES]
    expected = [np.asarray(y) for y in theirs(arrays)]
    theirs.save(tmp_path / "theirs.keras")

    def agree(found):
        for y, one in zip(expected, found, strict=True):
            np.testing.assert_allclose(np.asarray(one), y, rtol=2e-5, atol=2e-6)

    ours = load_model(tmp_path / "theirs.keras")
    agree(ours.predict(arrays))
    ours.save(tmp_path / "ours.keras")
    agree(load_model(tmp_path / "ours.keras").predict(arrays))
    agree(keras.models.load_model(tmp_path / "ours.keras")(arrays))
    agree(clone_with_weights(ours).predict(arrays))


@pytest.mark.parametrize("dialect", ["2.2", "3"])
def test_a_softmax_heeds_the_mask_that_it_is_given_in_every_dialect(dialect):
    config.dialect = dialect
    try:
        x, keep = Input((3,)), Input((3,), dtype="bool")
        model = Model([x, keep], layers.Softmax()(x, mask=keep))
        with pytest.raises(
            ShapeError, match=r"expected a mask with the last axes.*got shape \(None, 2\)"
        ):
            layers.Softmax()(x, mask=Input((2,)))
        with pytest.raises(ShapeError, match=r"a mask with .*got shape \(None, 3, 3\)"):
            layers.Softmax()(x, mask=Input((3, 3)))
    finally:
        config.dialect = "2.2"
    found = model.predict([np.log([[1, 3, 4], [1, 1, 1]]), [[1, 1, 0], [0, 0, 0]]])
    np.testing.assert_allclose(found, [[0.25, 0.75, 0], [0, 0, 0]], rtol=1e-6)


def test_in_keras_2_a_softmax_only_passes_a_mask_on():
    words = Input((4,))
    model = Model(words, layers.Softmax(axis=1)(layers.Embedding(6, 4, mask_zero=True)(words)))
    assert (model.predict(np.array([[1, 2, 0, 0]])) > 0).all()
    assert model.layers[-1].output_mask is not None


def clone_with_weights(model):
    twin = clone_model(model)
    twin.set_weights(model.get_weights())
    return twin


@pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")
def test_a_mask_that_an_embedding_hands_on_needs_no_operations(keras, tmp_path):
    words = keras.Input((5,), dtype="int32", name="words")
    x = keras.layers.Embedding(10, 4, mask_zero=True)(words)
    x = keras.layers.Dropout(0.1)(x)
    x = keras.layers.Bidirectional(keras.layers.LSTM(3, return_sequences=True))(x)
    theirs = keras.Model(words, keras.layers.GRU(2)(keras.layers.Add()([x, x])))
    theirs.save(tmp_path / "theirs.keras")
    ours = load_model(tmp_path / "theirs.keras")
    kinds = [type(layer).__name__ for layer in ours.layers]
    assert kinds == ["InputLayer", "Embedding", "Dropout", "Bidirectional", "Add", "GRU"]
    np.testing.assert_allclose(ours.predict(WORDS), np.asarray(theirs(WORDS)), rtol=1e-5, atol=1e-6)


# Layers that anybody may call on a masked sequence, with what their constructors need.
ON_SEQUENCES: list[tuple[str, dict[str, Any]]] = [
    ("Masking", {}),
    ("Flatten", {}),
    ("LayerNormalization", {}),
    ("Activation", {"activation": "tanh"}),
    ("ActivityRegularization", {}),
    ("AlphaDropout", {"rate": 0.1}),
    ("BatchNormalization", {}),
    ("Conv1D", {"filters": 2, "kernel_size": 2}),
    ("Dense", {"units": 2}),
    ("Dropout", {"rate": 0.1}),
    ("ELU", {}),
    ("GaussianDropout", {"rate": 0.1}),
    ("GaussianNoise", {"stddev": 0.1}),
    ("GlobalAveragePooling1D", {}),
    ("GlobalMaxPooling1D", {}),
    ("GroupNormalization", {"groups": 1}),
    ("GRU", {"units": 2}),
    ("LeakyReLU", {}),
    ("LSTM", {"units": 2}),
    ("MultiHeadAttention", {"num_heads": 1, "key_dim": 2}),
    ("Permute", {"dims": (2, 1)}),
    ("PReLU", {}),
    ("ReLU", {}),
    ("RMSNormalization", {}),
    ("Rescaling", {"scale": 2.0}),
    ("Reshape", {"target_shape": (2, 2)}),
    ("SimpleRNN", {"units": 2}),
    ("Softmax", {}),
    ("SpatialDropout1D", {"rate": 0.1}),
    ("UnitNormalization", {}),
    ("UpSampling1D", {}),
    ("ZeroPadding1D", {}),
]


def supporting(its_layers: Any, rows: list[Any]) -> list[bool]:
    return [bool(getattr(its_layers, name)(**options).supports_masking) for name, options in rows]


def test_with_keras_3s_habits_masks_pass_the_layers_that_they_pass_there(answers):
    config.dialect = "3"
    try:
        ours = supporting(layers, ON_SEQUENCES)
    finally:
        config.dialect = "2.2"
    theirs = answer(supporting, keras_module.layers, ON_SEQUENCES)
    names = [name for name, _ in ON_SEQUENCES]
    assert dict(zip(names, ours, strict=True)) == dict(zip(names, theirs, strict=True))


# --- what is saved has to be what is loaded again -------------------------------------------------
# Keras 2 and Keras 3 have other rules for masks. These tests catch any layer whose copy or file
# takes the rules of the wrong one: a new layer with masks, or a new way of copying a model.


def masked(make: Any) -> Model:
    words = Input((4,), dtype="int32")
    x = layers.Embedding(6, 3, mask_zero=True)(words)
    return Model(words, make(x, layers.Embedding(6, 3)(words)))


SOME_WORDS = np.array([[1, 2, 0, 0], [3, 0, 5, 0]])

# Layers whose outputs, or the masks of whose outputs, differ between Keras 2 and Keras 3.
MASKED_OTHERWISE: dict[str, Any] = {
    "multiply": lambda x, y: layers.LSTM(2)(layers.Multiply()([x, y])),
    "maximum": lambda x, y: layers.Maximum()([x, y]),
    "add": lambda x, y: layers.LSTM(2)(layers.Add()([x, y])),
    "concatenate": lambda x, y: layers.LSTM(2)(layers.Concatenate()([x, y])),
    "rms_normalization": lambda x, y: layers.LSTM(2)(layers.RMSNormalization()(x)),
    "batch_normalization": lambda x, y: layers.BatchNormalization()(x),
}


@pytest.mark.parametrize("shape", [(3,), (3, 3), (4, 3)])
@pytest.mark.parametrize("dialect", ["1.2", "2.2"])
def test_a_softmax_that_a_mask_reaches_is_not_saved_for_keras_3(shape, dialect, tmp_path):
    config.dialect = dialect
    try:
        model = Sequential([layers.Masking(input_shape=shape), layers.Softmax(name="odds")])
        model.save(tmp_path / "m.h5")
        with pytest.raises(ConfigError, match=r"Softmax 'odds': a mask reaches it.*\.h5"):
            model.save(tmp_path / "m.keras")
        x = np.ones((2, *shape))
        np.testing.assert_array_equal(load_model(tmp_path / "m.h5").predict(x), model.predict(x))
    finally:
        config.dialect = "2.2"
    assert not (tmp_path / "m.keras").exists()


@pytest.mark.parametrize("name", MASKED_OTHERWISE)
def test_a_layer_with_other_rules_for_masks_in_keras_3_is_named_when_saving(name, tmp_path):
    model = masked(MASKED_OTHERWISE[name])
    with pytest.warns(KerascopeWarning, match=rf"'{name}(_\d)?': a mask reaches it"):
        model.save(tmp_path / "m.keras")
    model.save(tmp_path / "m.h5")
    again = load_model(tmp_path / "m.h5")
    np.testing.assert_array_equal(again.predict(SOME_WORDS), model.predict(SOME_WORDS))


def test_one_mask_that_is_joined_with_itself_is_the_same_in_both(tmp_path, recwarn):
    def residual(x, _):
        for _ in range(2):
            x = layers.Add()([x, layers.LSTM(3, return_sequences=True)(x)])
        return layers.LSTM(2)(layers.Concatenate()([x, x]))

    model = masked(residual)
    model.save(tmp_path / "m.keras")
    assert not [w for w in recwarn if "mask" in str(w.message)]
    again = load_model(tmp_path / "m.keras")
    np.testing.assert_allclose(again.predict(SOME_WORDS), model.predict(SOME_WORDS), rtol=1e-6)


def by_h5(model, tmp_path):
    model.save(tmp_path / "m.h5")
    return load_model(tmp_path / "m.h5")


def by_keras(model, tmp_path):
    model.save(tmp_path / "m.keras")
    return load_model(tmp_path / "m.keras")


COPIES = [
    by_h5,
    by_keras,
    lambda model, _: copy.deepcopy(model),
    lambda model, _: pickle.loads(pickle.dumps(model)),
    lambda model, _: model_from_json(model.to_json()),
    lambda model, _: type(model).from_config(model.get_config()),
    lambda model, _: clone_model(model),
]


@pytest.mark.filterwarnings("ignore:.*will not see the mask")
@pytest.mark.parametrize("make_copy", COPIES)
@pytest.mark.parametrize("name", [*MASKED_OTHERWISE, "conv1d"])
def test_every_copy_of_a_model_of_keras_3_keeps_its_rules_for_masks(name, make_copy, tmp_path):
    with override_dialect(ends_masks=True):  # as in a model from a file of Keras 3
        model = masked({**MASKED_OTHERWISE, "conv1d": lambda x, _: layers.Conv1D(2, 2)(x)}[name])
    found = make_copy(model, tmp_path)
    found.set_weights(model.get_weights())
    np.testing.assert_array_equal(found.predict(SOME_WORDS), model.predict(SOME_WORDS))
    masks = [[m is None for m in layer.inbound_nodes[0].output_masks] for layer in model.layers]
    assert masks == [
        [m is None for m in layer.inbound_nodes[0].output_masks] for layer in found.layers
    ]
