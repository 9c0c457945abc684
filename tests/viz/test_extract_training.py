import numpy as np
import pytest
from document_models import compiled_example
from holding import holds_for
from strategies import build, recipes
from zoo import LARGE_ZOO, THINNED_ZOO, ZOO, fresh_names

from kerascope import backend as K
from kerascope import optimizers
from kerascope.engine.model import Model
from kerascope.errors import DtypeError, GradientError, NotBuiltError, NotCompiledError
from kerascope.layers import BatchNormalization, Dense, Dropout, Input, Lambda
from kerascope.metrics import Precision
from kerascope.models import Sequential
from kerascope.optimizers import Optimizer
from kerascope.optimizers.schedules import ExponentialDecay
from kerascope.stage import observing
from kerascope.viz.extract.training import training_graph
from kerascope.viz.graph import Graph

EVERY = [
    "SGD",
    "RMSprop",
    "Adagrad",
    "Adadelta",
    "Adam",
    "Adamax",
    "Nadam",
    "AdamW",
    "Lamb",
    "Lion",
    "Muon",
    "Ftrl",
]


def update_edges(graph: Graph, by: str = "optimizer") -> list[tuple[str, str]]:
    makers = {box.id for box in graph.nodes if box.attrs.get("by") == by}
    return [
        (e.source, e.target)
        for e in graph.edges
        if e.attrs.get("role") == "update" and e.source in makers
    ]


def sources(graph: Graph, box_id: str) -> list[str]:
    return [e.source for e in graph.edges if e.target == box_id and "role" not in e.attrs]


def check_rows(graph: Graph) -> None:
    """Along the forward rail and on each card data goes down, on the backward rail up."""
    by_id = {box.id: box for box in graph.nodes}
    assert graph.attrs["level"] == "training"
    depths = [box.depth for box in graph.nodes]
    assert depths == sorted(depths, reverse=True)
    for box in graph.nodes:
        assert ("rail" in box.attrs) != ("line" in box.attrs)
        assert bool(box.group) == ("line" in box.attrs)
    for edge in graph.edges:
        source, target = by_id[edge.source], by_id[edge.target]
        rails = source.attrs.get("rail", ""), target.attrs.get("rail", "")
        is_downward = rails in (("forward", "forward"), ("forward", "loss"), ("loss", "loss"))
        if edge.attrs.get("role") == "update":
            assert source.kind == "update"
            assert source.attrs["line"] == target.attrs["line"]
        elif rails == ("backward", "backward"):
            assert edge.attrs["role"] == "gradient"
            assert source.depth <= target.depth
        elif is_downward or (source.group and source.group == target.group):
            assert source.depth > target.depth


def written_by(model: Model, graph: Graph) -> list[str]:
    """Return what a picture says is written: boxes, and the words of its caption."""
    drawn = [box.label.removesuffix(" \u2190 new") for box in graph.nodes if box.kind == "update"]
    caption = str(graph.attrs["caption"]).replace("the count of steps", "iterations")
    besides = [name for name in pairs_of_train_function(model) if name not in drawn]
    assert all(name in caption for name in besides)
    return sorted([*drawn, *besides])


def pairs_of_train_function(model: Model) -> list[str]:
    """Names of what the real train function writes, but for the counts of random draws."""
    model._make_train_function()
    variables = [update.variable for update in model.train_function.updates]
    return sorted(v.name for v in variables if v.default_update is None)


def small(optimizer="sgd", **dense) -> Model:
    x = Input((3,), name="x")
    model = Model(x, Dense(1, name="line", **dense)(x), name="small")
    model.compile(optimizer, "mse")
    return model


# --- the documents' example -----------------------------------------------------------------------


def test_for_the_documents_example_rmsprop_has_twelve_update_edges():
    with fresh_names():
        graph = training_graph(compiled_example())
    check_rows(graph)
    edges = update_edges(graph)
    assert len(edges) == 12
    weights = [f"dense_{i}/{part}" for i in (1, 2, 3) for part in ("kernel", "bias")]
    expected = []
    for name in weights:
        expected.append((f"update:{name}/accumulator", f"slot:{name}/accumulator"))
        expected.append((f"update:{name}", name))
    assert edges == expected
    assert graph.attrs["caption"] == (
        "RMSprop \u00b7 lr 0.001 \u00b7 rho 0.9 \u00b7 epsilon 1e-07. "
        "12 updates by RMSprop, and the count of steps. Not shown: sample weights"
    )


def test_a_new_value_is_drawn_with_all_that_it_is_computed_from():
    with fresh_names():
        graph = training_graph(compiled_example())
    name = "dense_2/kernel"
    assert sorted(sources(graph, f"update:{name}/accumulator")) == [
        f"grad:{name}", f"slot:{name}/accumulator"
    ]  # fmt: skip
    assert sorted(sources(graph, f"update:{name}")) == [
        name, f"grad:{name}", f"update:{name}/accumulator"
    ]  # fmt: skip
    arriving = [e.source for e in graph.edges if e.target == f"grad:{name}"]
    assert arriving == ["grad:dense_2", "dense_1"]
    assert graph.node(f"update:{name}").label == "dense_2/kernel \u2190 new"


# --- every optimizer ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_every_optimizer_is_drawn_with_all_that_its_train_function_writes(name):
    model = small(name.lower())
    graph = training_graph(model)
    check_rows(graph)
    assert written_by(model, graph) == pairs_of_train_function(model)
    targets = [target for _, target in update_edges(graph)]
    assert {"line/kernel", "line/bias"} <= set(targets)
    slots = len([w for w in model.optimizer.weights if w.name.startswith("line/")])
    assert len([t for t in targets if t.startswith("slot:")]) == slots
    for weight in ("line/kernel", "line/bias"):
        reached, stack = set(), [f"update:{weight}"]
        while stack:
            box = stack.pop()
            if box not in reached:
                reached.add(box)
                stack.extend(sources(graph, box))
        assert f"grad:{weight}" in reached
        assert len([one for one in reached if one.startswith("grad:")]) == 1


def test_this_file_tests_every_optimizer():
    found = [
        name
        for name in optimizers.__all__
        if isinstance(getattr(optimizers, name), type)
        and issubclass(getattr(optimizers, name), Optimizer)
        and name != "Optimizer"
        and name[0].isupper()
    ]
    assert sorted(found) == sorted(EVERY)


def test_with_clipping_each_update_still_comes_from_its_own_clipped_gradient():
    graph = training_graph(small(optimizers.SGD(clipnorm=1.0)))
    check_rows(graph)
    found = [one for one in sources(graph, "update:line/bias/momentum") if one.startswith("grad:")]
    assert found == ["grad:line/bias"]


def test_a_schedule_reads_the_count_of_steps_and_not_the_rate():
    graph = training_graph(small(optimizers.SGD(ExponentialDecay(0.1, 10, 0.5))))
    check_rows(graph)
    assert str(graph.attrs["caption"]).startswith("SGD \u00b7 lr ExponentialDecay. ")


def test_constraints_and_weight_decay_lie_on_the_way_to_the_new_value():
    model = small(optimizers.AdamW(0.01, weight_decay=0.1), kernel_constraint="non_neg")
    graph = training_graph(model)
    check_rows(graph)
    assert "line/kernel" in sources(graph, "update:line/kernel")
    assert ("update:line/kernel", "line/kernel") in update_edges(graph)


class OldSGD(Optimizer):
    """Written as in Keras 2."""

    def __init__(self) -> None:
        super().__init__()
        self.lr = K.variable(0.1, name="rate")

    def get_updates(self, loss, params):
        grads = self.get_gradients(loss, params)
        return [K.update_sub(p, self.lr * g) for p, g in zip(params, grads, strict=True)]


def test_an_optimizer_in_keras_2s_way_is_drawn_too():
    graph = training_graph(small(OldSGD()))
    check_rows(graph)
    assert sorted(sources(graph, "update:line/kernel")) == [
        "grad:line/kernel",
        "line/kernel",
    ]


# --- every model ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_every_model_of_the_zoo_is_drawn_with_all_that_its_train_function_writes(name):
    model = ZOO[name]()
    model.compile("adam", "mse")
    graph = training_graph(model)
    check_rows(graph)
    assert written_by(model, graph) == pairs_of_train_function(model)
    gradients = [box for box in graph.nodes if box.attrs.get("column") == "gradient"]
    assert len(gradients) == len(model.trainable_weights)


@holds_for(recipes(max_steps=8), few=8, many=25)
def test_random_models_are_drawn_with_data_going_down_and_updates_going_up(recipe):
    model = build(recipe)
    model.compile("rmsprop", "mse")
    graph = training_graph(model)
    check_rows(graph)
    assert len(update_edges(graph)) == 2 * len(model.trainable_weights)
    assert written_by(model, graph) == pairs_of_train_function(model)


def test_a_large_model_is_drawn():
    model = LARGE_ZOO["resnet50"]()
    model.compile("sgd", "categorical_crossentropy")
    try:
        graph = training_graph(model)
    finally:
        model._forget_compilation()
    check_rows(graph)
    assert len(update_edges(graph)) == 2 * len(model.trainable_weights)


def test_moving_averages_are_written_by_their_layer():
    x = Input((3,), name="x")
    model = Model(x, BatchNormalization(name="bn")(x))
    model.compile("sgd", "mse")
    graph = training_graph(model)
    check_rows(graph)
    assert update_edges(graph, "layer") == [
        ("update:bn/moving_mean", "bn/moving_mean"),
        ("update:bn/moving_variance", "bn/moving_variance"),
    ]
    assert sorted(sources(graph, "update:bn/moving_mean")) == ["bn", "bn/moving_mean"]
    assert "count of steps, 2 by layers" in graph.attrs["caption"]


def test_frozen_weights_are_drawn_and_not_updated():
    x = Input((3,), name="x")
    frozen = Dense(3, name="frozen")
    frozen.trainable = False
    model = Model(x, frozen(Dense(3, name="free")(x)))
    model.compile("sgd", "mse")
    graph = training_graph(model)
    check_rows(graph)
    assert graph.node("frozen/kernel").attrs["detail"] == "not trained"
    assert "frozen/kernel" not in [target for _, target in update_edges(graph)]
    assert "free/kernel" in [target for _, target in update_edges(graph)]


def test_a_shared_weight_has_one_gradient_and_one_new_value():
    model = ZOO["between_calls"]()
    model.compile("sgd", "mse")
    graph = training_graph(model)
    assert [e.target for e in graph.edges if e.source == "S/kernel"][:2] == ["S@0", "S@1"]
    assert [s for s, t in update_edges(graph) if t == "S/kernel"] == ["update:S/kernel"]


def test_several_outputs_have_a_loss_each_and_an_untrained_one_none():
    x = Input((3,), name="x")
    names = ("a", "b", "c")
    outputs = [Dense(2, name=name, trainable=name != "c")(x) for name in names]
    model = Model(x, [*outputs[:2], Dense(2, name="d", trainable=False)(outputs[2])])
    model.compile("sgd", {"a": "mse", "b": "mae"}, loss_weights={"b": 0.25})
    graph = training_graph(model)
    check_rows(graph)
    losses = [box.id for box in graph.nodes if box.kind == "loss"]
    assert losses == ["a_loss", "b_loss", "loss"]
    assert [e.label for e in graph.edges if e.source == "b_loss"] == ["\u00d7 0.25"]
    rows = {name: graph.node(name).depth for name in ("a", "c", "d", "x")}
    a = rows["a"]
    assert rows == {"a": a, "c": a, "d": a - 2, "x": a + 2}


def test_a_model_without_weights_to_train_has_a_clear_picture():
    x = Input((3,), name="x")
    model = Model(x, Lambda(lambda v: v * 2.0, name="twice")(x))
    model.compile("sgd", "mse")
    graph = training_graph(model)
    check_rows(graph)
    assert graph.attrs["caption"] == (
        "SGD \u00b7 lr 0.01. 0 updates by SGD, and the count of steps. "
        "No trainable weights. Not shown: sample weights"
    )
    assert not [box.id for box in graph.nodes if box.kind == "update"]


def test_what_is_written_and_not_drawn_is_named_in_the_caption():
    x = Input((3,), name="x")
    model = Model(x, Dense(1)(Dropout(0.5)(x)))
    model.compile("sgd", "mse", metrics=[Precision()])
    caption = training_graph(model).attrs["caption"]
    hidden = "sample weights, states of metrics, counts of random draws"
    assert caption.endswith(f"Not shown: {hidden}")
    assert training_graph(small()).attrs["caption"].endswith("Not shown: sample weights")


# --- failures -------------------------------------------------------------------------------------


def test_a_model_that_cannot_be_trained_is_told_why():
    x = Input((3,), name="x")
    with pytest.raises(NotCompiledError, match="Compile it first"):
        training_graph(Model(x, Dense(2)(x)))
    waiting = Sequential([Dense(2)])
    waiting.compile("sgd", "mse")
    with pytest.raises(NotBuiltError, match="input_shape"):
        training_graph(waiting)
    with pytest.raises(DtypeError, match="expected a compiled model, got str"):
        training_graph("model.keras")
    stopped = Lambda(lambda v: K.cast(K.greater(v, 0.0), "float32"))(Dense(2, name="d")(x))
    model = Model(x, stopped)
    model.compile("sgd", "mse")
    optimizer, before = model.optimizer, dict(vars(model.optimizer))
    with pytest.raises(GradientError, match="d/kernel"):
        training_graph(model)
    assert all(vars(optimizer)[name] is value for name, value in before.items())


# --- nothing is changed ---------------------------------------------------------------------------


def test_drawing_changes_nothing_that_comes_after():
    def seen(draws: bool) -> list:
        K.clear_session()
        x = Input((4,), name="x")
        model = Model(x, Dense(2, name="y", kernel_initializer="ones")(x))
        model.compile("adam", "mse")
        data = np.ones((6, 4)), np.zeros((6, 2))
        found = []
        for _ in range(3):
            if draws:
                heard: list = []
                with observing(lambda stage, event, heard=heard: heard.append(event)):
                    training_graph(model)
                assert not heard
            found.append(model.train_on_batch(*data))
            found.append([w.tolist() for w in model.optimizer.get_weights()])
        found.append([w.tolist() for w in model.get_weights()])
        return [*found, Dense(3).name, K.placeholder(shape=()).name]

    assert seen(draws=False) == seen(draws=True)


def test_the_train_function_and_the_slots_stay_the_same_objects():
    model = small("adam")
    model.train_on_batch(np.ones((2, 3)), np.ones((2, 1)))
    function, slots, updates = (
        model.train_function,
        model.optimizer.weights,
        model.optimizer.updates,
    )
    training_graph(model)
    assert model.train_function is function
    assert model.optimizer.weights is slots
    assert model.optimizer.updates is updates


def test_a_sequential_that_was_changed_since_it_was_compiled_is_drawn_with_its_new_layers():
    model = Sequential([Dense(3, input_shape=(4,)), Dense(1, name="gone")])
    model.compile("sgd", "mse")
    model.pop()
    model.add(Dense(2, name="new"))
    boxes = {box.label for box in training_graph(model).nodes}
    assert {"new", "d loss / d new/kernel"} <= boxes
    assert not [label for label in boxes if "gone" in label]
