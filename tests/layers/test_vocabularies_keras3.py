"""Lookups and TextVectorization against the real Keras 3, which needs TensorFlow for them."""

import numpy as np
import pytest
from keras_reference import keras, live_needs

from kerascope import layers
from kerascope.errors import DtypeError, NotYetError, RefusedError
from kerascope.models import Sequential

pytestmark = pytest.mark.usefixtures("answers")

TEXTS = ["The cat's É-sat. ON the\tmat!", "dog  dog ran_away", "", "cat cat mat"]
WORDS = {"": ["x", "z"], "1": [["x"], ["z"]], "2": [["x", "z"], ["y", "y"]], "0": "x"}


def keras_layer(name, arguments):
    live_needs("tensorflow")
    return getattr(keras.layers, name)(**arguments)


def compare(name, arguments, inputs, data=None, config=True):
    """Hold vocabulary, output and configuration against those of Keras 3."""
    theirs, ours = keras_layer(name, arguments), getattr(layers, name)(**arguments)
    if data is not None:
        theirs.adapt(np.array(data))
        ours.adapt(data)
    assert ours.get_vocabulary() == np.array(theirs.get_vocabulary()).tolist()
    assert ours.vocabulary_size() == theirs.vocabulary_size()
    wanted = np.asarray(theirs(np.array(inputs)))
    twin = type(ours).from_config(ours.get_config())
    for layer in (ours, twin):
        found = layer(inputs)
        assert found.dtype.kind == wanted.dtype.kind
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    if config:
        ignored = {"vocabulary", "vocabulary_size", "idf_weights", "dtype", "salt", "sparse"}
        ignored |= {"name", "oov_method"}
        known = {k: v for k, v in theirs.get_config().items() if k not in ignored}
        assert {k: v for k, v in ours.get_config().items() if k not in ignored} == known


@pytest.mark.parametrize("mode", ["int", "one_hot", "multi_hot", "count", "tf_idf"])
@pytest.mark.parametrize("words", WORDS)
def test_string_lookup_gives_what_keras_3_gives(mode, words):
    arguments = {"vocabulary": ["x", "y"], "output_mode": mode}
    if mode == "tf_idf":
        arguments["idf_weights"] = [0.5, 0.7]
    compare("StringLookup", arguments, WORDS[words])


@pytest.mark.parametrize(
    ("name", "arguments", "inputs"),
    [
        ("StringLookup", {"vocabulary": ["a", "b"], "mask_token": ""}, ["", "a", "q"]),
        ("StringLookup", {"vocabulary": ["[UNK]", "a", "b"]}, ["b", "[UNK]", "q"]),
        ("StringLookup", {"vocabulary": ["a"], "num_oov_indices": 0}, ["a", "a"]),
        (
            "StringLookup",
            {"vocabulary": ["a", "b"], "mask_token": "", "output_mode": "multi_hot"},
            [["", "a", "q"], ["", "", "b"]],
        ),
        (
            "StringLookup",
            {"vocabulary": ["a", "b"], "mask_token": "", "output_mode": "one_hot"},
            ["", "a", "q"],
        ),
        ("IntegerLookup", {"vocabulary": [10, 20]}, [10, 20, 5]),
        (
            "IntegerLookup",
            {"vocabulary": [10, 20], "num_oov_indices": 3},
            [[10, 20], [5, 6], [7, -1]],
        ),
        ("IntegerLookup", {"vocabulary": [5, 7], "mask_token": 0}, [0, 5, 7, 9]),
        ("IntegerLookup", {"vocabulary": [5, 7], "output_mode": "count"}, [[5, 5, 8], [7, 5, 7]]),
        ("IntegerLookup", {"vocabulary": [5, 7], "invert": True}, [0, 1, 2, 3, -1]),
        (
            "IntegerLookup",
            {"vocabulary": [5, 7], "invert": True, "mask_token": 0},
            [0, 1, 2, 3, 4, -1],
        ),
    ],
)
def test_a_given_vocabulary_is_used_as_in_keras_3(name, arguments, inputs):
    compare(name, arguments, inputs)


@pytest.mark.parametrize(
    ("name", "arguments", "data"),
    [
        ("StringLookup", {}, [["b", "a"], ["c", "b"]]),
        ("StringLookup", {"max_tokens": 2}, [["b", "a"], ["c", "b"]]),
        ("StringLookup", {"output_mode": "tf_idf"}, [["b", "a"], ["c", "b"]]),
        (
            "StringLookup",
            {"output_mode": "count", "max_tokens": 6, "pad_to_max_tokens": True},
            [["b", "a"], ["c", "b"]],
        ),
        ("IntegerLookup", {}, [3, 3, 2, 9, 9, 9, 1]),
        ("IntegerLookup", {"mask_token": 3}, [3, 3, 2, 9, 9, 9, 1]),
        ("IntegerLookup", {"max_tokens": 3}, [[3], [3], [2], [9], [9]]),
    ],
)
def test_a_vocabulary_is_taken_from_data_as_in_keras_3(name, arguments, data):
    compare(name, arguments, data, data)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"standardize": "lower"},
        {"standardize": "strip_punctuation"},
        {"standardize": None},
        {"split": "character"},
        {"split": None},
        {"ngrams": 2},
        {"ngrams": (2,)},
        {"ngrams": (1, 3), "output_mode": "count"},
        {"output_sequence_length": 2},
        {"output_sequence_length": 7},
        {"max_tokens": 4},
        {"max_tokens": 4, "output_mode": "multi_hot"},
        {"max_tokens": 20, "pad_to_max_tokens": True},
        {"max_tokens": 20, "output_mode": "multi_hot", "pad_to_max_tokens": True},
        {"output_mode": "tf_idf"},
        {"output_mode": "tf_idf", "max_tokens": 12, "pad_to_max_tokens": True},
    ],
)
def test_texts_become_what_keras_3_makes_of_them(arguments):
    is_pair = isinstance(arguments.get("ngrams"), tuple)
    compare("TextVectorization", arguments, TEXTS, TEXTS, config=not is_pair)


@pytest.mark.parametrize("inputs", ["cat dog", [["mat"], ["a cat"]], ["", ""], [" cat\n"]])
@pytest.mark.parametrize("mode", ["int", "count"])
def test_texts_of_every_shape_agree(inputs, mode):
    compare("TextVectorization", {"output_mode": mode}, inputs, TEXTS)


def test_a_vocabulary_that_is_given_to_text_vectorization_agrees(answers):
    for vocabulary in (["a", "b"], ["", "[UNK]", "a", "b"]):
        compare("TextVectorization", {"vocabulary": vocabulary}, ["b a q", "a"])


# --- what Keras 3 on jax cannot be asked ----------------------------------------------------------


def test_inverted_lookups_give_words():
    layer = layers.StringLookup(vocabulary=["a", "b"], invert=True)
    assert layer([0, 1, 2, 3, -1]).tolist() == ["[UNK]", "a", "b", "[UNK]", "[UNK]"]
    layer = layers.StringLookup(vocabulary=["a", "b"], invert=True, mask_token="")
    assert layer([[0, 1], [2, 3]]).tolist() == [["", "[UNK]"], ["a", "b"]]


def test_functions_of_ones_own_clean_and_split_texts():
    layer = layers.TextVectorization(
        standardize=lambda texts: np.char.replace(texts, "-", "_"),
        split=lambda texts: [text.split("_") for text in texts],
    )
    layer.adapt(["a-b", "b_c-b"])
    assert layer.get_vocabulary() == ["", "[UNK]", "b", "c", "a"]
    assert layer(["c-d"]).tolist() == [[3, 1]]


def test_a_vocabulary_is_read_from_a_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("cat\ndog\n", "utf-8")
    assert layers.StringLookup(vocabulary=path)(["dog"]).tolist() == [2]


def test_a_model_is_trained_on_vectorized_texts():
    texts = ["good fine good", "bad poor", "fine good", "poor bad bad"]
    vectorize = layers.TextVectorization(output_sequence_length=4)
    vectorize.adapt(texts)
    model = Sequential()
    model.add(layers.Embedding(vectorize.vocabulary_size(), 3, input_length=4))
    model.add(layers.GlobalAveragePooling1D())
    model.add(layers.Dense(1, activation="sigmoid"))
    model.compile("adam", "binary_crossentropy")
    labels = np.array([1, 0, 1, 0])
    first = model.evaluate(vectorize(texts), labels, verbose=0)
    model.fit(vectorize(texts), labels, epochs=20, verbose=0)
    assert model.evaluate(vectorize(texts), labels, verbose=0) < first


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: layers.StringLookup(vocabulary=["a", "a"]), ValueError, "'a' twice"),
        (lambda: layers.StringLookup(vocabulary=["a"], max_tokens=1), ValueError, "at most max"),
        (lambda: layers.StringLookup(vocabulary=["a"], output_mode="tf_idf"), ValueError, "idf_w"),
        (lambda: layers.StringLookup()(["a"]), ValueError, "no vocabulary yet"),
        (lambda: layers.TextVectorization()(["a"]), ValueError, "no vocabulary yet"),
        (lambda: layers.StringLookup(vocabulary=["a"]).adapt(["b"]), ValueError, "was given"),
        (lambda: layers.StringLookup(vocabulary=["a"])([1]), DtypeError, "expected texts"),
        (lambda: layers.IntegerLookup(vocabulary=[1])(["a"]), DtypeError, "whole numbers"),
        (lambda: layers.StringLookup(num_oov_indices=2), RefusedError, "not hashed"),
        (lambda: layers.TextVectorization(ragged=True), RefusedError, "ragged"),
        (lambda: layers.TextVectorization(split="words"), ValueError, "split 'words'"),
        (lambda: layers.TextVectorization(output_mode="ints"), ValueError, "output_mode 'ints'"),
        (lambda: layers.Input((1,), dtype="string"), DtypeError, "StringLookup and TextVec"),
        (
            lambda: layers.StringLookup(vocabulary=["a"], num_oov_indices=0)(["b"]),
            ValueError,
            "'b' is not in the vocabulary",
        ),
        (
            lambda: layers.IntegerLookup(vocabulary=[1])(layers.Input((1,), dtype="int32")),
            NotYetError,
            "Call it on the data",
        ),
    ],
)
def test_what_cannot_be_looked_up_is_said(make, error, words):
    with pytest.raises(error, match=words):
        make()
