import pytest

from kerascope.engine.model import Model
from kerascope.layers import (
    LSTM,
    RNN,
    Bidirectional,
    Dense,
    GRUCell,
    Input,
    LSTMCell,
    SimpleRNNCell,
    TimeDistributed,
    Wrapper,
)
from kerascope.viz.extract.layers import CallFacts
from kerascope.viz.extract.nodes import contents_of, node_graph


def expanded(layer, *shapes, **arguments):
    inputs = [Input(shape, name=f"in{i}") for i, shape in enumerate(shapes)]
    outputs = layer(inputs if len(inputs) > 1 else inputs[0], **arguments)
    model = Model(inputs, outputs)
    graph = node_graph(model, expand_nested=True)
    assert graph.attrs["parameters"] == model.count_params()
    return graph


def arrows(graph):
    return [(e.source, e.attrs["output"], e.target, e.attrs["operand"]) for e in graph.edges]


def shapes_of(graph, box_id):
    attrs = graph.node(box_id).attrs
    return attrs["input_shapes"], attrs["output_shapes"]


def test_time_distributed_shows_its_layer_on_single_steps():
    graph = expanded(TimeDistributed(Dense(2, name="d"), name="steps"), (5, 3))
    (group,) = graph.groups
    assert (group.id, group.attrs["kind"]) == ("steps", "call")
    assert group.attrs["class_name"] == "TimeDistributed"
    assert graph.node("steps/d").group == "steps"
    assert shapes_of(graph, "steps/d") == ("(None, 3)", "(None, 2)")
    assert arrows(graph) == [("in0", 0, "steps/d", 0)]
    assert graph.edges[0].attrs["shape"] == "(None, 5, 3)"
    assert graph.node("steps/d").attrs["outputs"] == "output"


def test_all_steps_of_a_known_number_of_samples_are_one_batch():
    layer = TimeDistributed(Dense(2))
    inside = contents_of(layer, CallFacts([(4, 5, 3)], [(4, 5, 2)], "float32"))
    assert inside.parts[0].facts.inputs == [(20, 3)]


def test_both_directions_read_the_sequence_and_are_merged():
    graph = expanded(Bidirectional(LSTM(2, name="l"), name="bi"), (5, 3))
    assert arrows(graph) == [
        ("bi/sequence", 0, "bi/forward_l", 0),
        ("bi/sequence", 0, "bi/backward_l", 0),
        ("bi/forward_l", 0, "bi/merge", 0),
        ("bi/backward_l", 0, "bi/merge", 1),
        ("in0", 0, "bi/sequence", 0),
    ]
    assert [graph.node(f"bi/{name}").depth for name in ("sequence", "forward_l", "merge")] == [
        2,
        1,
        0,
    ]
    assert graph.node("bi/merge").attrs["class_name"] == "Concatenate"
    assert shapes_of(graph, "bi/merge") == ("(None, 2); (None, 2)", "(None, 4)")


def test_without_a_merge_both_outputs_leave_by_themselves():
    layer = Bidirectional(LSTM(2, name="l", return_state=True), merge_mode=None, name="bi")
    graph = expanded(layer, (5, 3))
    assert [box.id for box in graph.nodes[1:]] == ["bi/sequence", "bi/forward_l", "bi/backward_l"]
    marks = {box.id: box.attrs["outputs"] for box in graph.nodes if box.attrs["outputs"]}
    assert marks == {
        "bi/forward_l": "output 0, output 2, output 3",
        "bi/backward_l": "output 1, output 4, output 5",
    }


@pytest.mark.parametrize("by_name", [False, True])
def test_first_states_reach_the_direction_that_they_are_for(by_name):
    layer = Bidirectional(LSTM(2, name="l"), name="bi")
    x, states = Input((5, 3), name="x"), [Input((2,), name=f"s{i}") for i in range(4)]
    outputs = layer(x, initial_state=states) if by_name else layer([x, *states])
    graph = node_graph(Model([x, *states], outputs), expand_nested=True)
    assert arrows(graph)[-5:] == [
        ("x", 0, "bi/sequence", 0),
        ("s0", 0, "bi/forward_l", 1),
        ("s1", 0, "bi/forward_l", 2),
        ("s2", 0, "bi/backward_l", 1),
        ("s3", 0, "bi/backward_l", 2),
    ]


def test_constants_go_to_both_directions():
    class Cell(SimpleRNNCell):
        def build(self, input_shape):
            super().build(input_shape[0])

        def call(self, inputs, states, constants=None, masks=None):
            return super().call(inputs + constants[0], states)

    layer = Bidirectional(RNN(Cell(3, name="c"), name="loop"), name="bi")
    x, constant = Input((5, 3), name="x"), Input((3,), name="constant")
    graph = node_graph(Model([x, constant], layer(x, constants=constant)), expand_nested=True)
    from_sequence = [arrow for arrow in arrows(graph) if arrow[0] == "bi/sequence"]
    assert from_sequence == [
        ("bi/sequence", 0, "bi/forward_loop/c", 0),
        ("bi/sequence", 1, "bi/forward_loop/c", 1),
        ("bi/sequence", 0, "bi/backward_loop/c", 0),
        ("bi/sequence", 1, "bi/backward_loop/c", 1),
    ]
    assert arrows(graph)[-1] == ("constant", 0, "bi/sequence", 1)


def test_an_rnn_shows_its_cells_one_after_another():
    layer = RNN([LSTMCell(2, name="a"), GRUCell(4, name="b")], return_state=True, name="loop")
    x = Input((5, 3), name="x")
    graph = node_graph(Model(x, layer(x)), expand_nested=True)
    assert arrows(graph) == [("loop/a", 0, "loop/b", 0), ("x", 0, "loop/a", 0)]
    assert shapes_of(graph, "loop/a") == ("(None, 3)", "(None, 2); (None, 2); (None, 2)")
    assert graph.node("loop/b").attrs["outputs"] == "output 0, output 3"
    assert graph.node("loop/a").attrs["outputs"] == "output 1, output 2"  # states: first cell first


def test_the_first_states_of_an_rnn_belong_to_the_first_cell():
    layer = RNN([LSTMCell(2, name="a"), GRUCell(4, name="b")], name="loop")
    graph = expanded(layer, (5, 3), (2,), (2,), (4,))
    assert arrows(graph)[1:] == [
        ("in0", 0, "loop/a", 0),
        ("in1", 0, "loop/a", 1),
        ("in2", 0, "loop/a", 2),
        ("in3", 0, "loop/b", 1),
    ]


def test_a_cell_may_be_any_object():
    class Sum:
        state_size = 3

        def call(self, inputs, states):
            return states[0] + inputs, [states[0] + inputs]

    graph = expanded(RNN(Sum(), name="loop"), (5, 3))
    box = graph.node("loop/Sum")
    assert (box.label, box.kind, box.attrs["parameters"]) == ("Sum", "recurrent", 0)


def test_an_lstm_is_one_box():
    assert expanded(LSTM(2, name="l"), (5, 3)).groups == ()


def test_frames_lie_in_frames():
    cells = [SimpleRNNCell(2, name="a"), SimpleRNNCell(3, name="b")]
    layer = TimeDistributed(Bidirectional(RNN(cells, name="loop"), name="bi"), name="steps")
    graph = expanded(layer, (4, 5, 3))
    assert [(group.id, group.parent) for group in graph.groups] == [
        ("steps", ""),
        ("steps/bi", "steps"),
        ("steps/bi/forward_loop", "steps/bi"),
        ("steps/bi/backward_loop", "steps/bi"),
    ]
    assert shapes_of(graph, "steps/bi/forward_loop/b") == ("(None, 2)", "(None, 3)")


# --- wrappers of one's own ------------------------------------------------------------------------


class Scale(Wrapper):
    def build(self, input_shape):
        self.factor = self.add_weight(name="factor", shape=(1,))
        super().build(input_shape)

    def call(self, inputs):
        return self.layer(inputs) * self.factor


class OfTwo(Wrapper):
    def call(self, inputs):
        return self.layer(inputs[0]) + self.layer(inputs[1])

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape[0])


def test_a_wrapper_that_only_passes_on_has_the_shapes_of_its_layer():
    graph = expanded(Wrapper(Dense(2, name="d"), name="w"), (3,))
    assert shapes_of(graph, "w/d") == ("(None, 3)", "(None, 2)")


def test_shapes_inside_a_wrapper_of_ones_own_are_not_guessed():
    assert shapes_of(expanded(Scale(Dense(2, name="d"), name="w"), (3,)), "w/d") == ("", "")


def test_weights_of_the_wrapper_itself_have_a_box():
    graph = expanded(Scale(Dense(2, name="d"), name="w"), (3,))
    box = graph.node("w/own_weights")
    assert (box.kind, box.attrs["parameters"]) == ("variable", 1)


def test_a_model_that_a_wrapper_calls_otherwise_than_its_own_call_is_one_box():
    x = Input((3,), name="x")
    graph = expanded(OfTwo(Model(x, Dense(2)(x), name="net"), name="both"), (3,), (3,))
    assert arrows(graph) == [("in0", 0, "both/net", 0), ("in1", 0, "both/net", 1)]


def test_a_layer_inside_that_is_called_outside_too_is_counted_once():
    x, dense = Input((5, 3), name="x"), Dense(3, name="d")
    model = Model(x, TimeDistributed(dense, name="steps")(dense(x)))
    graph = node_graph(model, expand_nested=True)
    assert graph.attrs["parameters"] == 12
    assert graph.node("steps/d").attrs["shared_with"] == "d"


def test_a_wrapper_that_is_called_twice_is_two_frames():
    x, steps = Input((5, 3), name="x"), TimeDistributed(Dense(3, name="d"), name="steps")
    graph = node_graph(Model(x, steps(steps(x))), expand_nested=True)
    assert [(g.id, g.attrs["call"], g.attrs["calls"]) for g in graph.groups] == [
        ("steps@0", 0, 2),
        ("steps@1", 1, 2),
    ]
    assert graph.node("steps@1/d").attrs["shared_with"] == "steps@0/d"
