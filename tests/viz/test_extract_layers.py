import numpy as np
import pytest
from zoo import LARGE_ZOO, THINNED_ZOO, ZOO

from kerascope import backend as K
from kerascope.engine.model import Model
from kerascope.layers import LSTM, RNN, Add, Bidirectional, Dense, Input, LSTMCell, TimeDistributed
from kerascope.viz.extract.layers import layer_graph


@pytest.fixture(params=THINNED_ZOO, name="model")
def model_of_the_zoo(request):
    return ZOO[request.param]()


def inputs_of_calls(model):
    nodes = [node for nodes in model.nodes_by_depth.values() for node in nodes]
    return sum(len(node.input_tensors) for node in nodes if not node.is_input)


def test_parameters_are_counted_once(model):
    graph = layer_graph(model)
    assert graph.attrs["parameters"] == model.count_params()
    assert sum(box.attrs["parameters"] for box in graph.nodes) == model.count_params()


def test_the_layer_view_has_one_box_per_layer_and_accounts_for_every_connection(model):
    graph = layer_graph(model)
    assert len(graph.nodes) == len(model.graph_map.layers)
    connections = sum(edge.attrs["connections"] for edge in graph.edges)
    assert connections == inputs_of_calls(model)


@pytest.mark.parametrize("name", LARGE_ZOO)
def test_in_large_models_no_layer_is_shared(name):
    graph = layer_graph(LARGE_ZOO[name]())
    assert "Not shown" not in graph.attrs["caption"]


def test_the_layer_view_says_what_it_hides():
    caption = layer_graph(ZOO["siamese"]()).attrs["caption"]
    assert caption == (
        "3 layers, 685 parameters. "
        "Not shown: encoder is called 2 times, 1 arrow for several tensors, "
        "what runs inside encoder"
    )


def test_the_layer_view_merges_parallel_edges_and_writes_their_number():
    graph = layer_graph(ZOO["doubled"]())
    (edge,) = [edge for edge in graph.edges if edge.target == "double"]
    assert (edge.label, edge.attrs["connections"]) == ("\u00d72", 2)


def test_the_layer_view_lists_the_shapes_of_a_layer_that_has_several():
    a, b = Input(shape=(2, 3), name="a"), Input(shape=(4, 3), name="b")
    shared = Dense(5, name="shared")
    graph = layer_graph(Model([a, b], [shared(a), shared(b)]))
    assert graph.node("shared").attrs["output_shapes"] == "(None, 2, 5) or (None, 4, 5)"


def test_a_loop_is_a_layer_that_is_called_on_its_own_output():
    x, shared = Input(shape=(4,), name="x"), Dense(4, name="shared")
    graph = layer_graph(Model(x, shared(shared(shared(x)))))
    loops = [edge for edge in graph.edges if edge.source == edge.target]
    assert [(edge.label, edge.attrs["connections"]) for edge in loops] == [("\u00d72", 2)]
    assert graph.attrs["caption"] == (
        "1 layer, 20 parameters. Not shown: shared is called 3 times (also on its own output), "
        "1 arrow for several tensors"
    )


def test_calls_on_both_sides_of_another_layer_make_arrows_in_both_directions():
    graph = layer_graph(ZOO["between_calls"]())
    assert [(e.source, e.target) for e in graph.edges] == [("x", "S"), ("S", "D"), ("D", "S")]


def test_a_tensor_that_no_layer_made_has_one_box():
    x = Input(shape=(2,), name="x")
    offset = K.constant(np.ones((1, 2)), name="offset")
    graph = layer_graph(Model(x, Add(name="b")([Add(name="a")([x, offset]), offset])))
    assert [box.id for box in graph.nodes if box.kind == "tensor"] == ["offset"]


@pytest.mark.parametrize(
    ("layer", "detail"),
    [
        (TimeDistributed(Dense(2, name="d")), "around Dense 'd'"),
        (Bidirectional(LSTM(2, name="l")), "around LSTM 'forward_l' and LSTM 'backward_l'"),
        (
            RNN([LSTMCell(2, name="a"), LSTMCell(2, name="b")]),
            "around LSTMCell 'a' and LSTMCell 'b'",
        ),
        (LSTM(2), None),
    ],
)
def test_a_wrapper_says_what_it_is_around(layer, detail):
    x = Input(shape=(3, 4))
    graph = layer_graph(Model(x, layer(x)))
    assert graph.node(layer.name).attrs.get("detail") == detail
    assert ("what runs inside" in graph.attrs["caption"]) == (detail is not None)
