"""Models of Keras that only their code describes are recorded while they run."""

import numpy as np
import pytest

import kerascope as ks
from kerascope.errors import ArgumentError
from kerascope.foreign import keras_models
from kerascope.foreign.writer import TapeWriter

pytestmark = [
    pytest.mark.live,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]


def classes(keras):
    layers, ops = keras.layers, keras.ops

    class Block(layers.Layer):
        def __init__(self):
            super().__init__(name=None)
            self.a, self.b = layers.Dense(3), layers.Dense(3)
            self.drop = layers.Dropout(0.5)
            self.places = ops.ones((1, 3))

        def call(self, x, training=None):
            h = self.drop(self.b(ops.relu(self.a(x))), training=training)
            return x + (h + self.places) * 2

    class Model(keras.Model):
        def __init__(self):
            super().__init__(name="free")
            self.one = Block()
            self.inner = keras.Sequential([keras.Input((3,)), layers.Dense(3), layers.Dense(2)])
            self.attention = layers.MultiHeadAttention(2, 2)

        def call(self, x, training=None):
            h = self.one(self.one(x, training=training), training=training)
            h = ops.expand_dims(h, 1)
            h = ops.squeeze(self.attention(h, h), 1)
            return self.inner(h) * ops.sigmoid(h[:, 0])[:, None]

    return Model()


@pytest.fixture
def x(rng):
    return rng.normal(size=(2, 3)).astype("float32")


def recorded(model, *inputs, arrays="all", **keywords):
    writer = TapeWriter(arrays)
    result = keras_models.record(model, *inputs, writer=writer, **keywords)
    return writer, result


def without_arrow_in(graph):
    led_to = {edge.target for edge in graph.edges}
    return [box for box in graph.nodes if box.id not in led_to]


def test_boxes_are_leaf_layers_and_functions_between_them_and_frames_what_holds_them(keras, x):
    writer, _ = recorded(classes(keras), x)
    assert [(call.id, call.op) for call in writer.calls] == [
        ("x", "Input"),
        ("block/dense", "Dense"),
        ("block/relu", "relu"),
        ("block/dense_1", "Dense"),
        ("block/dropout", "Dropout"),
        ("block/places", "constant"),
        ("block/add", "add"),
        ("block/mul", "mul"),
        ("block/add_1", "add"),
        ("block/dense:2", "Dense"),
        ("block/relu_1", "relu"),
        ("block/dense_1:2", "Dense"),
        ("block/dropout:2", "Dropout"),
        ("block/add_2", "add"),
        ("block/mul_1", "mul"),
        ("block/add_3", "add"),
        ("expand_dims", "expand_dims"),
        ("multi_head_attention", "MultiHeadAttention"),
        ("squeeze", "squeeze"),
        ("sequential/dense_2", "Dense"),
        ("sequential/dense_3", "Dense"),
        ("getitem", "getitem"),
        ("sigmoid", "sigmoid"),
        ("getitem_1", "getitem"),
        ("mul", "mul"),
    ]
    assert [(frame.id, frame.op) for frame in writer.frames] == [
        ("block", "Block"),
        ("block:2", "Block"),
        ("sequential", "Sequential"),
    ]
    graph = writer.graph("free")
    assert {box.kind for box in without_arrow_in(graph)} == {"input", "constant"}
    assert len(graph.edges) == 29


def test_what_is_recorded_is_what_keras_computes_to_the_bit(keras, x):
    model = classes(keras)
    theirs = np.asarray(model(x))
    writer, result = recorded(model, x)
    by_id = {call.id: call for call in writer.calls}
    np.testing.assert_array_equal(np.asarray(result), theirs)
    np.testing.assert_array_equal(by_id["mul"].outputs[0].array, theirs)
    dense, relu = by_id["block/dense"], by_id["block/relu"]
    kernel, bias = dense.parameters["kernel"].array, dense.parameters["bias"].array
    np.testing.assert_array_equal(dense.inputs[0].array, x)
    np.testing.assert_array_equal(relu.outputs[0].array, np.maximum(dense.outputs[0].array, 0))
    np.testing.assert_allclose(dense.outputs[0].array, x @ kernel + bias, rtol=1e-5, atol=1e-6)


def test_a_dropout_that_passes_its_input_on_stands_between_its_neighbours(keras, x):
    writer, _ = recorded(classes(keras), x, arrays="none")
    edges = {(edge.source, edge.target) for edge in writer.graph("free").edges}
    assert ("block/dense_1", "block/dropout") in edges
    assert ("block/dropout", "block/add") in edges
    assert ("block/dense_1", "block/add") not in edges


def test_the_users_line_is_told(keras, x):
    writer, _ = recorded(classes(keras), x, arrays="none")
    file, line, function = next(c.line for c in writer.calls if c.id == "block/relu")
    assert (file, function) == (__file__, "call")
    with open(__file__, encoding="utf-8") as source:
        assert "ops.relu(self.a(x))" in source.read().splitlines()[line - 1]


def test_what_cannot_be_seen_is_a_box_and_no_missing_arrow(keras, x):
    from jax import lax

    class Hidden(keras.Model):
        def __init__(self):
            super().__init__()
            self.a, self.b = keras.layers.Dense(3), keras.layers.Dense(2)

        def call(self, x):
            return self.b(lax.tanh(self.a(x)))

    writer, _ = recorded(Hidden(), x)
    graph = writer.graph("hidden")
    assert [(c.id, c.op) for c in writer.calls][2:] == [
        ("outside", "computed outside layers"),
        ("dense_1", "Dense"),
    ]
    outside = graph.node("outside")
    assert outside.kind == "function"
    assert [(edge.source, edge.target) for edge in graph.edges] == [
        ("x", "dense"),
        ("outside", "dense_1"),
    ]


def test_what_is_compiled_inside_is_not_recorded(keras, x):
    import jax

    class Compiled(keras.Model):
        def __init__(self):
            super().__init__()
            self.a = keras.layers.Dense(3)
            self.a.build((None, 3))
            self.fast = jax.jit(lambda x: self.a(x))

        def call(self, x):
            return keras.ops.relu(self.fast(x))

    writer, _ = recorded(Compiled(), x)
    assert [call.id for call in writer.calls] == ["x", "outside", "relu"]


def test_inputs_have_their_names_and_masks_and_states_find_their_way(keras):
    layers = keras.layers
    words, times = keras.Input((4,), dtype="int32", name="words"), keras.Input((4, 2), name="times")
    h = layers.Embedding(9, 3, mask_zero=True)(words)
    h = layers.LSTM(3)(layers.Concatenate()([h, times]))
    model = keras.Model({"words": words, "times": times}, h)
    given = {"words": np.array([[1, 2, 0, 0]]), "times": np.ones((1, 4, 2))}
    writer, result = recorded(model, given)
    graph = writer.graph("model")
    assert {box.id for box in without_arrow_in(graph)} == {"words", "times"}
    np.testing.assert_array_equal(np.asarray(result), model.predict(given, verbose=0))


def test_a_dict_is_what_a_model_takes_or_the_names_of_its_inputs(keras, x):
    class Apart(keras.Model):
        def call(self, left, right):
            return left + right

    class Together(keras.Model):
        def call(self, both):
            return both["left"] + both["right"]

    for model in (Apart(), Together()):
        graph = ks.draw(model, values={"left": x, "right": x}).graph
        assert [box.kind for box in graph.nodes] == ["input", "input", "merge"]


def test_what_is_made_of_weights_alone_is_a_variable(keras, x):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.table = self.add_weight(shape=(2, 3), name="table")
            self.dense = keras.layers.Dense(3)

        def call(self, x):
            return self.dense(x @ self.dense.kernel) + self.table[0] * self.table

    model = Own()
    model.dense.build((None, 3))
    writer, _ = recorded(model, x)
    assert [(c.op, c.kind, list(c.parameters)) for c in writer.calls][1:] == [
        ("matmul", "function", ["dense/kernel"]),
        ("Dense", "dense", ["kernel", "bias"]),
        ("getitem", "variable", ["own/table"]),
        ("mul", "function", ["own/table"]),
        ("add", "merge", []),
    ]


def test_mixed_precision_leaves_no_arrow_out(keras, x):
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((3,)),
            layers.Dense(4, dtype="mixed_bfloat16"),
            keras.Sequential([layers.Dense(2, dtype="mixed_bfloat16")], name="inside"),
            layers.Dense(1),
        ]
    )
    writer, _ = recorded(model, x)
    assert [box.kind for box in without_arrow_in(writer.graph("mixed"))] == ["input"]
    assert writer.calls[1].outputs[0].dtype == "bfloat16"
    assert writer.calls[1].outputs[0].array.dtype == np.float32


def names_in_place(keras):
    import jax

    array = type(keras.ops.zeros(1))
    return (
        *(keras.Layer.__call__, keras.Operation.__call__, keras.ops.relu, keras.ops.nn.relu),
        *(jax.numpy.tanh, jax.nn.relu, array.__add__, keras.Variable.__add__),
    )


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_everything_is_put_back_also_after_an_error(keras, x, error):
    class Failing(keras.Model):
        def call(self, x):
            raise error("no")

    before = names_in_place(keras)
    writer = TapeWriter()
    with pytest.raises(error):
        keras_models.record(Failing(), x, writer=writer)
    assert all(a is b for a, b in zip(names_in_place(keras), before, strict=True))
    tape = writer.tape
    assert error.__name__ in str(tape.names_at(len(tape) - 1)["error"])


@pytest.mark.parametrize("training", [False, True])
def test_gradients_are_those_of_the_same_pass(keras, x, training):
    import jax

    model = classes(keras)
    model(x)
    state = [v.value for v in model.non_trainable_variables]

    def loss(result):
        return keras.ops.mean(result**2)

    def of_weights(values):
        given, _ = model.stateless_call(values, state, x, training=training)
        return loss(given)

    theirs = jax.grad(of_weights)([v.value for v in model.trainable_variables])
    writer, result = recorded(model, x, loss=loss, training=training)
    tape = writer.tape
    told = tape.names_at(len(tape) - 1)["grads"]
    for variable, gradient in zip(model.trainable_variables, theirs, strict=True):
        np.testing.assert_allclose(told[variable.path], gradient, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(told["mul"], 2 * np.asarray(result) / result.size, rtol=1e-6)
    assert {call.id for call in writer.calls} - told.keys() == {"x", "block/places"}


def test_a_compiled_model_takes_targets_as_its_loss(keras, x):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="scores")])
    target = np.ones((2, 2))
    with pytest.raises(ArgumentError, match="for a compiled model the target alone"):
        recorded(model, x, target=target)
    by_name = recorded(model, x, loss="mean_squared_error", target=target)
    model.compile("sgd", "mse")
    others = (recorded(model, x, target=target), recorded(model, x, loss=target))
    for writer, result in (by_name, *others):
        told = writer.tape.names_at(len(writer.tape) - 1)["grads"]
        np.testing.assert_allclose(told["scores"], (np.asarray(result) - 1) / 2, rtol=1e-5)


def test_a_loss_is_one_number(keras, x):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    with pytest.raises(ArgumentError, match=r"expected a loss that is one number, got .*\(2, 2\)"):
        recorded(model, x, loss=lambda result: result)


def test_a_run_leaves_the_model_as_it_was(keras, x):
    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((3,)), layers.BatchNormalization(), layers.Dropout(0.5), layers.Dense(2)]
    )
    before = [np.array(v.value) for v in model.variables]
    recorded(model, x, training=True, loss=lambda result: keras.ops.sum(result))
    for variable, array in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(np.asarray(variable.value), array)


def test_inputs_that_are_missing_are_asked_for(keras):
    with pytest.raises(ArgumentError, match=r"'free'.*expected inputs.*values=x"):
        ks.draw(classes(keras))


def test_a_functional_model_with_an_own_layer_is_drawn_without_inputs(keras, x):
    class Gate(keras.layers.Layer):
        def call(self, x):
            return x * 2

    i = keras.Input((3,))
    model = keras.Model(i, keras.layers.Dense(2)(Gate(name="door")(i)))
    assert [box.label for box in ks.draw(model).graph.nodes][1:] == ["door", "dense"]
    assert [step.call.id for step in ks.walk(model, x)][-2:] == ["door", "dense"]


def test_pictures_and_steps_of_a_live_model_are_those_of_its_copy(keras, x):
    i = keras.Input((3,))
    model = keras.Model(i, keras.ops.tanh(keras.layers.Dense(2)(i)) * 2)
    assert ks.draw(model).graph == ks.draw(ks.from_keras(model)).graph
    assert ks.to_networkx(model).nodes.keys() == ks.to_networkx(ks.from_keras(model)).nodes.keys()


def test_a_layer_alone_can_be_recorded(keras, x):
    writer, _ = recorded(keras.layers.Dense(2), x)
    assert [call.id for call in writer.calls] == ["inputs", "dense"]


def test_several_inputs_of_a_graph_come_as_a_tuple(keras, rng):
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    model = keras.Model([a, b], keras.layers.Add(name="sum")([a, b]))
    x, y = rng.normal(size=(2, 2, 3)).astype("float32")
    writer = TapeWriter("all")
    given = keras_models.record(model, x, y, writer=writer)
    np.testing.assert_allclose(np.asarray(given), x + y, rtol=1e-6)
    assert [len(call.inputs) for call in writer.calls if call.op == "Add"] == [2]


def test_inputs_in_a_dict_have_the_names_of_its_keys(keras, rng):
    class Pair(keras.Model):
        def __init__(self):
            super().__init__(name="pair")
            self.dense = keras.layers.Dense(2, name="dense")

        def call(self, inputs):
            return self.dense(inputs["right"]) - self.dense(inputs["left"])

    words = {side: rng.normal(size=(3, 4)).astype("float32") for side in ("right", "left")}
    steps = list(ks.walk(Pair(), words))
    for step in steps[:2]:
        np.testing.assert_array_equal(step.outputs[0], words[step.call.id])
    assert {step.call.id for step in steps[:2]} == {"left", "right"}


def test_a_setting_that_nobody_has_made_is_not_told(keras, rng):
    class Norm(keras.Model):
        def __init__(self):
            super().__init__(name="norm")
            self.norm = keras.layers.LayerNormalization(name="n")

        def call(self, x):
            return self.norm(x)

    text = ks.draw(Norm(), values=rng.normal(size=(3, 4)).astype("float32")).text()
    assert "rms_scaling" not in text
