import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from zoo import THINNED_ZOO, ZOO

from kerascope import backend as K
from kerascope.engine.model import Model
from kerascope.engine.node_ids import call_ids
from kerascope.errors import ArgumentError, DataError, DtypeError
from kerascope.layers import LSTM, Dense, Input, Lambda
from kerascope.trace.walking import walk
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Graph, GraphNode
from kerascope.viz.overlays.marking import known_ids
from kerascope.viz.overlays.values import (
    BARS,
    at_step,
    histogram,
    value_text,
    values_of,
    with_values,
)


def batch_for(model, samples=2):
    rng = np.random.default_rng(0)
    return [rng.normal(size=(samples, *[n or 3 for n in x.shape[1:]])) for x in model.inputs]


def states_of(graph):
    return {node.id: node.attrs.get("state", "") for node in graph.nodes}


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (3.0, "3"),
        (np.int32(7), "7"),
        ([True, False], "[True False]"),
        ([[1, 2], [3, 4]], "[[1 2] [3 4]]"),
        ([1.0, 0.123456], "[1 0.1235]"),
        ([2**53 + 1], "[9007199254740993]"),
        ([], "empty"),
        (np.ones(20), "all 1"),
        ([1.0, np.nan, np.inf, -np.inf], "✗ 1 NaN, 2 Inf\n[1 nan inf -inf]"),
        (np.full((5, 5), np.nan), "✗ 25 NaN"),
        ([np.nan] * 15 + [2.0] * 5, "✗ 15 NaN\nothers 2"),
        (np.arange(13), "min 0 · mean 6 · max 12\n█▅█▅█▅██"),
        (np.array([0] * 14 + [5]), "min 0 · mean 0.3333 · max 5\n█▁▁▁▁▁▁▂ 93 % zeros"),
    ],
)
def test_an_array_in_words(array, text):
    assert value_text(array) == text


def test_a_single_number_far_away_is_seen():
    assert histogram([0] * 10_000 + [1]) == "█▁▁▁▁▁▁▂"
    assert len(set(BARS)) == 8


@pytest.mark.parametrize(
    "array",
    [
        [1.7e308, -1.7e308] * 10,
        [5e-324, 0.0, 1e-323] * 5,
        np.r_[np.ones(20), np.nextafter(1.0, 2.0)],
        np.float16([60000, -60000] * 10),
    ],
)
def test_numbers_at_the_ends_of_what_a_float_holds_are_told(array):
    assert value_text(array)


@settings(max_examples=60, deadline=None)
@given(
    arrays.arrays(
        st.sampled_from(["float64", "float32", "float16", "int64", "bool"]),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6),
    )
)
def test_any_array_of_numbers_has_words_and_a_broken_one_says_so_first(array):
    text = value_text(array)
    assert text
    assert all(len(line) <= 56 for line in text.split("\n"))
    is_sound = array.dtype.kind != "f" or bool(np.isfinite(array).all())
    assert text.startswith("✗") is not is_sound


def test_what_are_no_numbers_is_refused():
    with pytest.raises(DtypeError, match="expected an array of numbers, got list of dtype <U1"):
        value_text(["a", "b"])


# --- in a graph -----------------------------------------------------------------------------------


def test_values_become_lines_and_attributes():
    graph = graph_of(ZOO["chain"]())
    shown = with_values(graph, {"hidden": [np.array([[0.0, 0.5, 2.0]])]}).node("hidden").attrs
    assert shown["detail"] == "[[0 0.5 2]]"
    assert (shown["value_min"], shown["value_mean"], shown["value_max"]) == (0, 0.8333, 2)
    assert (shown["value_nan"], shown["value_inf"], shown.get("state")) == (0, 0, None)


def test_several_outputs_are_numbered():
    graph = graph_of(ZOO["nested_with_two_outputs"]())
    attrs = with_values(graph, {"split": [np.zeros(2), np.array([np.inf, 1])]}).node("split").attrs
    assert attrs["detail"] == "0: [0 0]\n1: ✗ 1 Inf\n[inf 1]"
    assert (attrs["value_inf"], attrs["value_max"], attrs["state"]) == (1, 1, "nan")


def test_an_array_that_is_all_broken_has_no_figures():
    graph = Graph("one", (GraphNode("a", "a", "dense"),), ())
    attrs = with_values(graph, {"a": np.array([np.nan])}).node("a").attrs
    assert "value_min" not in attrs
    assert attrs["value_nan"] == 1


def test_values_of_an_unknown_box_are_refused():
    with pytest.raises(ArgumentError, match="no box 'hiden'. Did you mean 'hidden'"):
        with_values(graph_of(ZOO["chain"]()), {"hiden": np.ones(1)})


# --- from a run -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_every_call_has_its_value_and_the_outputs_are_those_of_predict(name):
    model = ZOO[name]()
    x = batch_for(model)
    values = values_of(model, x)
    graph = graph_of(model)
    ids = call_ids(model)
    assert list(values) == [ids[step.node] for step in walk(model, x)]
    assert set(values) == {node.id for node in graph.nodes if node.kind not in ("tensor",)}
    predicted = model.predict(x)
    predicted = predicted if isinstance(predicted, list) else [predicted]
    for tensor, array in zip(model.outputs, predicted, strict=True):
        history = tensor._keras_history
        box = next(i for i, n in model.node_ids.items() if n is history.node)
        np.testing.assert_array_equal(values[box][history.tensor_index], array)


@pytest.mark.parametrize("name", ["siamese", "nested_in_nested", "nested_with_two_outputs"])
def test_calls_inside_nested_models_have_the_ids_of_the_expanded_picture(name):
    model = ZOO[name]()
    values = values_of(model, batch_for(model), nested=True)
    graph = graph_of(model, expand_nested=True)
    assert set(values) == set(known_ids(graph))
    assert all(node.attrs["detail"] for node in with_values(graph, values).nodes)


def test_a_frame_says_only_what_is_not_finite():
    model = ZOO["siamese"]()
    x = [np.full((1, 16), np.nan), np.ones((1, 16))]
    graph = with_values(graph_of(model, expand_nested=True), values_of(model, x, nested=True))
    details = [group.attrs.get("detail") for group in graph.groups]
    assert details == ["✗ 4 NaN", None]
    assert graph.groups[1].attrs["value_nan"] == 0


def test_values_inside_hidden_boxes_are_left_out():
    model = ZOO["siamese"]()
    values = values_of(model, batch_for(model), nested=True)
    graph = with_values(graph_of(model), values)
    assert graph.node("encoder@0").attrs["detail"].count("mean") <= 1


def test_in_the_layer_view_all_calls_of_a_layer_stand_in_its_box():
    model = ZOO["shared_layer"]()
    graph = with_values(graph_of(model, "layer"), values_of(model, batch_for(model, 1)))
    assert graph.node("shared").attrs["detail"].count(": [[") == 2


def test_two_calls_of_one_nested_model_have_their_own_values():
    values = values_of(ZOO["siamese"](), [np.zeros((1, 16)), np.ones((1, 16))], nested=True)
    assert values["encoder@0/image"][0].max() == 0
    assert values["encoder@1/image"][0].min() == 1
    assert not np.array_equal(values["encoder@0/code"][0], values["encoder@1/code"][0])


def test_nan_goes_through_and_is_shown():
    model = ZOO["chain"]()
    x = np.ones((2, 20))
    x[0, 0] = np.nan
    graph = with_values(graph_of(model), values_of(model, x))
    assert set(states_of(graph).values()) == {"nan"}
    assert graph.node("pixels").attrs["detail"].startswith("✗ 1 NaN")


def test_a_logarithm_of_zero_is_shown_where_it_happens():
    x = Input((3,), name="x")
    logged = Lambda(K.log, name="log")(x)
    model = Model(x, Dense(1, name="sum", kernel_initializer="ones")(logged))
    graph = with_values(graph_of(model), values_of(model, np.zeros((1, 3))))
    assert states_of(graph) == {"x": "", "log": "nan", "sum": "nan"}


def test_the_states_of_a_stateful_layer_stay():
    steps = Input(batch_shape=(2, 3, 4), name="steps")
    model = Model(steps, LSTM(3, stateful=True, name="reader")(steps))
    x = np.ones((2, 3, 4))
    model.predict(x, batch_size=2)
    before = [state.get_value() for state in model.get_layer("reader").states]
    first = values_of(model, x)["reader"][0]
    np.testing.assert_array_equal(values_of(model, x)["reader"][0], first)
    after = [state.get_value() for state in model.get_layer("reader").states]
    np.testing.assert_array_equal(after, before)
    np.testing.assert_allclose(model.predict(x, batch_size=2), first, rtol=1e-6)


def test_attributes_that_a_call_sets_stay():
    class Counting(Model):
        def __init__(self):
            super().__init__(name="counting")
            self.head, self.count = Dense(2, name="head"), 0

        def call(self, inputs):
            self.count += 1
            return self.head(inputs)

    counting = Counting()
    x = Input(shape=(4,), name="x")
    model = Model(x, counting(x))
    before = counting.count
    values_of(model, np.ones((1, 4)), nested=True)
    assert counting.count == before


def test_arrays_that_do_not_fit_are_refused():
    with pytest.raises(DataError):
        values_of(ZOO["chain"](), np.ones((2, 7)))


# --- at a time ------------------------------------------------------------------------------------


def test_the_picture_at_a_step_shows_what_has_been_computed():
    model = ZOO["diamond"]()
    values = values_of(model, np.ones((1, 8)))
    steps = list(values)
    graph = at_step(graph_of(model), values, 1)
    expected = ["done", "current", "pending", "pending"]
    assert [states_of(graph)[name] for name in steps] == expected
    assert ["detail" in graph.node(name).attrs for name in steps] == [True, True, False, False]


def test_the_last_step_and_the_end():
    model = ZOO["chain"]()
    values = values_of(model, np.ones((1, 20)))
    graph = graph_of(model)
    assert at_step(graph, values, -1) == at_step(graph, values, 3)
    assert states_of(at_step(graph, values, -1))["scores"] == "current"
    assert set(states_of(at_step(graph, values, 4)).values()) == {"done"}


@pytest.mark.parametrize("step", [5, -5, 1.5, "2", True, None])
def test_a_step_that_does_not_exist_is_refused(step):
    model = ZOO["chain"]()
    with pytest.raises(ArgumentError, match="expected a step of 'chain' from 0 to 4"):
        at_step(graph_of(model), values_of(model, np.ones((1, 20))), step)
