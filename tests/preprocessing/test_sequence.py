"""Padding, word pairs and windows of a time series, also against the real Keras."""

import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kerascope.errors import ArgumentError, ConfigError, DataError
from kerascope.preprocessing.sequence import (
    TimeseriesGenerator,
    _remove_long_seq,
    make_sampling_table,
    pad_sequences,
    skipgrams,
    timeseries_generator_from_json,
)


@pytest.fixture
def real(keras):
    return keras.src.legacy.preprocessing.sequence


# --- pad_sequences --------------------------------------------------------------------------------


def padded_by_loops(lists, maxlen, padding, truncating, value):
    rows = []
    for items in lists:
        kept = list(items)
        while len(kept) > maxlen:
            kept.pop(0 if truncating == "pre" else -1)
        while len(kept) < maxlen:
            kept.insert(0 if padding == "pre" else len(kept), value)
        rows.append(kept)
    return rows


@given(
    st.lists(st.lists(st.integers(1, 99), max_size=6), min_size=1, max_size=5),
    st.none() | st.integers(0, 7),
    st.sampled_from(["pre", "post"]),
    st.sampled_from(["pre", "post"]),
)
def test_padding_does_what_loops_do(lists, maxlen, padding, truncating):
    result = pad_sequences(lists, maxlen, padding=padding, truncating=truncating, value=7)
    longest = max(map(len, lists)) if maxlen is None else maxlen
    assert result.tolist() == padded_by_loops(lists, longest, padding, truncating, 7)
    assert result.shape == (len(lists), longest)
    assert result.dtype == np.int32


def test_elements_may_be_vectors():
    lists = [[[1, 2], [3, 4]], [[5, 6]], []]
    expected = [[[0, 0], [1, 2], [3, 4]], [[0, 0], [0, 0], [5, 6]], np.zeros((3, 2)).tolist()]
    assert pad_sequences(lists, maxlen=3).tolist() == expected
    assert pad_sequences([np.ones((2, 4)), np.ones((1, 4))], dtype="float32").shape == (2, 2, 4)


def test_floats_and_texts_need_their_type():
    assert pad_sequences([[0.5], []], dtype="float32", value=-1.5).tolist() == [[0.5], [-1.5]]
    words = pad_sequences([["a"], ["b", "c"]], dtype=object, value="pad")
    assert words.tolist() == [["pad", "a"], ["b", "c"]]
    with pytest.raises(ArgumentError, match="Give dtype=object"):
        pad_sequences([["a"]], value="pad")


def test_nothing_to_pad_is_an_empty_array():
    assert pad_sequences([]).shape == (0, 0)
    assert pad_sequences([[], []]).shape == (2, 0)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"sequences": [1, 2]}, DataError, r"sequences\[0\]: expected a list of numbers, got 1"),
        ({"sequences": 5}, DataError, "expected a list of lists, got int"),
        ({"sequences": [[1]], "padding": "left"}, ArgumentError, "expected padding .*got 'left'"),
        (
            {"sequences": [[1]], "truncating": "end"},
            ArgumentError,
            "truncating .*got 'end'",
        ),
        ({"sequences": [[[1, 2]], [[1]]]}, DataError, r"of shape \(2,\), .* got \(1,\)"),
    ],
)
def test_what_cannot_be_padded_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        pad_sequences(**arguments)


# --- word pairs -----------------------------------------------------------------------------------


def test_the_sampling_table_is_that_of_keras(real):
    np.testing.assert_allclose(make_sampling_table(100), real.make_sampling_table(100), rtol=1e-12)


@pytest.mark.parametrize("window_size", [1, 2, 4])
def test_neighbours_are_those_of_keras(real, window_size):
    words = [3, 1, 0, 2, 5, 1, 4]
    arguments = {"window_size": window_size, "negative_samples": 0, "shuffle": False}
    assert skipgrams(words, 6, **arguments) == real.skipgrams(words, 6, **arguments)


def test_drawn_pairs_are_as_many_as_asked_and_labelled():
    couples, labels = skipgrams(range(1, 9), 9, negative_samples=2.0, seed=3)
    assert labels.count(0) == 2 * labels.count(1)
    assert len(couples) == len(labels)
    assert all(1 <= other <= 8 for _, other in couples)
    near = [couple for couple, label in zip(couples, labels, strict=True) if label]
    assert all(0 < abs(a - b) <= 4 for a, b in near)
    _, rows = skipgrams([1, 2], 3, categorical=True, seed=3)
    assert sorted(rows) == [[0, 1], [0, 1], [1, 0], [1, 0]]


def test_pairs_repeat_with_a_seed_and_with_pythons_seed():
    assert skipgrams(range(9), 9, seed=1) == skipgrams(range(9), 9, seed=1)
    assert skipgrams(range(9), 9, seed=1) != skipgrams(range(9), 9, seed=2)
    random.seed(5)
    first = skipgrams(range(9), 9)
    random.seed(5)
    assert skipgrams(range(9), 9) == first


def test_a_sampling_table_leaves_words_out():
    never_two = [1.0, 1.0, -1.0, 1.0]
    couples, _ = skipgrams([1, 2, 3], 4, sampling_table=never_two, negative_samples=0, seed=0)
    assert {word for word, _ in couples} == {1, 3}


def test_long_sequences_are_left_out():
    assert _remove_long_seq(3, [[1], [1, 2, 3], [4, 5]], ["a", "b", "c"]) == (
        [[1], [4, 5]],
        ["a", "c"],
    )


# --- time series ----------------------------------------------------------------------------------

SERIES = np.arange(60.0).reshape(30, 2)
GRID = [
    {},
    {"sampling_rate": 2},
    {"stride": 3},
    {"stride": 2, "sampling_rate": 3, "batch_size": 3},
    {"start_index": 4, "end_index": 20},
    {"reverse": True},
    {"batch_size": 7},
    {"batch_size": 24},
]


@pytest.mark.parametrize("arguments", GRID, ids=str)
def test_windows_are_those_of_keras(real, arguments):
    arguments = {"length": 6, "batch_size": 5, **arguments}
    ours = TimeseriesGenerator(SERIES, SERIES[:, 0], **arguments)
    theirs = real.TimeseriesGenerator(SERIES, SERIES[:, 0], **arguments)
    assert len(ours) == len(theirs)
    for index in range(len(ours)):
        for mine, other in zip(ours[index], theirs[index], strict=True):
            np.testing.assert_array_equal(mine, other)


def test_a_window_ends_just_before_its_target():
    for x, y in TimeseriesGenerator(SERIES[:, 0], SERIES[:, 0], length=4, batch_size=8):
        np.testing.assert_array_equal(x[:, -1] + 2, y)


def test_shuffled_windows_repeat_with_numpys_seed():
    batches = TimeseriesGenerator(SERIES, SERIES[:, 0], 5, shuffle=True, batch_size=40)
    np.random.seed(1)
    x, y = batches[0]
    np.random.seed(1)
    np.testing.assert_array_equal(batches[0][0], x)
    assert len(set(y)) > 10
    np.testing.assert_array_equal(x[:, -1, 0] + 2, y)


def test_a_series_may_be_a_list_and_goes_to_json_and_to_another_process():
    batches = TimeseriesGenerator([1, 2, 3, 4], [5, 6, 7, 8], 2, stride=2, start_index=0)
    again = timeseries_generator_from_json(batches.to_json())
    assert again.get_config() == batches.get_config()
    for copy in (again, pickle.loads(pickle.dumps(batches))):
        np.testing.assert_array_equal(copy[0][0], batches[0][0])
        np.testing.assert_array_equal(copy[0][1], [7])
    with pytest.raises(ConfigError, match="data cannot be written as JSON"):
        TimeseriesGenerator([object()] * 4, [0] * 4, 2).to_json()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"targets": SERIES[1:]}, DataError, "expected 29 steps .* got 30"),
        ({"length": 30}, ArgumentError, "end_index, got 30 > 29"),
        ({"stride": 0}, ArgumentError, "expected stride .*got 0"),
        ({"batch_size": 2.5}, ArgumentError, "expected batch_size .*got 2.5"),
    ],
)
def test_what_gives_no_windows_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        TimeseriesGenerator(**{"data": SERIES, "targets": SERIES, "length": 3, **arguments})


def test_a_batch_that_is_not_there_is_an_index_error():
    batches = TimeseriesGenerator(SERIES, SERIES, 3, batch_size=10)
    with pytest.raises(IndexError):
        batches[len(batches)]


@pytest.mark.parametrize(
    ("sequences", "arguments", "error", "words"),
    [
        (
            [[1], ["a", "b"]],
            {},
            DataError,
            r"sequences\[1\] cannot be an array of int32.*Tokenizer",
        ),
        ([[1, None]], {}, DataError, r"sequences\[0\] cannot"),
        ([[[1, 2], [3]]], {}, DataError, r"sequences\[0\] cannot.*inhomogeneous"),
        ([[2**40]], {}, DataError, "out of bounds for int32.*another dtype"),
        ([[1]], {"maxlen": -2}, ArgumentError, "expected maxlen >= 0 .*got -2"),
        ([[1]], {"maxlen": 1.5}, ArgumentError, "expected maxlen .*got 1.5"),
    ],
)
def test_numbers_that_do_not_fit_are_answered(sequences, arguments, error, words):
    with pytest.raises(error, match=words):
        pad_sequences(sequences, **arguments)
    assert pad_sequences([[1, 2, 3]], maxlen=2.0).tolist() == [[2, 3]]


@pytest.mark.parametrize("indexes", [{"end_index": 6}, {"start_index": -1}])
def test_indexes_outside_of_the_series_are_refused_at_once(indexes):
    with pytest.raises(ArgumentError, match="expected steps from 0 to 5"):
        TimeseriesGenerator(np.arange(6), np.arange(6), 3, **indexes)


@pytest.mark.parametrize("text", ["{}", "no json", '{"config": {"data": "[1]"}}'])
def test_what_describes_no_series_is_refused(text):
    with pytest.raises(ConfigError, match="expected the JSON of TimeseriesGenerator.to_json"):
        timeseries_generator_from_json(text)
