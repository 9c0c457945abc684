"""Operations between layers: `x + layer(x)` in dialect "3" (engine/calling.py)."""

import json
import pickle

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.engine.operations import operations_before
from kerascope.errors import ArgumentError, ConfigError
from kerascope.layers import (
    LSTM,
    Dense,
    Embedding,
    Input,
    Layer,
    MultiHeadAttention,
    Operation,
    TimeDistributed,
)
from kerascope.models import Model, Sequential, clone_model, load_model, model_from_json
from kerascope.settings import config

X = np.random.default_rng(0).normal(size=(5, 6)).astype("float32")


@pytest.fixture(autouse=True)
def dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")
    K.clear_session()
    yield
    K.clear_session()


def residual_model():
    x = Input((6,), name="x")
    h = x + Dense(6, name="f")(x)
    h = 1 - h * 2
    return Model(x, Dense(2, name="out")(h[:, 1:4]))


# --- which layers there are -----------------------------------------------------------------------


def test_each_apply_becomes_a_layer_with_a_node():
    model = residual_model()
    assert [layer.name for layer in model.layers] == [
        "x",
        "f",
        "add",
        "multiply",
        "subtract",
        "get_item",
        "out",
    ]
    add = model.get_layer("add")
    assert isinstance(add, Operation)
    (node,) = add.inbound_nodes
    assert [x._keras_history.layer.name for x in node.input_tensors] == ["x", "f"]
    assert node.output_tensors[0].owner.op.name == "add", "nothing is computed again"


def test_each_node_knows_the_line_that_called():
    x = Input((4,), name="x")
    model = Model(x, K.sigmoid(Dense(4)(x) * 2))
    for layer in [*residual_model().layers[1:], *model.layers[1:]]:
        (node,) = layer.inbound_nodes
        assert node.called_at.first.file == __file__, layer


def test_names_are_counted_as_in_keras_3():
    x = Input((6,))
    model = Model(x, ((x + 1) + 2) + 3)
    assert [layer.name for layer in model.layers[1:]] == ["add", "add_1", "add_2"]


def test_the_numbers_are_those_of_the_formula():
    model = residual_model()
    kernel, bias = model.get_layer("f").get_weights()
    hidden = 1 - 2 * (X + X @ kernel + bias)
    kernel, bias = model.get_layer("out").get_weights()
    np.testing.assert_allclose(model.predict(X), hidden[:, 1:4] @ kernel + bias, rtol=1e-5)


def test_operations_may_be_outputs_and_arguments_of_calls():
    x = Input((4, 6))
    attention = MultiHeadAttention(2, 3)
    model = Model(x, [x + attention(x * 2, value=x + 1), K.mean(x, axis=1)])
    again = Model.from_config(json.loads(json.dumps(model.get_config())))
    again.set_weights(model.get_weights())
    arrays = np.random.default_rng(1).normal(size=(3, 4, 6))
    for found, expected in zip(again.predict(arrays), model.predict(arrays), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_one_tensor_reaches_two_layers_by_one_operation():
    x = Input((6,))
    total = x + 1
    model = Model(x, [Dense(1)(total), Dense(1)(total)])
    assert sum(isinstance(layer, Operation) for layer in model.layers) == 1
    assert operations_before(total) == []


def test_a_long_chain_needs_no_recursion():
    x = Input((1,))
    y = x
    for _ in range(3000):
        y = y * 1.0
    assert len(Model(x, y).layers) == 3001


# --- what is never taken apart --------------------------------------------------------------------


class Twofold(Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = Dense(6)
        self.table = Embedding(3, 6)

    def call(self, inputs):
        return self.dense(inputs * 2) + self.table(np.array([1]))


def test_the_body_of_a_layer_stays_whole_and_its_tables_are_trained():
    x = Input((6,), name="x")
    layer = Twofold(name="twofold")
    model = Model(x, layer(x))
    assert [one.name for one in model.layers] == ["x", "twofold"]
    assert layer.dense.inbound_nodes == []
    model.compile("sgd", "mse")
    before = layer.table.get_weights()[0]
    model.fit(X, X, verbose=0)
    changed = (layer.table.get_weights()[0] != before).any(axis=1)
    assert changed.tolist() == [False, True, False]


def test_a_gradient_through_a_layer_is_no_layer():
    x = Input((6,))
    gradient = K.gradients(K.sum(Dense(2)(x)), [x])[0]
    with pytest.raises(ArgumentError, match="must be the output of a Keras `Layer`"):
        Model(x, gradient)


@pytest.mark.parametrize("dialect", ["1.2", "2.2"])
def test_other_dialects_refuse_operations_between_layers(monkeypatch, dialect):
    monkeypatch.setattr(config, "dialect", dialect)
    x = Input((6,))
    with pytest.raises(ArgumentError, match=r"Keras `Layer`.*in Lambda\. Dialect \"3\" does so"):
        Model(x, x + 1)
    with pytest.raises(ArgumentError, match="must be the output of a Keras `Layer`"):
        Model(x, Dense(2)(x + 1))


def test_no_history_comes_from_placeholders():
    y = K.placeholder(shape=(None, 6)) + 1
    Dense(2)(y)
    assert y._keras_history is None


# --- masks ----------------------------------------------------------------------------------------


def test_a_mask_ends_at_an_operation():
    x = Input((3,), dtype="int32")
    table = Embedding(7, 4, mask_zero=True)(x)
    lstm = LSTM(2)
    lstm(table + table)
    assert lstm.inbound_nodes[0].input_masks == [None]


# --- calling again, saving ------------------------------------------------------------------------


def test_a_model_with_operations_is_called_inside_another_and_on_arrays():
    inner = residual_model()
    x = Input((6,))
    outer = Model(x, inner(x) - inner(x * 2))
    expected = inner.predict(X) - inner.predict(X * 2)
    np.testing.assert_allclose(outer.predict(X), expected, atol=1e-5)
    np.testing.assert_allclose(outer(X), expected, atol=1e-5)
    steps = Sequential([Dense(6, input_shape=(6,)), inner])
    assert steps.predict(X).shape == (5, 2)
    sequence = Input((4, 6))
    over_time = Model(sequence, TimeDistributed(inner)(sequence))
    assert over_time.predict(np.ones((2, 4, 6))).shape == (2, 4, 2)


@pytest.mark.parametrize("way", ["json", "h5", "keras", "clone", "pickle"])
def test_a_model_with_operations_comes_back(tmp_path, way):
    x = Input((6,))
    y = K.reshape(x * np.arange(6.0) + Dense(6)(x), (-1, 2, 3))
    model = Model(x, Dense(2)(K.concatenate([y[:, 0], K.max(y, axis=1)])))
    model.compile("sgd", "mse")
    if way in ("h5", "keras"):
        model.save(tmp_path / f"model.{way}")
        again = load_model(tmp_path / f"model.{way}")
    elif way == "pickle":
        again = pickle.loads(pickle.dumps(model))
    else:
        again = model_from_json(model.to_json()) if way == "json" else clone_model(model)
        again.set_weights(model.get_weights())
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_saved_model_is_read_in_every_dialect(monkeypatch):
    model = residual_model()
    monkeypatch.setattr(config, "dialect", "2.2")
    again = model_from_json(model.to_json())
    again.set_weights(model.get_weights())
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_training_goes_through_operations():
    model = residual_model()
    model.compile("adam", "mse")
    losses = model.fit(X, X[:, :2], epochs=20, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


# --- variables, random numbers, the phase ---------------------------------------------------------


def test_a_variable_is_a_weight_that_is_saved_and_not_trained(tmp_path):
    x = Input((6,))
    scale = K.variable(np.arange(6.0), name="scale")
    model = Model(x, x * scale)
    assert model.non_trainable_weights == [scale]
    model.save(tmp_path / "scaled.h5")
    scale.set_value(np.zeros(6))
    np.testing.assert_allclose(load_model(tmp_path / "scaled.h5").predict(X), X * np.arange(6.0))
    with pytest.raises(ConfigError, match=r"Save the model as \.h5"):
        model.save(tmp_path / "scaled.keras")


def test_the_weight_of_another_layer_is_used_but_cannot_be_written():
    x = Input((3,), dtype="int32")
    table = Embedding(7, 4)
    model = Model(x, K.dot(table(x), K.transpose(table.embeddings)))
    assert model.weights == [table.embeddings]
    with pytest.raises(ConfigError, match="a weight of another layer"):
        model.get_config()


def test_random_operations_draw_anew_and_know_the_phase():
    x = Input((6,))
    noisy = x + K.random_normal(K.shape(x), seed=3)
    model = Model(x, K.in_train_phase(noisy, x))
    np.testing.assert_array_equal(model.predict(X), X)
    for one in (model, Model.from_config(json.loads(json.dumps(model.get_config())))):
        run = K.function([*one.inputs, K.learning_phase()], one.outputs)
        first, second = run([X, 1])[0], run([X, 1])[0]
        assert (first != second).all()
        assert (first != X).all()


def test_two_calls_of_one_random_operation_draw_different_numbers():
    x = Input((6,))
    noise = Model(x, x * 0 + K.random_normal(K.shape(x), seed=3))
    first, second = Model(x, [noise(x), noise(x + 1)]).predict(X)
    assert (first != second).all()
    assert (noise(X) != noise(X)).all()


def test_an_operation_with_a_loop_inside_cannot_be_written():
    x = Input((6,))
    model = Model(x, K.map_fn(lambda row: row * 2, x))
    np.testing.assert_allclose(model.predict(X), 2 * X)
    with pytest.raises(ConfigError, match="cannot be written"):
        model.get_config()


def test_an_unknown_operation_names_the_nearest():
    with pytest.raises(ConfigError, match="Did you mean 'Subtract'"):
        Operation("Substract", [{"tensor": 0}, 1.0])
    with pytest.raises(ConfigError, match="there is no op 'Ad' here"):
        Operation("kerascope>Ad", [{"tensor": 0}])(X)
