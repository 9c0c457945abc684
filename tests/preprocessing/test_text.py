"""Texts as numbers, also against the real Keras."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

from kerascope.errors import (
    ArgumentError,
    ConfigError,
    DataError,
    NotBuiltError,
    SpellingWarning,
)
from kerascope.preprocessing.text import (
    Tokenizer,
    hashing_trick,
    one_hot,
    text_to_word_sequence,
    tokenizer_from_json,
)

TEXTS = [
    "The cat sat on the mat.",
    "The dog sat on the log; the cat ran!",
    "Dogs and cats: living together",
    "",
    "Ünïcode wörds, wörds, wörds?",
]
OPTIONS = [
    {},
    {"num_words": 5},
    {"oov_token": "<?>"},
    {"num_words": 4, "oov_token": "<?>"},
    {"lower": False},
    {"char_level": True},
    {"char_level": True, "num_words": 6, "oov_token": "#"},
    {"filters": "", "split": "t"},
]


@pytest.fixture
def real(keras):
    return keras.src.legacy.preprocessing.text


def both(real, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pair = Tokenizer(**options), real.Tokenizer(**options)
    for tokenizer in pair:
        tokenizer.fit_on_texts(TEXTS[:3])
        tokenizer.fit_on_texts(TEXTS[3:])
    return pair


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_words_are_counted_and_numbered_as_keras_does(real, options):
    ours, theirs = both(real, **options)
    for name in ("word_index", "index_word", "word_counts", "word_docs", "index_docs"):
        assert dict(getattr(ours, name)) == dict(getattr(theirs, name)), name
    assert ours.document_count == theirs.document_count == 5
    unseen = [*TEXTS, "a wholly new sentence with the cat"]
    sequences = ours.texts_to_sequences(unseen)
    assert sequences == theirs.texts_to_sequences(unseen)
    assert ours.sequences_to_texts(sequences) == theirs.sequences_to_texts(sequences)


@pytest.mark.parametrize("mode", ["binary", "count", "freq", "tfidf"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_matrices_are_those_of_keras(real, options, mode):
    ours, theirs = both(real, **options)
    np.testing.assert_allclose(
        ours.texts_to_matrix(TEXTS, mode), theirs.texts_to_matrix(TEXTS, mode), rtol=1e-12
    )


def test_sequences_can_be_counted_without_texts(real):
    pair = Tokenizer(num_words=6), real.Tokenizer(num_words=6)
    matrices = []
    for tokenizer in pair:
        tokenizer.fit_on_sequences([[1, 2, 2], [3, 1], [9]])
        matrices.append(tokenizer.sequences_to_matrix([[1, 1, 3], [8], []], "tfidf"))
    np.testing.assert_allclose(*matrices, rtol=1e-12)


def test_ties_go_to_the_word_that_came_first():
    tokenizer = Tokenizer()
    tokenizer.fit_on_texts(["zebra apple mango", "apple zebra kiwi"])
    assert list(tokenizer.word_index) == ["zebra", "apple", "mango", "kiwi"]
    assert list(tokenizer.word_docs) == ["zebra", "apple", "mango", "kiwi"]


def test_words_may_come_as_lists():
    tokenizer = Tokenizer()
    tokenizer.fit_on_texts([["New York", "is"], ["new york"]])
    assert tokenizer.word_index == {"new york": 1, "is": 2}
    assert tokenizer.texts_to_sequences([["IS", "New York"]]) == [[2, 1]]


def test_generators_yield_text_by_text():
    tokenizer = Tokenizer()
    tokenizer.fit_on_texts(iter(TEXTS))
    sequences = tokenizer.texts_to_sequences_generator(iter(TEXTS))
    assert next(sequences) == [1, 3, 4, 5, 1, 6]
    words = tokenizer.sequences_to_texts_generator(iter([[1, 3], [2]]))
    assert next(words) == "the cat"


def test_a_tokenizer_comes_back_from_json(real):
    ours, theirs = both(real, oov_token="?", num_words=7)
    again = tokenizer_from_json(ours.to_json(indent=1))
    assert again.get_config() == ours.get_config()
    assert again.texts_to_sequences(TEXTS) == ours.texts_to_sequences(TEXTS)
    np.testing.assert_array_equal(
        again.texts_to_matrix(TEXTS, "tfidf"), ours.texts_to_matrix(TEXTS, "tfidf")
    )
    from_keras = tokenizer_from_json(theirs.to_json())
    assert from_keras.texts_to_sequences(TEXTS) == ours.texts_to_sequences(TEXTS)
    assert real.tokenizer_from_json(ours.to_json()).word_index == ours.word_index


@pytest.mark.parametrize("text", ["no json", "{}", "[]", json.dumps({"config": {}})])
def test_what_is_no_description_of_a_tokenizer_is_refused(text):
    with pytest.raises(ConfigError, match="expected the JSON of Tokenizer.to_json"):
        tokenizer_from_json(text)


def test_mistakes_are_named():
    with pytest.raises(ArgumentError, match=r"got one text\. Write \[text\]"):
        Tokenizer().fit_on_texts("the cat")
    with pytest.raises(ArgumentError, match="texts_to_sequences: expected a list of texts"):
        Tokenizer().texts_to_sequences("the cat")
    with pytest.raises(ArgumentError, match="no argument 'num_word'. Did you mean 'num_words'"):
        Tokenizer(num_word=3)
    with pytest.raises(ArgumentError, match="unknown mode 'tfdif'. Did you mean 'tfidf'"):
        Tokenizer(num_words=3).sequences_to_matrix([[1]], "tfdif")
    with pytest.raises(NotBuiltError, match="the number of words is not known"):
        Tokenizer().sequences_to_matrix([[1]])
    with pytest.raises(NotBuiltError, match="mode 'tfidf' needs fit_on_texts"):
        Tokenizer(num_words=3).sequences_to_matrix([[1]], "tfidf")


def test_keras_1_called_it_nb_words():
    with pytest.warns(SpellingWarning, match="'nb_words' is Keras 1's word"):
        assert Tokenizer(nb_words=3).num_words == 3


# --- words and hashes -----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"lower": False}, {"filters": "a"}, {"split": "--"}])
def test_texts_are_split_as_keras_does(real, options):
    for text in [*TEXTS, "hello--world--again", "tabs\tand\nlines"]:
        assert text_to_word_sequence(text, **options) == real.text_to_word_sequence(text, **options)


def test_md5_numbers_are_those_of_keras_and_of_every_process(real):
    numbers = hashing_trick(TEXTS[1], 50, hash_function="md5")
    assert numbers == real.hashing_trick(TEXTS[1], 50, hash_function="md5")
    code = f"print(hashing_trick({TEXTS[1]!r}, 50, hash_function='md5'))"
    command = f"from kerascope.preprocessing.text import hashing_trick; {code}"
    run = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True)
    assert run.stdout == f"{numbers}\n"


def test_a_hash_function_may_be_ones_own():
    assert hashing_trick("aa b cccc", 4, hash_function=len) == [3, 2, 2]
    assert all(1 <= number < 10 for number in one_hot(" ".join(TEXTS), 10))
    with pytest.raises(ArgumentError, match="got 'sha1'"):
        hashing_trick("a", 5, hash_function="sha1")
    with pytest.raises(ArgumentError, match="expected n >= 2.*got 1"):
        one_hot("a", 1)


@pytest.mark.parametrize("odd", [float("nan"), None, 7, ("a", "b")])
def test_what_is_no_text_is_named_and_nothing_is_counted(odd):
    tokenizer = Tokenizer()
    with pytest.raises(DataError, match="expected texts or lists of words, got"):
        tokenizer.fit_on_texts(["a cat", odd])
    assert (tokenizer.document_count, tokenizer.word_counts) == (0, {})
    with pytest.raises(DataError, match="expected texts or lists of words"):
        tokenizer.texts_to_sequences([odd])


def test_a_number_below_0_is_no_word_of_the_text_before():
    found = Tokenizer(num_words=3).sequences_to_matrix([[2], [-1, 1]], mode="count")
    assert found.tolist() == [[0, 0, 1], [0, 1, 0]]
