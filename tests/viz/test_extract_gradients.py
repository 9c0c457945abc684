import numpy as np
import pytest
from holding import holds_for
from strategies import WIDTH, build, recipes
from zoo import THINNED_ZOO, ZOO

from kerascope import backend as K
from kerascope.engine.model import Model
from kerascope.errors import (
    DataError,
    DisconnectedGraphError,
    DtypeError,
    GradientError,
    NotBuiltError,
    NotCompiledError,
)
from kerascope.layers import Add, Dense, Dropout, Input, Lambda, Layer
from kerascope.models import Sequential
from kerascope.stage import observing
from kerascope.viz.extract import gradients as level
from kerascope.viz.extract.gradients import gradient_graph, sweep_of_model
from kerascope.viz.extract.ladder import gradient_ladder
from kerascope.viz.graph import Graph

rng = np.random.default_rng(3)


def gradient_values(loss, wrt, feed) -> dict[str, np.ndarray]:
    """Return the arrays of which the boxes of `gradient_graph` tell, by id."""
    picture = level._picture_of_tensors(loss, wrt, "gradients", "test")
    return level.compute_values(picture.tensors, *level.tensor_feed(feed, "test"))


def gradient_values_of_model(model, data, training=False) -> dict[str, np.ndarray]:
    _, picture = sweep_of_model(model)
    return level.compute_values(picture.tensors, *level.model_feed(model, data, training, "test"))


def gradient_graph_of_model(model, data=None, training=False) -> Graph:
    """Return the calls of a model with their gradients beside them: what a ladder is made of."""
    graph = sweep_of_model(model)[1].graph
    if data is None:
        return graph
    return level._with_numbers(graph, gradient_values_of_model(model, data, training))


def backward_edges(graph: Graph) -> list[tuple[str, str]]:
    return [(e.source, e.target) for e in graph.edges if e.attrs.get("role") == "gradient"]


def contributions_to(graph: Graph, box_id: str) -> list[str]:
    return [source for source, target in backward_edges(graph) if target == box_id]


def check_shape(graph: Graph) -> None:
    """Hold a graph to what the layout relies on."""
    by_id = {box.id: box for box in graph.nodes}
    assert graph.attrs["level"] == "gradient"
    depths = [box.depth for box in graph.nodes]
    assert depths == sorted(depths, reverse=True)
    for edge in graph.edges:
        source, target = by_id[edge.source], by_id[edge.target]
        if edge.attrs.get("role") == "gradient":
            assert {source.kind, target.kind} <= {"gradient", "sum"}
            sum_id = target.id.rpartition("#")[0]
            if sum_id and by_id[sum_id].attrs["beside"] == source.attrs["beside"]:
                assert source.depth == target.depth + 1  # what a call sends to itself
            else:
                assert source.depth < target.depth
        else:
            assert source.depth > target.depth
    for box in graph.nodes:
        if "beside" in box.attrs:
            assert by_id[box.attrs["beside"]].depth == box.depth
            assert box.depth % 2 == 0
            incoming = contributions_to(graph, box.id)
            if box.kind == "sum":
                assert incoming == [f"{box.id}#{i + 1}" for i in range(len(incoming))]
                assert len(incoming) > 1
        elif box.kind == "gradient":
            assert box.depth % 2 == 1


# --- tensors --------------------------------------------------------------------------------------


def test_on_a_diamond_two_contributions_add_up_to_what_gradients_gives():
    x = K.placeholder(shape=(2, 3), name="x")
    loss = K.sum(K.exp(x) + K.square(x))
    array = rng.normal(size=(2, 3)).astype("float32")
    graph = gradient_graph(loss, x, feed={x: array})
    check_shape(graph)
    values = gradient_values(loss, x, {x: array})
    assert graph.node("grad:x").kind == "sum"
    assert contributions_to(graph, "grad:x") == ["grad:x#1", "grad:x#2"]
    assert graph.node("grad:x#1").label == "contribution 1 (from exp)"
    assert graph.node("grad:x#2").label == "contribution 2 (from square)"
    np.testing.assert_allclose(values["grad:x#1"], np.exp(array), rtol=1e-6)
    np.testing.assert_allclose(values["grad:x#2"], 2 * array, rtol=1e-6)
    (expected,) = K.function([x], K.gradients(loss, x))([array])
    np.testing.assert_array_equal(values["grad:x"], expected)
    np.testing.assert_allclose(values["grad:x#1"] + values["grad:x#2"], expected, rtol=1e-6)


def test_every_tensor_between_has_its_gradient_beside_it():
    x = K.placeholder(shape=(3,), name="x")
    w = K.variable(np.ones(3), name="w")
    loss = K.sum(K.square(x * w))
    graph = gradient_graph(loss, w)
    check_shape(graph)
    kinds = {box.id: box.kind for box in graph.nodes}
    assert kinds == {
        **{"w": "variable", "x": "placeholder", "multiply": "op", "square": "op", "sum": "loss"},
        **{f"grad:{name}": "gradient" for name in ("w", "multiply", "square", "sum")},
    }
    assert backward_edges(graph) == [
        ("grad:multiply", "grad:w"), ("grad:square", "grad:multiply"), ("grad:sum", "grad:square")
    ]  # fmt: skip


def test_the_gradients_of_all_tensors_between_are_those_of_K_gradients():
    x = K.placeholder(shape=(2, 3), name="x")
    h = K.tanh(x)
    y = h * K.sigmoid(h) + h
    loss = K.mean(y)
    array = rng.normal(size=(2, 3))
    values = gradient_values(loss, [x, h], {x: array})
    for name, tensor in {"x": x, "tanh": h, "add": y, "mean": loss}.items():
        (expected,) = K.function([x], K.gradients(loss, tensor))([array])
        np.testing.assert_array_equal(values[f"grad:{name}"], expected)


def test_an_op_that_reads_a_tensor_twice_contributes_twice():
    x = K.variable(3.0, name="x")
    graph = gradient_graph(x * x, x, feed={})
    assert contributions_to(graph, "grad:x") == ["grad:x#1", "grad:x#2"]
    assert [graph.node(f"grad:x{end}").attrs["detail"] for end in ("#1", "#2", "")] == list("336")


def test_where_no_gradient_goes_through_the_picture_says_so():
    x = K.variable([1.0, 3.0], name="x")
    loss = K.sum(K.cast(K.argmax(x), "float32"))
    graph = gradient_graph(loss, x)
    check_shape(graph)
    assert not [box.id for box in graph.nodes if box.id in ("grad:x", "grad:argmax")]
    assert graph.node("cast").attrs["detail"] == "the gradient stops here"
    assert "No gradient for x" in graph.attrs["caption"]


def test_branches_that_are_not_chosen_contribute_nothing():
    x = K.placeholder(shape=(2,), name="x")
    chosen = K.placeholder(shape=(), name="chosen")
    loss = K.sum(K.switch(chosen, K.square(x), K.exp(x)) * x)
    for choice in (0.0, 1.0):
        feed = {x: np.array([1.0, 2.0]), chosen: choice}
        values = gradient_values(loss, x, feed)
        parts = [values[f"grad:x#{i}"] for i in (1, 2, 3)]
        (expected,) = K.function([x, chosen], K.gradients(loss, x))(list(feed.values()))
        np.testing.assert_allclose(sum(parts), expected, rtol=1e-6)
        np.testing.assert_allclose(values["grad:x"], expected, rtol=1e-6)
        unused = "square" if not choice else "exp"
        assert not values[f"grad:{unused}"].any()


def test_a_loss_that_does_not_depend_on_the_tensor_is_drawn_alone():
    x, y = K.variable(1.0, name="x"), K.variable(2.0, name="y")
    graph = gradient_graph(K.square(y), x)
    check_shape(graph)
    assert [box.id for box in graph.nodes] == ["x", "square", "grad:square"]
    assert "No gradient for x" in graph.attrs["caption"]


def test_many_numbers_are_told_by_their_figures():
    x = K.variable(np.full((4, 5), 2.0), name="x")
    box = gradient_graph(K.sum(x * 3.0), x, feed={}).node("grad:x")
    assert box.attrs["detail"] == "mean 3 |max| 3"
    assert box.attrs["norm"] == pytest.approx(3 * np.sqrt(20))


def test_without_values_boxes_carry_no_numbers():
    x = K.placeholder(shape=(2,), name="x")
    graph = gradient_graph(K.sum(K.exp(x)), x)
    assert all("norm" not in box.attrs for box in graph.nodes)


@pytest.mark.parametrize("count", [1200, pytest.param(3000, marks=pytest.mark.slow)])
def test_a_chain_of_thousands_of_ops_is_no_matter(count):
    x = y = K.variable(1.0, name="x")
    for _ in range(count):
        y = y + 1.0
    graph = gradient_graph(y, x)
    assert len(graph.nodes) == 2 * count + 2
    assert graph.node(f"grad:add~{count}").depth == 0


def test_what_is_no_tensor_is_refused():
    x = K.placeholder(shape=(2,), name="x")
    with pytest.raises(DtypeError, match="a tensor or a list of tensors"):
        gradient_graph(K.sum(x), Dense(3, name="dense"))
    with pytest.raises(DtypeError, match="a dict from placeholders to arrays"):
        gradient_graph(K.sum(x), x, feed=[np.ones(2)])
    with pytest.raises(GradientError, match=r"Convert it with K.cast\(\) first"):
        gradient_graph(K.argmax(x), x)
    with pytest.raises(DisconnectedGraphError, match="'x'"):
        gradient_graph(K.sum(K.exp(x)), x, feed={})


# --- models ---------------------------------------------------------------------------------------


def compiled(model: Model, optimizer: str = "sgd") -> Model:
    model.compile(optimizer, "mse")
    return model


def diamond() -> Model:
    x = Input((4,), name="x")
    h = Dense(3, name="hidden")(x)
    both = Add(name="sum")([Dense(2, name="left")(h), Dense(2, name="right")(h)])
    return compiled(Model(x, both, name="diamond"))


def shared_weight() -> Model:
    x = Input((4,), name="x")
    wide = Dense(4, name="wide", activation="tanh")
    return compiled(Model(x, wide(wide(x)), name="shared_weight"))


def data_for(model: Model) -> tuple[list, list]:
    xs = [np.ones((3, *x.shape[1:]), "float32") for x in model.inputs]
    ys = [rng.normal(size=y.shape).astype("float32") for y in model.predict(xs, batch_size=3)] \
        if len(model.outputs) > 1 else [rng.normal(size=model.predict(xs).shape)]  # fmt: skip
    return xs, ys


def expected_gradients(model: Model, data: tuple) -> dict[str, np.ndarray]:
    """What K.gradients gives for the weights."""
    weights = model.trainable_weights
    x, y, weight = model._standardize_user_data(*data)
    inputs = [*model._feed_inputs, *model._feed_targets, *model._feed_sample_weights]
    found = K.gradients(model.total_loss, weights)
    arrays = K.function(inputs, found)([*x, *y, *weight])
    return {w.name: array for w, array in zip(weights, arrays, strict=True)}


def test_in_a_diamond_of_layers_both_ways_send_their_contribution():
    model = diamond()
    data = rng.normal(size=(5, 4)), rng.normal(size=(5, 2))
    graph = gradient_graph_of_model(model, data=data)
    check_shape(graph)
    values = gradient_values_of_model(model, data)
    assert contributions_to(graph, "grad:hidden") == ["grad:hidden#1", "grad:hidden#2"]
    labels = [graph.node(f"grad:hidden#{i}").label for i in (1, 2)]
    assert labels == ["contribution 1 (from left)", "contribution 2 (from right)"]
    for number, name in ((1, "left"), (2, "right")):
        kernel = model.get_layer(name).get_weights()[0]
        expected = values[f"grad:{name}"] @ kernel.T
        np.testing.assert_allclose(values[f"grad:hidden#{number}"], expected, rtol=1e-5)
    hidden = model.get_layer("hidden").output
    inputs = [*model._feed_inputs, *model._feed_targets]
    (expected,) = K.function(inputs, K.gradients(model.total_loss, hidden))(list(data))
    np.testing.assert_array_equal(values["grad:hidden"], expected)
    total = values["grad:hidden#1"] + values["grad:hidden#2"]
    np.testing.assert_allclose(total, expected, rtol=1e-5)
    assert graph.node("grad:hidden").attrs["norm"] == pytest.approx(np.linalg.norm(expected), 1e-5)


def test_a_shared_weight_gets_a_contribution_from_each_call():
    model = shared_weight()
    data = rng.normal(size=(5, 4)).astype("float32"), rng.normal(size=(5, 4)).astype("float32")
    graph = gradient_graph_of_model(model, data=data)
    check_shape(graph)
    assert graph.node("grad:wide/kernel").kind == "sum"
    labels = [graph.node(f"grad:wide/kernel#{i}").label for i in (1, 2)]
    assert labels == ["contribution 1 (from wide@0)", "contribution 2 (from wide@1)"]
    values = gradient_values_of_model(model, data)
    kernel, bias = model.get_weights()
    h = np.tanh(data[0] @ kernel + bias)
    y = np.tanh(h @ kernel + bias)
    to_second = 2 * (y - data[1]) / y.size * (1 - y**2)
    to_first = to_second @ kernel.T * (1 - h**2)
    np.testing.assert_allclose(values["grad:wide/kernel#1"], data[0].T @ to_first, rtol=1e-4)
    np.testing.assert_allclose(values["grad:wide/kernel#2"], h.T @ to_second, rtol=1e-4)
    expected = expected_gradients(model, data)
    for name in ("wide/kernel", "wide/bias"):
        np.testing.assert_array_equal(values[f"grad:{name}"], expected[name])
        parts = values[f"grad:{name}#1"] + values[f"grad:{name}#2"]
        np.testing.assert_allclose(parts, expected[name], rtol=1e-5, atol=1e-7)


def test_a_call_that_reads_a_tensor_twice_contributes_once():
    x = Input((4,), name="x")
    h = Dense(4, name="h")(x)
    model = compiled(Model(x, Add(name="double")([h, h])))
    graph = gradient_graph_of_model(model)
    assert graph.node("grad:h").kind == "gradient"
    assert contributions_to(graph, "grad:h") == ["grad:double"]


def test_weights_stand_above_their_deepest_call_and_feed_all_of_them():
    graph = gradient_graph_of_model(shared_weight())
    kernel = graph.node("wide/kernel")
    assert kernel.kind == "variable"
    assert kernel.depth == graph.node("wide@0").depth + 2
    assert [e.target for e in graph.edges if e.source == "wide/kernel"] == ["wide@0", "wide@1"]


def test_losses_penalties_and_their_weights_are_boxes():
    x = Input((4,), name="x")
    h = Dense(3, name="h", kernel_regularizer="l2", activity_regularizer="l1")(x)
    model = Model(x, [Dense(2, name="a")(h), Dense(1, name="b")(h)])
    model.compile("sgd", ["mse", "mae"], loss_weights=[1.0, 0.5])
    data = np.ones((2, 4)), [np.ones((2, 2)), np.ones((2, 1))]
    graph = gradient_graph_of_model(model, data=data)
    check_shape(graph)
    losses = {box.id: box.attrs["class_name"] for box in graph.nodes if box.kind == "loss"
              if box.id != "loss"}  # fmt: skip
    assert losses == {
        "a_loss": "mean_squared_error",
        "b_loss": "mean_absolute_error",
        "penalty:h": "penalty",
        "penalty:h/kernel": "penalty",
    }
    assert [e.label for e in graph.edges if e.source == "b_loss"] == ["\u00d7 0.5"]
    details = {name: graph.node(f"grad:{name}").attrs["detail"] for name in (*losses, "loss")}
    assert details == {**dict.fromkeys((*losses, "loss"), "1"), "b_loss": "0.5"}
    assert graph.node("grad:h/kernel#2").label == "contribution 2 (from penalty:h/kernel)"
    values = gradient_values_of_model(model, data)
    for name, expected in expected_gradients(model, data).items():
        np.testing.assert_array_equal(values[f"grad:{name}"], expected)


def test_a_nested_model_is_one_box_and_each_of_its_calls_contributes():
    graph = gradient_graph_of_model(compiled(ZOO["siamese"]()))
    check_shape(graph)
    labels = [box.label for box in graph.nodes if box.label.startswith("contribution")]
    assert labels
    assert {label.rpartition("from ")[2] for label in labels} >= {"encoder@0)", "encoder@1)"}


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_in_every_model_of_the_zoo_the_gradients_are_right(name):
    model = compiled(ZOO[name]())
    data = data_for(model)
    graph = gradient_graph_of_model(model, data=data)
    check_shape(graph)
    values = gradient_values_of_model(model, data)
    homes = dict(zip(dict.fromkeys(model.trainable_weights), [b for b in graph.nodes
                 if b.kind == "variable"], strict=True))  # fmt: skip
    assert len(homes) == len(model.trainable_weights)
    for name_of_weight, expected in expected_gradients(model, data).items():
        found = [v for k, v in values.items() if k.rpartition("~")[0] == f"grad:{name_of_weight}"
                 or k == f"grad:{name_of_weight}"]  # fmt: skip
        assert any(np.array_equal(expected, one) for one in found)


@holds_for(recipes(max_steps=8), few=8, many=25)
def test_in_random_graphs_contributions_add_up_to_their_sums(recipe):
    model = build(recipe)
    model.compile("sgd", "mse")
    xs = [rng.normal(size=(2, WIDTH)).astype("float32") for _ in model.inputs]
    data = xs, [np.ones((2, WIDTH), "float32") for _ in model.outputs]
    for training in (False, True):
        graph = gradient_graph_of_model(model, data=data, training=training)
        check_shape(graph)
        values = gradient_values_of_model(model, data, training=training)
        for box in graph.nodes:
            if box.kind == "sum":
                total = sum(values[one] for one in contributions_to(graph, box.id))
                np.testing.assert_allclose(values[box.id], total, rtol=1e-3, atol=1e-4)


class Both(Layer):
    def __init__(self, second_from_first: bool) -> None:
        super().__init__(name="both")
        self.second_from_first = second_from_first

    def call(self, inputs):
        half = inputs * 0.5
        return [half, K.exp(half if self.second_from_first else inputs)]


def with_two_outputs(second_from_first: bool) -> Model:
    x = Input((3,), name="x")
    first, second = Both(second_from_first)(Dense(3, name="h")(x))
    return compiled(Model(x, Add(name="sum")([first, second])))


def test_each_output_of_a_call_has_a_gradient_of_its_own():
    graph = gradient_graph_of_model(with_two_outputs(second_from_first=False))
    check_shape(graph)
    assert sorted(contributions_to(graph, "grad:h")) == ["grad:both:0", "grad:both:1"]
    assert {graph.node(f"grad:both:{i}").attrs["beside"] for i in (0, 1)} == {"both"}


def test_a_call_that_goes_on_from_its_own_output_contributes_to_it():
    model = with_two_outputs(second_from_first=True)
    graph = gradient_graph_of_model(model)
    assert contributions_to(graph, "grad:h") == ["grad:both:0"]
    labels = {graph.node(f"grad:both:0#{i}").label for i in (1, 2)}
    assert labels == {"contribution 1 (from both)", "contribution 2 (from sum)"}
    assert contributions_to(graph, "grad:both:0#1") == ["grad:both:1"]
    check_shape(graph)
    data = np.ones((2, 3)), np.zeros((2, 3))
    values = gradient_values_of_model(model, data)
    for name, expected in expected_gradients(model, data).items():
        np.testing.assert_array_equal(values[f"grad:{name}"], expected)


def test_names_that_look_like_ids_of_gradients_do_no_harm():
    x = Input((2,), name="x")
    h = Dense(2, name="a")(x)
    ends = [Dense(2, name=name)(h) for name in ("a#1", "grad:a", "loss", "a:0")]
    graph = gradient_graph_of_model(compiled(Model(x, Add(name="sum")(ends))))
    assert len({box.id for box in graph.nodes}) == len(graph.nodes)
    labels = [box.label for box in graph.nodes if box.label.startswith("contribution")]
    assert labels == [
        f"contribution {i} (from {name})"
        for i, name in enumerate(("a#1", "grad:a", "loss", "a:0"), start=1)
    ]


def test_a_model_without_weights_has_a_clear_picture():
    x = Input((3,), name="x")
    model = compiled(Model(x, Lambda(lambda v: v * 2.0, name="twice")(x)))
    graph = gradient_graph_of_model(model, data=(np.ones((1, 3)), np.ones((1, 3))))
    check_shape(graph)
    assert "No trainable weights" in graph.attrs["caption"]
    assert [box.id for box in graph.nodes if box.kind == "gradient"] == ["grad:loss"]


def test_frozen_layers_pass_the_gradient_on_and_get_none():
    x = Input((3,), name="x")
    frozen = Dense(3, name="frozen")
    frozen.trainable = False
    model = compiled(Model(x, frozen(Dense(3, name="free")(x))))
    graph = gradient_graph_of_model(model)
    ids = [box.id for box in graph.nodes]
    assert "grad:frozen" in ids
    assert "grad:free/kernel" in ids
    assert "frozen/kernel" not in ids


def test_a_model_without_a_loss_or_a_graph_is_told_what_to_do():
    x = Input((3,), name="x")
    with pytest.raises(NotCompiledError, match="Compile it first"):
        gradient_ladder(Model(x, Dense(2)(x)))
    waiting = Sequential([Dense(2)])
    waiting.compile("sgd", "mse")
    with pytest.raises(NotBuiltError, match="input_shape"):
        gradient_ladder(waiting)
    with pytest.raises(DtypeError, match="expected a compiled model, got Dense"):
        gradient_ladder(Dense(3))
    with pytest.raises(DataError, match=r"a tuple \(x, y\)"):
        gradient_ladder(diamond(), data=np.ones((2, 4)))
    with pytest.raises(DataError):
        gradient_ladder(diamond(), data=(np.ones((2, 5)), np.ones((2, 2))))


# --- nothing is changed ---------------------------------------------------------------------------


def test_drawing_changes_nothing_that_comes_after():
    def seen(draws: bool) -> list:
        K.clear_session()
        np.random.seed(7)
        x = Input((4,), name="x")
        h = Dropout(0.5, seed=3)(Dense(4, name="h", kernel_initializer="ones")(x))
        model = compiled(Model(x, Dense(2, name="y", kernel_initializer="ones")(h)))
        data = np.ones((6, 4)), np.ones((6, 2))
        heard = []
        if draws:
            with observing(lambda stage, event: heard.append(event)):
                gradient_ladder(model, data=data, training=True)
            assert not heard
            assert model.train_function is None
        losses = [model.train_on_batch(*data) for _ in range(3)]
        if draws:
            gradient_ladder(model, data=data, training=True)
        losses.append(model.train_on_batch(*data))
        return [*losses, *(w.tolist() for w in model.get_weights()), Dense(3).name,
                K.placeholder(shape=()).name, Dense(3)(Input((2,))).name]  # fmt: skip

    assert seen(draws=False) == seen(draws=True)


def test_with_training_the_draws_are_those_of_the_next_step():
    x = Input((4,), name="x")
    model = compiled(Model(x, Dense(1, name="y")(Dropout(0.5)(x))), "sgd")
    model.optimizer.lr = 1.0
    data = np.ones((6, 4)), np.ones((6, 1))
    values = gradient_values_of_model(model, data, training=True)
    before = model.get_weights()
    model.train_on_batch(*data)
    for name, old, new in zip(("kernel", "bias"), before, model.get_weights(), strict=True):
        np.testing.assert_allclose(old - new, values[f"grad:y/{name}"], rtol=1e-4, atol=1e-6)
