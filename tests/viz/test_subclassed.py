import numpy as np
import pytest
from zoo import ZOO, Residual, encoder

import kerascope as ks
from kerascope.engine.model import Model
from kerascope.engine.sequential import Sequential
from kerascope.errors import GraphError
from kerascope.layers import LSTM, BatchNormalization, Bidirectional, Dense, Dropout, Input, Reshape
from kerascope.viz.extract.networks import graph_model_of
from kerascope.viz.extract.nodes import node_graph


class Rich(Model):
    """Everything that leaves traces: a nested model, updates, penalties, seeds, a counter."""

    def __init__(self):
        super().__init__(name="rich")
        self.encode = encoder()
        self.normalize = BatchNormalization(name="normalize")
        self.blocks = [
            Dense(4, name="first", kernel_regularizer="l2"),
            Dense(4, name="second", activity_regularizer="l2"),
        ]
        self.drop = Dropout(0.5, name="drop")
        self.shape = Reshape((2, 2), name="shape")
        self.read = Bidirectional(LSTM(2, name="reader"), name="read")
        self.runs = 0

    def call(self, inputs, training=None):
        self.runs += 1
        h = self.normalize(self.encode(inputs))
        for block in self.blocks:
            h = h + block(h)
        return [self.read(self.shape(self.drop(h))), 2.0 * h]


def all_layers(model):
    found = {model: None}
    for layer in model._sublayers:
        found |= all_layers(layer)
    return found


def everything_about(model):
    layers = list(all_layers(model))
    books = [
        [str(vars(b)) if hasattr(b, "_items") else list(b) for b in x._collections] for x in layers
    ]
    return {
        "attributes": [dict(vars(layer)) for layer in layers],
        "calls": [(list(x.inbound_nodes), list(x.outbound_nodes)) for x in layers],
        "books": books,
        "weights": [w.get_value().tolist() for w in model.weights],
        "seeds": np.random.get_state()[1].tolist(),
        "names": dict(ks.backend.state._state.uids),
    }


def test_a_model_with_a_graph_is_its_own():
    for name in ("chain", "sequential", "subclassed"):
        model = ZOO[name]()
        assert graph_model_of(model) is model


def test_after_a_call_on_numbers_the_model_can_be_drawn():
    model = Residual(name="net")
    model(np.ones((3, 8)))
    graph = node_graph(graph_model_of(model))
    assert [box.id for box in graph.nodes] == ["input_1", "mix@0", "mix@1", "drop", "join"]
    assert graph.node("input_1").attrs["output_shapes"] == "(None, 8)"
    assert (graph.name, graph.attrs["parameters"]) == ("net", model.count_params())


def test_drawing_leaves_no_trace():
    model = Rich()
    model(np.ones((3, 16)))
    before = everything_about(model)
    drawn = graph_model_of(model)
    assert [box.id for box in node_graph(drawn).nodes][:3] == ["input_1", "encoder", "normalize"]
    after = everything_about(model)
    for what, value in before.items():
        assert after[what] == value, what
    assert model.outputs == []


def test_the_graph_computes_what_the_model_computes_with_the_same_weights():
    model = Rich()
    x = np.random.default_rng(0).normal(size=(3, 16))
    expected = model(x)
    drawn = graph_model_of(model)
    for one, other in zip(drawn.predict(x), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    assert set(drawn.weights) == set(model.weights)


def test_drawing_twice_gives_the_same():
    model = Rich()
    model(np.ones((3, 16)))
    Dense(3), Input((2,))  # whatever is made between
    first = node_graph(graph_model_of(model), expand_nested=True)
    assert first == node_graph(graph_model_of(model), expand_nested=True)


def test_afterwards_the_model_trains_as_if_nothing_had_been():
    losses = []
    for is_drawn in (False, True):
        np.random.seed(3)
        model = Residual(name="net")
        model(np.ones((3, 8)))
        if is_drawn:
            graph_model_of(model)
        model.compile("sgd", "mse")
        losses.append(model.fit(np.ones((6, 8)), np.zeros((6, 8)), verbose=0).history["loss"])
    assert losses[0] == losses[1]


def test_build_tells_the_shape_and_the_weights_are_still_not_made():
    model = Residual()
    model.build((None, 8))
    assert graph_model_of(model).count_params() == 72
    assert not model.mix.built
    assert model.mix.weights == []


def test_without_a_shape_there_is_no_graph():
    assert graph_model_of(Residual()) is None
    assert graph_model_of(Sequential([Dense(2)])) is None
    assert graph_model_of(Model()) is None


def test_a_name_that_is_taken_is_not_given_to_an_operation():
    class Plus(Model):
        def __init__(self):
            super().__init__()
            self.add_1 = Dense(4, name="add_1")

        def call(self, inputs):
            return self.add_1(inputs) + inputs

    model = Plus()
    model(np.ones((2, 4)))
    assert [layer.name for layer in graph_model_of(model).layers] == ["input_1", "add_1", "add_1~2"]


class Chooses(Model):
    def __init__(self):
        super().__init__(name="chooses")
        self.one, self.other = Dense(4, name="one"), Dense(4, name="other")

    def call(self, inputs):
        return self.one(inputs) if inputs[0, 0] > 0 else self.other(inputs)


class ReadsNumbers(Chooses):
    def call(self, inputs):
        return self.one(inputs) if np.asarray(inputs)[0, 0] > 0 else self.other(inputs)


@pytest.mark.parametrize("cls", [Chooses, ReadsNumbers])
def test_a_call_that_needs_numbers_cannot_be_drawn(cls):
    model = cls()
    model.build((None, 4))
    names = dict(ks.backend.state._state.uids)
    with pytest.raises(
        GraphError, match=r"'chooses': cannot be drawn, because its call fails on symbolic"
    ):
        graph_model_of(model)
    assert model.one.inbound_nodes == model.other.inbound_nodes == []
    assert (model.inputs, dict(ks.backend.state._state.uids)) == ([], names)


def test_a_network_whose_call_needs_more_than_its_inputs_is_one_box():
    class Blend(Model):
        def __init__(self):
            super().__init__(name="blend")
            self.one = Dense(4, name="one")

        def call(self, inputs, other):
            return self.one(inputs) + other

    a, b = Input((4,), name="a"), Input((4,), name="b")
    graph = node_graph(Model([a, b], Blend()(a, other=b)), expand_nested=True)
    assert ([box.id for box in graph.nodes], graph.groups) == (["a", "b", "blend"], ())


class Stack(Model):
    """A network with a call of its own, made of networks with calls of their own."""

    def __init__(self):
        super().__init__(name="stack")
        self.first, self.second = Residual(name="first"), Residual(name="second")

    def call(self, inputs):
        return self.second(self.first(self.first(inputs)))


def test_networks_with_their_own_call_inside_each_other_have_their_ops():
    stack = Stack()
    stack(np.zeros((1, 8)))
    graph = ks.draw(stack, level="op").whole
    kernels = [node.id for node in graph.nodes if node.label == "mix/kernel"]
    assert len(kernels) == 2
    assert sum(int(node.attrs["parameters"]) for node in graph.nodes) == stack.count_params()


class OfDict(Model):
    """Takes a dict, in which a list may be, and returns one."""

    def __init__(self, is_deep=False):
        super().__init__(name="of_dict")
        self.is_deep = is_deep
        self.first, self.second = Dense(3, name="first"), Dense(3, name="second")

    def call(self, inputs):
        b, a = inputs["b"], inputs["a"][0] if self.is_deep else inputs["a"]
        return {"sum": self.first(a) + self.second(b), "b": self.second(b)}


@pytest.mark.parametrize("is_deep", [False, True])
def test_a_model_that_takes_a_dict_is_drawn_and_summed_up(is_deep, capsys):
    """The summary of a model that had been called on a dict was a KeyError."""
    model, a, b = OfDict(is_deep), np.ones((2, 4), "float32"), np.ones((2, 5), "float32")
    model({"b": b, "a": [a] if is_deep else a})
    shapes = {x.name: x.shape for x in graph_model_of(model).inputs}
    assert list(shapes.values()) == [(None, 4), (None, 5)]
    edges = {(e.source, e.target.partition("@")[0]) for e in ks.draw(model).graph.edges}
    assert {("input_1", "first"), ("input_2", "second")} <= edges
    model.summary(expand_nested=True)
    assert "(None, 3)" in capsys.readouterr().out
