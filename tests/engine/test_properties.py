"""What holds for every graph of layers: depths, stepping, undoing, and the configuration."""

import json

import networkx as nx
import numpy as np
import pytest
from holding import holds_for
from hypothesis import strategies as st
from strategies import WIDTH, Split, build, data_for, recipes

from kerascope import Input, K, Model, callbacks, observing
from kerascope.backend.graph import Op
from kerascope.engine.graph_map import map_graph
from kerascope.layers import Dense, Lambda
from kerascope.registry import custom_object_scope


def passed_on(x):
    return x


CUSTOM = {"Split": Split, "passed_on": passed_on}


# --- depths ---------------------------------------------------------------------------------------


def node_graph(model):
    """Return the calls of a model's graph, an edge from each call to those that use its outputs."""
    graph = nx.DiGraph()
    waiting = [x._keras_history.node for x in model.outputs]
    while waiting:
        node = waiting.pop()
        if node in graph and graph.nodes[node].get("done"):
            continue
        graph.add_node(node, done=True)
        if node.is_input:
            continue
        for x in node.input_tensors:
            graph.add_edge(x._keras_history.node, node)
            waiting.append(x._keras_history.node)
    return graph


def longest_paths(graph):
    """Return the length of the longest path from each node to an end."""
    lengths = {}
    for node in reversed(list(nx.topological_sort(graph))):
        lengths[node] = max((lengths[after] + 1 for after in graph.successors(node)), default=0)
    return lengths


def lifted_depths(graph, model):
    """Return Keras 2's depths: a call that is reached later is lifted to its layer's depth."""
    order = list(nx.dfs_postorder_nodes(_with_start(graph.reverse(), model), "outputs"))[:-1]
    depths, of_layer = {}, {}
    for node in reversed(order):
        below = max((depths[after] + 1 for after in graph.successors(node)), default=0)
        depth = max(below, of_layer.get(node.outbound_layer, 0))
        depths[node] = of_layer[node.outbound_layer] = depth
    return depths


def _with_start(needs, model):
    """Return the graph of needs in the order of the walk, begun at the outputs."""
    graph = nx.DiGraph()
    graph.add_edges_from(("outputs", x._keras_history.node) for x in model.outputs)
    for node in needs:
        parents = [] if node.is_input else [x._keras_history.node for x in node.input_tensors]
        graph.add_edges_from((node, parent) for parent in parents)
    return graph


@holds_for(recipes(reuse=False), few=50, many=200, derandomize=True)
def test_depths_are_the_longest_paths_where_every_layer_is_called_once(recipe):
    model = build(recipe)
    expected = longest_paths(node_graph(model))
    assert model.graph_map.nodes_depths == expected
    assert map_graph(model.inputs, model.outputs, "1").nodes_depths == expected


@holds_for(recipes(), few=75, many=300, derandomize=True)
def test_depths_with_shared_layers_are_longest_paths_lifted_to_the_depth_of_the_layer(recipe):
    model = build(recipe)
    graph = node_graph(model)
    expected = lifted_depths(graph, model)
    found = model.graph_map
    assert found.nodes_depths == expected
    longest = longest_paths(graph)
    assert all(found.nodes_depths[node] >= longest[node] for node in graph)
    assert all(found.nodes_depths[a] > found.nodes_depths[b] for a, b in graph.edges)
    for layer, depth in found.layers_depths.items():
        calls = [node for node in found.nodes_depths if node.outbound_layer is layer]
        assert depth == max(found.nodes_depths[node] for node in calls)


@holds_for(recipes(), few=50, many=200, derandomize=True)
def test_the_depths_of_keras_1_are_never_below_the_longest_paths(recipe):
    model = build(recipe)
    graph = node_graph(model)
    old = map_graph(model.inputs, model.outputs, "1").nodes_depths
    longest = longest_paths(graph)
    assert old.keys() == set(graph)
    assert all(old[node] >= longest[node] for node in graph)


@holds_for(recipes(), few=30, many=120, derandomize=True)
def test_the_walk_visits_every_edge_once(recipe):
    model = build(recipe)
    found = model.graph_map
    edges = sum(len(n.input_tensors) for n in found.nodes_depths if not n.is_input)
    assert found.visits == edges + len(model.outputs)
    assert len(found.nodes_in_decreasing_depth) == len(set(found.nodes_in_decreasing_depth))


# --- stepping -------------------------------------------------------------------------------------


def compiled(recipe, optimizer="sgd"):
    """Return a model whose every weight has a gradient, or None if the recipe gives no such one."""
    K.clear_session()
    np.random.seed(0)
    model = build(recipe)
    outputs = [Dense(WIDTH)(y) for y in model.outputs]
    whole = Model(model.inputs, outputs)
    whole.compile(optimizer, "mse")
    return whole


def state(model):
    return [*model.get_weights(), *model.optimizer.get_weights()]


def drained(model, x, y):
    return model.fit_stage(x, y, batch_size=5, epochs=2, verbose=0).run()


def walked(model, x, y):
    stage = model.fit_stage(x, y, batch_size=5, epochs=2, verbose=0)
    for _ in stage.walk():
        pass
    return stage.result


def stepped_over(model, x, y):
    stage = model.fit_stage(x, y, batch_size=5, epochs=2, verbose=0)
    for _ in stage:
        pass
    return stage.result


def observed(model, x, y):
    heard = []
    with observing(lambda stage, event: heard.append((stage.name, type(event)))):
        history = drained(model, x, y)
    assert len(heard) > 100
    return history


def stepped_into_now_and_then(model, x, y):
    """Walk every third inner stage to its end, every third one a little way, and skip the rest."""
    stage = model.fit_stage(x, y, batch_size=5, epochs=2, verbose=0)
    met = 0
    for event in stage:
        if not hasattr(event, "walk"):
            continue
        met += 1
        if met % 3 == 0:
            for _ in event.walk():
                pass
        elif met % 3 == 1:
            steps = iter(event)
            for _ in range(4):
                next(steps, None)
    return stage.result


@pytest.mark.parametrize("drive", [walked, stepped_over, observed, stepped_into_now_and_then])
@holds_for(recipes(max_steps=6), few=6, many=40, derandomize=True)
def test_a_stepped_run_is_bit_identical_to_a_drained_one(drive, recipe):
    results = []
    for how in (drained, drive):
        model = compiled(recipe, "adam")
        x, y = data_for(model)
        np.random.seed(1)
        history = how(model, x, y)
        results.append((history.history, state(model)))
    (first, first_state), (second, second_state) = results
    assert first == second
    for a, b in zip(first_state, second_state, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@holds_for(recipes(random=False), few=20, many=80, derandomize=True)
def test_a_forward_pass_is_the_same_by_function_by_eager_call_and_event_by_event(recipe):
    model = build(recipe)
    x, _ = data_for(model)
    expected = model.predict(x)
    eager = model(x if len(x) > 1 else x[0])
    for a, b in zip(_listed(expected), _listed(eager), strict=True):
        np.testing.assert_array_equal(a, b)
    f = model.predict_function
    flags = [0.0] if len(f.inputs) > len(x) else []
    stage = f.stage([*x, *flags])
    for _ in stage:
        pass
    for a, b in zip(_listed(expected), stage.result, strict=True):
        np.testing.assert_array_equal(a, b)


def _listed(arrays):
    return arrays if isinstance(arrays, list) else [arrays]


# --- calls that fail ------------------------------------------------------------------------------


class Stumble(Op):
    """The identity, until its `calls_left` are used up."""

    calls_left = 10**9

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        Stumble.calls_left -= 1
        if Stumble.calls_left < 0:
            raise FloatingPointError("stumbled")
        return x * 1

    def grad(self, inputs, outputs, output_grads):
        return [Stumble()(output_grads[0])]


def stumbling(recipe, optimizer):
    K.clear_session()
    np.random.seed(0)
    base = build(recipe)
    outputs = [Lambda(lambda t: Stumble()(t))(Dense(WIDTH)(y)) for y in base.outputs]
    model = Model(base.inputs, outputs)
    model.compile(optimizer, "mse")
    return model


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@holds_for(
    recipe=recipes(max_steps=5, random=False),
    good=st.integers(0, 4),
    extra=st.integers(0, 5),
    few=12,
    many=40,
    derandomize=True,
)
def test_an_op_that_raises_in_a_batch_leaves_all_as_after_the_batch_before(
    optimizer, recipe, good, extra
):
    Stumble.calls_left = 10**9
    reference = stumbling(recipe, optimizer)
    x, y = data_for(reference, samples=20)
    fit = {"batch_size": 4, "shuffle": False, "verbose": 0}
    reference.fit(x, y, epochs=0, **fit)  # makes the functions and the optimizer's slots
    per_batch = 2 * len(reference.outputs)
    for i in range(good):
        reference.train_on_batch(
            [a[4 * i : 4 * i + 4] for a in x], [a[4 * i : 4 * i + 4] for a in y]
        )
    assert K.get_value(reference.optimizer.iterations) == good
    model = stumbling(recipe, optimizer)
    Stumble.calls_left = good * per_batch + extra % per_batch
    with pytest.raises(FloatingPointError, match="stumbled"):
        model.fit(x, y, **fit)
    Stumble.calls_left = 10**9
    for a, b in zip(state(reference), state(model), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@holds_for(
    recipe=recipes(max_steps=5, random=False),
    batch=st.integers(0, 4),
    hook=st.sampled_from(["on_batch_begin", "on_batch_end", "on_epoch_begin", "on_train_begin"]),
    few=12,
    many=50,
    derandomize=True,
)
def test_a_callback_that_raises_leaves_all_as_the_last_batch_left_it(recipe, batch, hook):
    seen = []

    class Raising(callbacks.Callback):
        def on_batch_end(self, index, logs=None):
            seen[:] = state(self.model)

    def fail(index=batch, logs=None):
        if not hook.startswith("on_batch") or index == batch:
            raise InterruptedError("not now")

    model = compiled(recipe, "adam")
    x, y = data_for(model, samples=20)
    before = model.get_weights()
    listener = Raising()
    failing = callbacks.LambdaCallback(
        **{hook: fail} if hook != "on_train_begin" else {hook: lambda logs: fail()}
    )
    with pytest.raises(InterruptedError, match="not now"):
        model.fit(x, y, batch_size=4, verbose=0, callbacks=[listener, failing])
    trained = batch + (hook == "on_batch_end") if hook.startswith("on_batch") else 0
    assert model.optimizer.iterations.get_value() == trained
    expected = seen if trained else [*before, *model.optimizer.get_weights()]
    for a, b in zip(state(model), expected, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@holds_for(
    recipe=recipes(max_steps=5), how_far=st.integers(0, 30), few=12, many=50, derandomize=True
)
def test_an_abandoned_step_changes_nothing(recipe, how_far):
    model = compiled(recipe)
    x, y = data_for(model)
    model.train_on_batch(x, y)
    before = state(model)
    flags = [1.0] if model.uses_learning_phase else []
    stage = model.train_function.stage([*x, *y, *[np.ones(12)] * len(y), *flags])
    events = iter(stage)
    for _ in range(min(how_far, len(model.train_function.schedule.steps) - 1)):
        next(events)
    del events
    for a, b in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


# --- configuration --------------------------------------------------------------------------------


@holds_for(recipes(), few=30, many=120, derandomize=True)
def test_a_model_from_its_configuration_predicts_the_same(recipe):
    model = build(recipe)
    x, _ = data_for(model)
    config = json.loads(json.dumps(model.get_config()))
    with custom_object_scope(CUSTOM):
        twin = Model.from_config(config)
        assert json.loads(json.dumps(twin.get_config())) == config
    twin.set_weights(model.get_weights())
    for a, b in zip(_listed(model.predict(x)), _listed(twin.predict(x)), strict=True):
        np.testing.assert_array_equal(a, b)
    depths = {node.name: depth for node, depth in model.graph_map.nodes_depths.items()}
    assert len(depths) == len(twin.graph_map.nodes_depths)


@holds_for(recipes(max_steps=6, random=False), few=20, many=80, derandomize=True)
def test_a_model_called_on_new_inputs_gives_what_it_predicts(recipe):
    model = build(recipe)
    x, _ = data_for(model)
    inputs = [Input((WIDTH,)) for _ in model.inputs]
    outputs = model(inputs if len(inputs) > 1 else inputs[0])
    outer = Model(inputs, outputs)
    for a, b in zip(_listed(model.predict(x)), _listed(outer.predict(x)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert {v for v, _ in outer.updates} == {v for v, _ in model.updates}
    assert len(outer.losses) == len(model.losses)
