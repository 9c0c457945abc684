import networkx
import numpy as np
import pytest
from effort import growth
from holding import holds_for
from hypothesis import strategies as st
from strategies import build, recipes
from thinned import thinned
from zoo import THINNED_ZOO, ZOO

from kerascope import backend as K
from kerascope.backend.graph import Constant, applies_in_order, leaves
from kerascope.backend.ops.scan import Scan
from kerascope.engine.model import Model
from kerascope.engine.node_ids import call_ids
from kerascope.errors import ArgumentError, DtypeError, NotBuiltError
from kerascope.layers import (
    LSTM,
    Bidirectional,
    Dense,
    Embedding,
    Input,
    Lambda,
    TimeDistributed,
)
from kerascope.viz.extract.ops import (
    op_graph,
    op_graph_of_function,
    op_graph_of_layer,
    op_graph_of_model,
)


@pytest.fixture(params=THINNED_ZOO, name="model")
def model_of_the_zoo(request):
    return ZOO[request.param]()


def masked_lstm():
    x = Input(shape=(5,), name="words")
    h = Embedding(10, 4, mask_zero=True, name="vectors")(x)
    return Model(x, Dense(1, name="score")(LSTM(3, name="reader")(h)), name="masked_lstm")


def stacked():
    x = Input(shape=(5, 4), name="x")
    h = Bidirectional(LSTM(3, return_sequences=True), name="both")(x)
    h = TimeDistributed(Dense(2, name="each"), name="steps")(h)
    return Model(x, LSTM(2, name="last")(h), name="stacked")


MODELS = {**ZOO, "masked_lstm": masked_lstm, "stacked": stacked}


def train_function_of(make):
    model = make()
    model.compile("rmsprop", "mse")
    model._make_train_function()
    return model.train_function


def operands(applies):
    """Count the inputs of all applies, also of those inside loops."""
    total = 0
    for apply in applies:
        total += len(apply.inputs)
        if isinstance(apply.op, Scan):
            total += operands(apply.op.inner.applies)
    return total


def performed(applies):
    """List all applies, with those inside a loop in the place of the loop."""
    found = []
    for apply in applies:
        found += performed(apply.op.inner.applies) if isinstance(apply.op, Scan) else [apply]
    return found


def flows(graph):
    return [edge for edge in graph.edges if "role" not in edge.attrs]


def check_places(graph):
    """Hold depths, at every level of nesting, to networkx's longest paths; none goes in circles."""
    parents = {one.id: one.parent for one in graph.groups}
    parents.update((box.id, box.group) for box in graph.nodes)
    depths = {one.id: one.depth for one in (*graph.groups, *graph.nodes)}

    def path(one):
        return [*path(parents[one]), one] if one else []

    levels = networkx.DiGraph()
    levels.add_nodes_from(depths)
    for edge in flows(graph):
        pairs = zip(path(edge.source), path(edge.target), strict=False)
        levels.add_edge(*next((a, b) for a, b in pairs if a != b))
    longest = {}
    for one in reversed(list(networkx.topological_sort(levels))):
        longest[one] = max((longest[after] + 1 for after in levels[one]), default=0)
    sources = {edge.source for edge in flows(graph)}
    given = [box.id for box in graph.nodes if box.kind in ("placeholder", "variable", "constant")]
    unused = {box_id for box_id in given if box_id not in sources}
    assert {one: d for one, d in depths.items() if one not in unused} == {
        one: d for one, d in longest.items() if one not in unused
    }
    for source, target in levels.edges:
        assert depths[source] > depths[target]
    for group in graph.groups:
        assert group.id in parents.values()  # no frame is empty


# --- every input is an arrow ----------------------------------------------------------------------


def test_there_is_one_edge_for_every_input_of_every_op(model):
    graph = op_graph_of_model(model)
    applies = applies_in_order(model.outputs, model.inputs)
    assert len(flows(graph)) == operands(applies)
    assert sum(box.kind == "op" for box in graph.nodes) == len(performed(applies))


def test_every_placeholder_variable_and_constant_has_one_box(model):
    graph = op_graph_of_model(model)
    boxes = [box for box in graph.nodes if box.kind != "op" and not box.attrs["input_count"]]
    expected = set(leaves(model.outputs))
    for apply in performed(applies_in_order(model.outputs)):
        expected.update(x for x in apply.inputs if isinstance(x, Constant))
    assert len(boxes) == len(expected)


def test_edges_are_those_of_the_tensors():
    x, y = K.placeholder(shape=(2, 3), name="x"), K.variable(np.ones((3, 4)), name="y")
    graph = op_graph(K.dot(x, y))
    facts = [(e.source, e.target, e.attrs["operand"], e.attrs["shape"]) for e in graph.edges]
    assert facts == [("x", "dot", 0, "(2, 3)"), ("y", "dot", 1, "(3, 4)")]


def test_x_plus_x_has_two_edges():
    x = K.placeholder(shape=(2,), name="x")
    assert [(e.source, e.attrs["operand"]) for e in op_graph(x + x).edges] == [("x", 0), ("x", 1)]


@pytest.mark.parametrize("name", thinned(MODELS, kind=lambda name: "model"))
def test_gradients_have_an_edge_for_every_input(name):
    model = MODELS[name]()
    loss = K.mean(K.square(model.outputs[0]))
    grads = K.gradients(loss, [*model.trainable_weights, K.variable(1.0)])
    assert grads[-1] is None
    graph = op_graph(grads)
    assert len(flows(graph)) == operands(applies_in_order(grads[:-1]))
    check_places(graph)


@pytest.mark.parametrize("make", [masked_lstm, stacked])
def test_loops_have_an_edge_for_every_input_inside_and_outside(make):
    model = make()
    graph = op_graph_of_model(model)
    assert len(flows(graph)) == operands(applies_in_order(model.outputs))
    check_places(graph)


@holds_for(recipes(), few=12, many=40)
def test_random_models_and_their_gradients(recipe):
    model = build(recipe)
    graph = op_graph_of_model(model)
    assert len(graph.edges) == operands(applies_in_order(model.outputs))
    check_places(graph)
    ids = {call_id for node, call_id in call_ids(model).items() if not node.is_input}
    assert {group.id for group in graph.groups if not group.parent} == ids
    grads = [g for g in K.gradients(K.sum(model.outputs[-1]), model.inputs) if g is not None]
    graph = op_graph([*model.outputs, *grads])
    assert len(graph.edges) == operands(applies_in_order([*model.outputs, *grads]))
    check_places(graph)


@st.composite
def op_graphs(draw):
    """Tensors of a random graph of ops, in scopes that are entered again and again."""
    tensors = [K.placeholder(shape=(3,), name="x"), K.variable(np.ones(3), name="w")]
    for _ in range(draw(st.integers(1, 25))):
        first, second = (tensors[-draw(st.integers(1, min(6, len(tensors))))] for _ in range(2))
        with K.name_scope(draw(st.sampled_from(["a", "b", "a/c", "b/c", "c/a/b"]))):
            tensors.append(draw(st.sampled_from([K.exp(first), first + second, first * 2.0])))
    return tensors[2:]


@holds_for(op_graphs(), few=40, many=150)
def test_random_ops_in_random_scopes(tensors):
    graph = op_graph(tensors)
    applies = applies_in_order(tensors)
    assert len(graph.edges) == operands(applies)
    assert sum(box.kind == "op" for box in graph.nodes) == len(applies)
    check_places(graph)


# --- depth ----------------------------------------------------------------------------------------


def test_depths_are_longest_paths_in_every_frame(model):
    check_places(op_graph_of_model(model))


def test_without_frames_depth_is_the_longest_path_to_a_result():
    x, w = K.placeholder(shape=(3,), name="x"), K.variable(np.ones(3), name="w")
    graph = op_graph([K.exp(K.square(x)) + w, K.tanh(x)])
    assert {box.id: box.depth for box in graph.nodes} == {
        **{"x": 3, "square": 2, "exp": 1, "w": 1},
        **{"add": 0, "tanh": 0},
    }


def test_an_input_that_nothing_needs_is_drawn_beside_the_deepest():
    x, unused = Input(shape=(2,), name="x"), Input(shape=(3,), name="unused")
    graph = op_graph_of_model(Model([x, unused], Dense(1, name="y")(x)))
    assert graph.node("unused").depth == graph.node("x").depth == 1


# --- boxes ----------------------------------------------------------------------------------------


def test_a_box_says_what_its_op_does():
    x = K.placeholder(shape=(2, 3), name="x")
    attrs = op_graph(K.sum(x, axis=1, keepdims=True)).node("sum").attrs
    assert attrs["class_name"] == "Sum"
    assert attrs["detail"] == "axes=(1,), keepdims=True"
    assert (attrs["output_shapes"], attrs["dtype"]) == ("(2, 1)", "float32")
    assert (attrs["input_count"], attrs["output_count"], attrs["outputs"]) == (1, 1, "output")


def test_results_are_marked():
    x = K.placeholder(shape=(2,), name="x")
    y = K.exp(x)
    graph = op_graph([y, K.tanh(y), x])
    assert {box.id: box.attrs["outputs"] for box in graph.nodes} == {
        **{"x": "output 2", "exp": "output 0", "tanh": "output 1"}
    }


def test_a_constant_shows_its_value_or_its_shape():
    x = K.placeholder(shape=(3, 4), name="x")
    big = Constant(np.arange(12.0).reshape(3, 4), name="table")
    graph = op_graph(x * 2 + big)
    assert graph.node("multiply/constant").label == "2"
    assert graph.node("table").label == "(3, 4)"


def test_a_constant_that_is_used_twice_has_one_box():
    x, two = K.placeholder(shape=(3,), name="x"), Constant(2.0)
    graph = op_graph(K.exp(x * two) * two)
    assert [box.label for box in graph.nodes if box.kind == "constant"] == ["2"]


def test_many_ops_of_one_name_have_distinct_ids():
    x = K.placeholder(shape=(3,), name="add")
    graph = op_graph((x + x) + x)
    assert [box.id for box in graph.nodes] == ["add", "add~2", "add~3"]


def test_a_tensor_alone_is_a_graph():
    graph = op_graph(K.variable(1.0, name="w"))
    assert [(box.id, box.kind, box.attrs["outputs"]) for box in graph.nodes] == [
        ("w", "variable", "output")
    ]


def test_a_seed_that_differs_from_run_to_run_is_not_shown():
    graph = op_graph(K.random_normal((2,), mean=1.0))
    (box,) = [box for box in graph.nodes if box.kind == "op" and box.label == "random_normal"]
    assert "seed" not in box.attrs["detail"]
    assert "mean=1" in box.attrs["detail"]


def test_errors_say_what_was_expected():
    with pytest.raises(DtypeError, match=r"expected tensors, got Model\. Use op_graph_of_model"):
        op_graph(ZOO["chain"]())
    with pytest.raises(ArgumentError, match="got none"):
        op_graph([None])
    with pytest.raises(DtypeError, match="expected a model, got Dense"):
        op_graph_of_model(Dense(1))
    with pytest.raises(DtypeError, match=r"a function of K\.function, got int"):
        op_graph_of_function(3)


# --- frames ---------------------------------------------------------------------------------------


def test_calls_of_a_shared_layer_stand_in_frames_of_their_own():
    model = ZOO["between_calls"]()
    graph = op_graph_of_model(model)
    assert [group.id for group in graph.groups] == ["S@0", "D", "S@1"]
    assert set(call_ids(model).values()) == {"x", "S@0", "D", "S@1"}
    second = graph.groups[2].attrs
    assert (second["class_name"], second["call"], second["calls"]) == ("Dense", 1, 2)
    assert graph.node("S@1/dot").group == "S@1"


def test_a_variable_stands_in_the_frame_of_its_only_user_and_outside_of_several():
    graph = op_graph_of_model(ZOO["between_calls"]())
    assert graph.node("D/kernel").group == "D"
    assert graph.node("S/kernel").group == ""


def test_frames_of_nested_models_hold_the_frames_of_their_layers():
    graph = op_graph_of_model(ZOO["nested_in_nested"]())
    assert [(group.id, group.parent) for group in graph.groups] == [
        ("middle", ""),
        ("middle/inner", "middle"),
        ("middle/inner/wide", "middle/inner"),
        ("middle/inner/code", "middle/inner"),
        ("middle/squash", "middle"),
        ("outer_out", ""),
    ]
    assert graph.groups[2].attrs["class_name"] == "Dense"


def test_a_layer_that_a_nested_model_shares_has_a_frame_for_each_call():
    x = Input(shape=(4,), name="x")
    shared = Dense(4, name="shared")
    inner = Model(x, shared(Dense(4, name="between")(shared(x))), name="inner")
    y = Input(shape=(4,), name="y")
    graph = op_graph_of_model(Model(y, inner(inner(y))))
    assert {group.id for group in graph.groups} == {
        f"inner@{call}{layer}"
        for call in (0, 1)
        for layer in ("", "/shared@0", "/between", "/shared@1")
    }
    check_places(graph)


def test_a_mask_stands_in_the_frame_of_the_layer_that_makes_it():
    graph = op_graph_of_model(masked_lstm())
    assert graph.node("vectors/not_equal").group == "vectors"


def test_layers_inside_the_call_of_a_layer_have_a_frame_for_each_time_they_are_called():
    inside = Dense(3, name="inside")
    x = Input(shape=(3,), name="x")
    model = Model(x, Lambda(lambda t: inside(inside(t)), name="around")(x))
    graph = op_graph_of_model(model)
    assert [group.id for group in graph.groups] == ["around", "around/inside@0", "around/inside@1"]
    assert graph.node("around/identity").group == "around"


def test_what_the_call_of_a_subclassed_model_calls_stands_in_its_frame():
    class Twice(Model):
        def __init__(self):
            super().__init__(name="twice")
            self.inside = Dense(3, name="inside")

        def call(self, inputs):
            return self.inside(self.inside(inputs) * 2.0)

    x = Input(shape=(3,), name="x")
    graph = op_graph_of_model(Model(x, Twice()(Dense(3, name="first")(x))))
    assert [group.id for group in graph.groups] == [
        *("first", "twice", "twice/inside@0", "twice/inside@1")
    ]
    assert graph.node("twice/multiply").group == "twice"
    check_places(graph)


def test_a_layer_whose_name_begins_like_that_of_its_model_stays_inside():
    x = Input(shape=(3,), name="x")
    inner = Model(x, Dense(3, name="inner_dense")(x), name="inner")
    y = Input(shape=(3,), name="y")
    graph = op_graph_of_model(Model(y, inner(y)))
    assert [group.id for group in graph.groups] == ["inner", "inner/inner_dense"]


def test_frames_that_would_go_round_in_a_circle_are_cut():
    x = K.placeholder(shape=(3,), name="x")
    with K.name_scope("a"):
        first = K.exp(x)
    with K.name_scope("b"):
        second = K.exp(first)
    with K.name_scope("a"):
        third = second + first
    graph = op_graph(third)
    check_places(graph)
    assert [group.id for group in graph.groups] == ["a", "b", "a~2"]
    assert graph.groups[2].attrs["detail"] == "part 2 of 2"


def test_the_gradients_of_a_shared_layer_are_cut_by_call_where_another_layer_lies_between():
    graph = op_graph_of_function(train_function_of(ZOO["between_calls"]))
    frames = {group.id: group.attrs.get("detail", "") for group in graph.groups}
    inside = {name: detail for name, detail in frames.items() if name.startswith("gradients/")}
    assert inside == {
        **dict.fromkeys(["gradients/loss", "gradients/S_loss", "gradients/D"], ""),
        **{"gradients/S": "part 1 of 2", "gradients/S~2": "part 2 of 2"},
    }


def test_two_layers_of_one_name_are_not_two_calls_of_one():
    x = Input(shape=(3,), name="x")
    first, second = Dense(3, name="same"), Dense(3, name="same")
    graph = op_graph(second(first(x)))
    assert [(group.id, group.attrs["calls"]) for group in graph.groups] == [
        *(("same", 1), ("same~2", 1))
    ]


def test_scopes_that_hold_nothing_but_another_are_one_frame():
    x = K.placeholder(shape=(3,), name="x")
    with K.name_scope("outer"), K.name_scope("inner"):
        y = K.exp(x)
    graph = op_graph(y)
    assert [(group.id, group.label) for group in graph.groups] == [("outer/inner", "outer/inner")]
    assert graph.node("outer/inner/exp").group == "outer/inner"


# --- loops ----------------------------------------------------------------------------------------


def running_sum():
    def step(x, states):
        total = states[0] + x * weight
        return K.tanh(total), [total]

    weight = K.variable(2.0, name="weight")
    x = K.placeholder(shape=(2, 4, 3), name="x")
    last, outputs, states = K.rnn(step, x, [K.zeros((2, 3), name="start")])
    return last, outputs, states


def test_a_loop_is_a_frame_that_holds_the_ops_of_one_step():
    graph = op_graph(list(running_sum()[:2]) + running_sum()[2])
    loops = [group for group in graph.groups if group.attrs["kind"] == "loop"]
    assert [group.id for group in loops] == ["scan", "scan~2"]
    inside = {box.label for box in graph.nodes if box.group == "scan"}
    assert inside == {"input", "state", "weight", "multiply", "add", "tanh"}


def test_edges_run_into_and_out_of_a_loop():
    _, outputs, (state,) = running_sum()
    graph = op_graph([outputs, state])
    edges = {(edge.source, edge.target, edge.attrs.get("role", "")) for edge in graph.edges}
    assert {
        ("transpose", "scan/input", ""),
        ("start", "scan/state", ""),
        ("weight", "scan/weight", ""),
        ("scan/tanh", "transpose~2", ""),
        ("scan/add", "scan/state", "update"),
    } <= edges
    assert graph.node("scan/add").attrs["outputs"] == "output 1"
    assert graph.node("weight").group == ""


def test_the_gradient_of_a_loop_reads_what_its_steps_gave_out():
    outputs = running_sum()[1]
    (grad,) = K.gradients(K.sum(outputs * outputs), [leaves([outputs])[0]])
    graph = op_graph(grad)
    check_places(graph)
    forward, backward = [group for group in graph.groups if group.attrs["kind"] == "loop"]
    assert "backwards" in backward.attrs["detail"]
    crossing = [
        edge
        for edge in graph.edges
        if graph.node(edge.source).group == forward.id
        and graph.node(edge.target).group == backward.id
    ]
    assert "scan/tanh" in {edge.source for edge in crossing}


# --- one layer, one function ----------------------------------------------------------------------


def test_a_layer_shows_the_ops_between_its_inputs_and_outputs():
    model = ZOO["between_calls"]()
    shared = model.get_layer("S")
    graph = op_graph_of_layer(shared, call=1)
    assert graph.name == "S@1"
    assert [(box.id, box.kind) for box in graph.nodes] == [
        ("D/add", "placeholder"),
        ("S/kernel", "variable"),
        ("S/bias", "variable"),
        ("S/dot", "op"),
        ("S/add", "op"),
    ]


def test_a_layer_that_was_never_called_has_no_ops():
    with pytest.raises(NotBuiltError, match="'alone' was never called on a symbolic tensor"):
        op_graph_of_layer(Dense(2, name="alone"))
    layer = ZOO["chain"]().get_layer("hidden")
    with pytest.raises(ArgumentError, match="expected call from 0 to 0, got 1"):
        op_graph_of_layer(layer, call=1)


def test_the_op_graph_of_a_subclassed_model_says_what_to_do():
    class Mine(Model):
        def call(self, inputs):
            return inputs

    with pytest.raises(NotBuiltError, match="Wrap it"):
        op_graph_of_model(Mine())


@pytest.mark.parametrize("name", thinned(MODELS, kind=lambda name: "model"))
def test_every_update_of_a_train_function_is_a_box_with_an_edge_to_its_variable(name):
    function = train_function_of(MODELS[name])
    graph = op_graph_of_function(function)
    updates = [box for box in graph.nodes if box.kind == "update"]
    assert len(updates) == len(function.updates)
    backs = [edge for edge in graph.edges if "role" in edge.attrs and not edge.label]
    ends = {(edge.source, graph.node(edge.target).label) for edge in backs}
    assert {(box.id, box.label) for box in updates} == ends
    tensors = [*function.outputs, *(update.new_value for update in function.updates)]
    expected = operands(applies_in_order(tensors, function.inputs)) + len(updates)
    assert len(flows(graph)) == expected
    check_places(graph)


def test_what_a_function_is_fed_is_a_placeholder_even_if_an_op_could_compute_it():
    x = K.placeholder(shape=(2,), name="x")
    middle, unused = K.exp(x), K.placeholder(shape=(3,), name="unused")
    graph = op_graph_of_function(K.function([middle, unused], [K.tanh(middle)]))
    assert {box.id: (box.kind, box.depth) for box in graph.nodes} == {
        **{"exp": ("placeholder", 1), "unused": ("placeholder", 1), "tanh": ("op", 0)}
    }


def test_a_variable_that_is_only_written_is_drawn():
    w = K.variable(1.0, name="w")
    graph = op_graph_of_function(K.function([], [], updates=[(w, K.constant(2.0))]))
    assert {box.id: box.kind for box in graph.nodes} == {
        **{"w": "variable", "w/update": "update", "w/update/constant": "constant"}
    }


# --- stable and fast ------------------------------------------------------------------------------


def chain_of_ops(count):
    y = K.placeholder(shape=(3,), name="x")
    for _ in range(count):
        y = K.exp(y)
    return y


@pytest.mark.parametrize("count", [1500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_chain_of_thousands_of_ops_is_drawn(count):
    assert op_graph(chain_of_ops(count)).node("x").depth == count


def test_the_work_is_not_the_square_of_the_ops():
    chains = {count: chain_of_ops(count) for count in (50, 200)}
    assert growth(lambda count: op_graph(chains[count]), 50, times=4) < 7  # a square: 16
