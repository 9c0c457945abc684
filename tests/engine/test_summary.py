"""`model.summary()` as data."""

import inspect

import numpy as np
import pytest
from zoo import THINNED_ZOO, ZOO

from kerascope import Input, Model, display
from kerascope.engine.base_layer import Layer
from kerascope.engine.costs import Cost
from kerascope.engine.node_ids import call_ids
from kerascope.engine.summary import Total, print_summary, summarize
from kerascope.errors import ArgumentError, NotBuiltError
from kerascope.layers import (
    GRU,
    LSTM,
    RNN,
    Add,
    Bidirectional,
    Conv2D,
    Dense,
    GRUCell,
    LSTMCell,
    TimeDistributed,
)


@pytest.fixture(params=THINNED_ZOO, name="model")
def model_of_the_zoo(request):
    return ZOO[request.param]()


def names(summary):
    return [(row.level, row.layer) for row in summary.rows]


def test_there_is_a_row_for_each_layer_and_the_totals_are_the_models(model):
    summary = summarize(model)
    assert [row.layer for row in summary.rows] == [layer.name for layer in model.graph_map.layers]
    assert summary.total == Total(model.count_params(), 4 * model.count_params())
    assert summary.trainable.numbers + summary.non_trainable.numbers == summary.total.numbers


def test_there_is_a_row_for_each_call_and_each_source_is_one(model):
    summary = summarize(model, calls=True)
    ids = call_ids(model)
    assert {row.layer for row in summary.rows} == set(ids.values())
    sources = [source for row in summary.rows for source in row.connected_to]
    assert len(sources) == sum(len(node.input_tensors) for node in ids if not node.is_input)
    assert {source.partition("[")[0] for source in sources} <= set(ids.values()) | {
        name.partition("[")[0] for name in ids.values()
    }


def test_parameters_of_calls_are_counted_once(model):
    summary = summarize(model, calls=True)
    counted = sum(row.parameters for row in summary.rows if not row.is_again)
    assert counted == summary.total.numbers


def test_each_call_has_its_own_shapes():
    shared, a, b = Dense(3, name="shared"), Input((5, 4)), Input((7, 4))
    model = Model([a, b], [shared(a), shared(b)])
    rows = {row.layer: row for row in summarize(model, calls=True).rows}
    assert rows["shared@0"].output_shape == (None, 5, 3)
    assert rows["shared@1"].output_shape == (None, 7, 3)
    assert (rows["shared@0"].is_again, rows["shared@1"].is_again) == (False, True)
    (row,) = [row for row in summarize(model).rows if row.calls == 2]
    assert row.output_shape == [(None, 5, 3), (None, 7, 3)]


def test_two_calls_on_the_same_source_are_said_to_be_two():
    x, shared = Input((4,), name="x"), Dense(4, name="shared")
    summary = summarize(Model(x, Add(name="sum")([shared(x), shared(x)])))
    row = summary.rows[1]
    assert (row.calls, row.connected_to) == (2, ("x", "x"))
    assert summary.rows[2].connected_to == ("shared@0", "shared@1")


def test_an_operation_between_layers_says_which():
    from kerascope.settings import config

    before, config.dialect = config.dialect, "3"
    try:
        x = Input((4,))
        summary = summarize(Model(x, Dense(4)(x) + 1))
    finally:
        config.dialect = before
    assert summary.rows[-1].class_name == "Operation: Add"


def test_nested_models_are_opened_and_their_calls_have_the_ids_of_pictures():
    model = ZOO["siamese"]()
    opened = summarize(model, expand_nested=True)
    assert names(opened)[2:6] == [(0, "encoder"), (1, "image"), (1, "wide"), (1, "code")]
    assert opened.total == summarize(model).total
    by_call = summarize(model, expand_nested=True, calls=True)
    again = [row.layer for row in by_call.rows if row.is_again and row.parameters]
    assert again == ["encoder@1", "encoder@1/wide", "encoder@1/code"]
    assert by_call.rows[-3].connected_to == ("encoder@1/wide",)


def test_models_inside_models_and_layers_inside_wrappers_are_opened():
    nested = summarize(ZOO["nested_in_nested"](), expand_nested=True)
    assert [level for level, _ in names(nested)] == [0, 0, 1, 1, 2, 2, 2, 1, 0]
    x = Input((6, 4))
    h = Bidirectional(LSTM(3, return_sequences=True, name="lstm"), name="both")(x)
    h = TimeDistributed(Dense(5, name="dense"), name="each")(h)
    rows = summarize(Model(x, GRU(2, name="gru")(h)), expand_nested=True).rows
    found = [(row.level, row.layer, row.class_name) for row in rows[1:]]
    assert found == [
        (0, "both", "Bidirectional"),
        (1, "forward_lstm", "LSTM"),
        (1, "backward_lstm", "LSTM"),
        (0, "each", "TimeDistributed"),
        (1, "dense", "Dense"),
        (0, "gru", "GRU"),
    ]
    assert [row.parameters for row in rows if row.layer == "dense"] == [35]


def test_cells_that_somebody_gave_are_opened_and_stacked_ones_are_several():
    x = Input((6, 4))
    cells = [GRUCell(3, name="low"), LSTMCell(2, name="high")]
    rows = summarize(Model(x, RNN(cells, name="rnn")(x)), expand_nested=True, calls=True).rows
    found = [(row.level, row.layer) for row in rows[1:]]
    assert found == [(0, "rnn"), (1, "rnn/low"), (1, "rnn/high")]
    assert rows[1].parameters == rows[2].parameters + rows[3].parameters


class TwoLayers(Model):
    def __init__(self):
        super().__init__(name="two")
        self.first, self.second = Dense(3, name="first"), Dense(2, name="second")

    def call(self, x):
        return self.second(self.first(x))


def test_a_subclassed_model_that_ran_on_numbers_has_the_rows_of_its_graph():
    model = TwoLayers()
    with pytest.raises(NotBuiltError, match="has not yet been built"):
        summarize(model)
    model(np.ones((2, 4), "float32"))
    summary = summarize(model, flops=True, memory=True)
    assert [(row.name, row.output_shape, row.connected_to) for row in summary.rows[1:]] == [
        ("first", (None, 3), (summary.rows[0].name,)),
        ("second", (None, 2), ("first",)),
    ]
    assert (summary.total.numbers, summary.unknown_costs) == (23, 0)
    assert summary.activation_bytes is not None
    assert not model.first.inbound_nodes  # looking leaves nothing behind


class Block(Layer):
    """A layer that calls others."""

    def __init__(self, **options):
        super().__init__(**options)
        self.inner, self.other = Dense(4, name="inner"), Dense(4, name="other")

    def call(self, x, factor=1.0):
        return self.other(self.inner(x)) * factor + x


class WithBlock(Model):
    def __init__(self):
        super().__init__()
        self.block, self.head = Block(name="block"), Dense(2, name="head")
        self.unused = Dense(5, name="unused")
        self.unused.build((None, 4))

    def call(self, x):
        return self.head(self.block(x))


def test_custom_blocks_are_opened_with_their_shapes_and_connections():
    """In a functional model, in a subclassed one that was called, and with a row for each call."""
    x = Input((4,), name="x")
    functional = Model(x, Dense(2, name="head")(Block(name="block")(x)))
    subclassed = WithBlock()
    subclassed(np.ones((1, 4), "float32"))
    for model in (functional, subclassed):
        for calls in (False, True):
            summary = summarize(model, expand_nested=True, calls=calls)
            inside = [row for row in summary.rows if row.level == 1]
            shapes = [row.output_shape for row in inside]
            assert [row.name for row in inside][1:3] == ["inner", "other"]
            assert shapes == [(None, 4)] * 5
            assert inside[2].connected_to == (inside[1].layer,)
            counted = sum(row.parameters for row in summary.rows if row.level == 0)
            assert counted == summary.total.numbers
    assert [row.name for row in summarize(subclassed).rows][-1] == "unused"


class NeedsMore(Block):
    def call(self, x, factor):
        return super().call(x, factor)


def test_a_block_whose_call_needs_more_than_its_input_keeps_the_rows_of_its_layers():
    x = Input((4,), name="x")
    model = Model(x, NeedsMore(name="block")(x, 2.0))
    rows = [(row.name, row.output_shape) for row in summarize(model, expand_nested=True).rows]
    assert rows == [("x", (None, 4)), ("block", (None, 4)), ("inner", None), ("other", None)]


# --- a part of the layers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (("hidden", "dropout"), ["hidden", "dropout"]),
        (["hidden", "hidden"], ["hidden"]),
        (("hid", ".*"), ["pixels", "hidden", "dropout", "scores"]),
        (("dro", "sc"), ["dropout", "scores"]),
        (("scores", "dropout"), ["dropout", "scores"]),
    ],
)
def test_layer_range_takes_names_and_beginnings(wanted, expected):
    summary = summarize(ZOO["chain"](), layer_range=wanted)
    assert [row.layer for row in summary.rows] == expected
    assert summary.total == summarize(ZOO["chain"]()).total
    assert summary.note.endswith(f"{len(expected)} of 4 rows")


def test_the_layers_of_a_range_are_opened_and_their_costs_are_of_the_whole_model():
    options = {"expand_nested": True, "flops": True, "memory": True}
    part = summarize(ZOO["siamese"](), layer_range=("encoder", "encoder"), **options)
    whole = summarize(ZOO["siamese"](), **options)
    assert names(part) == names(whole)[2:6]
    assert part.multiply_adds == whole.multiply_adds
    assert part.activation_bytes == whole.activation_bytes


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (("hiden", "scores"), "Did you mean 'hidden'"),
        (("hidden", "zzz"), "no layer's name is or begins with 'zzz'"),
        (("hidden", "a["), "no layer's name is or begins with"),
        (("hidden",), "expected two names"),
        ("hidden", "expected two names"),
    ],
)
def test_a_range_of_no_layers_is_refused(wanted, words):
    with pytest.raises(ArgumentError, match=words):
        summarize(ZOO["chain"](), layer_range=wanted)


# --- columns --------------------------------------------------------------------------------------


def test_what_nobody_asked_for_is_not_counted():
    summary = summarize(ZOO["chain"]())
    assert summary.columns == ()
    assert all(row.multiply_adds is None and row.activation_bytes is None for row in summary.rows)


def test_memory_is_that_of_weights_and_of_outputs_for_one_sample():
    summary = summarize(ZOO["chain"](), memory=True)
    assert [row.weight_bytes for row in summary.rows] == [0, 4 * 1344, 0, 4 * 650]
    assert [row.activation_bytes for row in summary.rows] == [80, 256, 256, 40]
    assert summary.activation_bytes == 632


def test_memory_counts_each_call_and_what_is_inside_of_a_nested_model():
    summary = summarize(ZOO["siamese"](), memory=True)
    assert [row.activation_bytes for row in summary.rows] == [64, 64, 2 * (128 + 16), 32, 4]


def test_costs_inside_a_model_that_is_called_on_other_shapes_are_unknown():
    x = Input((8, 8, 3))
    inner = Model(x, Conv2D(4, 3, name="conv")(x), name="inner")
    y = Input((16, 16, 3))
    model = Model(y, inner(y))
    options = {"flops": True, "memory": True, "expand_nested": True}
    for calls in (False, True):
        summary = summarize(model, calls=calls, **options)
        row, *inside = summary.rows[1:]
        assert (row.multiply_adds, row.activation_bytes) == (Cost(14 * 14 * 4 * 27), None)
        assert {(one.multiply_adds, one.activation_bytes) for one in inside} == {(None, None)}
        assert summary.activation_bytes is None
        assert summary.multiply_adds == row.multiply_adds
    same = summarize(Model(x, inner(x)), **options)
    assert same.rows[-1].multiply_adds == Cost(6 * 6 * 4 * 27)


def test_bytes_go_by_the_dtype():
    x = Input((4,), dtype="float16")
    summary = summarize(Model(x, Dense(3, dtype="float16")(x)), memory=True)
    assert summary.total == Total(15, 30)
    assert [row.activation_bytes for row in summary.rows] == [8, 6]


def test_activations_of_unknown_size_are_unknown():
    x = Input((None, 4))
    summary = summarize(Model(x, Dense(3)(x)), memory=True, flops=True)
    assert (summary.activation_bytes, summary.multiply_adds) == (None, Cost(0, 12))


def test_the_optimizer_counts_once_it_has_been_used():
    model = ZOO["chain"]()
    model.compile("adam", "mse")
    assert summarize(model).optimizer == Total(0, 0)
    model.fit(np.ones((4, 20)), np.ones((4, 10)), verbose=0)
    assert summarize(model).optimizer == Total(2 * 1994, 8 * 1994)
    assert summarize(model).total.numbers == 1994


def test_frozen_weights_are_not_trainable():
    model = ZOO["chain"]()
    model.layers[1].trainable = False
    summary = summarize(model)
    assert (summary.trainable.numbers, summary.non_trainable.numbers) == (650, 1344)


# --- printing -------------------------------------------------------------------------------------


def test_where_nothing_is_registered_the_rows_are_printed_plainly(monkeypatch):
    monkeypatch.setattr(display, "_renderers", {})
    lines = []
    print_summary(ZOO["chain"](), print_fn=lines.append)
    assert lines[1] == "hidden (Dense): 1,344"
    assert lines[-1] == "Total params: 1,994"


def test_the_arguments_stand_in_the_order_of_keras():
    parameters = list(inspect.signature(Model.summary).parameters)
    assert parameters[1:7] == [
        "line_length", "positions", "print_fn", "expand_nested", "show_trainable", "layer_range",
    ]  # fmt: skip


def test_every_option_of_the_method_is_one_of_the_function():
    assert (
        list(inspect.signature(Model.summary).parameters)[1:]
        == list(inspect.signature(print_summary).parameters)[1:]
    )
