"""Facts R33 to R49 of the source documents: histories, and S4's example down to its updates."""

import re

import numpy as np
import pytest
from document_models import EXAMPLE, compiled_example, example

import kerascope as ks
from kerascope import backend as K
from kerascope import layers
from kerascope.engine.graph_map import map_graph
from kerascope.layers import Dense, Input, InputLayer, Lambda

pytestmark = pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")


def test_R33_the_history_of_a_tensor_is_layer_node_index_tensor_index():
    """R33, S3:112: `_keras_history = (self, len(self._inbound_nodes) - 1, i)`."""
    x = Input(shape=(4,))
    dense = Dense(3)
    for call in range(3):
        y = dense(x)
        assert y._keras_history == (dense, len(dense._inbound_nodes) - 1, 0)
        assert y._keras_history == (dense, call, 0)
    both = Lambda(lambda x: [x, 2 * x])
    assert [y._keras_history for y in both(x)] == [(both, 0, 0), (both, 0, 1)]


ILL_DEFINED = (
    'Layer lstm_1 has multiple inbound nodes, hence the notion of "layer output" is ill-defined. '
    "Use get_output_at(node_index) instead."
)


def called_twice(layer):
    a, b = Input(shape=(280, 256)), Input(shape=(280, 256))
    return layer(a), layer(b)


def test_R34_a_shared_layer_has_an_output_for_each_call():
    """R34, S3:179: `lstm.get_output_at(0)`; the histories, with a Dense for the LSTM."""
    shared = Dense(32, name="lstm_1")
    encoded_a, encoded_b = called_twice(shared)
    assert encoded_a._keras_history == (shared, 0, 0)
    assert encoded_b._keras_history == (shared, 1, 0)
    assert shared.get_output_at(0) is encoded_a
    assert shared.get_output_at(1) is encoded_b
    with pytest.raises(AttributeError, match=f"^{re.escape(ILL_DEFINED)}$"):
        _ = shared.output


def test_R34_the_shared_lstm_has_36992_parameters():
    """R34, S3:179: `lstm = LSTM(32)` on two inputs of shape (280, 256)."""
    lstm = layers.LSTM(32)
    encoded_a, encoded_b = called_twice(lstm)
    assert encoded_a._keras_history == (lstm, 0, 0)
    assert encoded_b._keras_history == (lstm, 1, 0)
    assert lstm.count_params() == 36_992
    with pytest.raises(AttributeError, match=f"^{re.escape(ILL_DEFINED)}$"):
        _ = lstm.output


S3_MODEL = """
from keras.layers import Input, Dense
from keras.models import Model

inputs = Input(shape=(784,))

x = Dense(64, activation='relu')(inputs)
x = Dense(64, activation='relu')(x)
predictions = Dense(10, activation='softmax')(x)

model = Model(inputs=inputs, outputs=predictions)
model.compile(optimizer='rmsprop',
              loss='categorical_crossentropy',
              metrics=['accuracy'])
model.fit(data, labels)
"""


def test_R35_the_784_64_64_10_model_has_55050_parameters(run_printed):
    """R35, S3:214: the code, as printed; "inputs and predictions are tensors"."""
    random = np.random.default_rng(0)
    labels = np.eye(10)[random.integers(0, 10, size=40)]
    names = run_printed(S3_MODEL, data=random.normal(size=(40, 784)), labels=labels)
    assert names["model"].count_params() == 55_050
    assert K.int_shape(names["inputs"]) == (None, 784)
    assert K.int_shape(names["predictions"]) == (None, 10)
    assert len(names["model"].history.history["loss"]) == 1


def test_R36_input_returns_the_placeholder_or_the_tensor_it_was_given():
    """R36, S3:231: `return unpack_singleton(outputs)`."""
    assert K.is_placeholder(Input(shape=(4,)))
    given = K.variable(np.ones((2, 4)))
    assert Input(tensor=given) is given
    assert isinstance(given._keras_history.layer, InputLayer)


def test_R37_an_input_layer_is_built_and_has_one_node_of_one_tensor():
    """R37, S3:249: "it only passes the original data on"."""
    layer = InputLayer(input_shape=(4,))
    (node,) = layer.inbound_nodes
    assert layer.trainable is False
    assert layer.built is True
    assert node.inbound_layers == node.node_indices == node.tensor_indices == []
    assert node.input_tensors == node.output_tensors
    assert node.output_tensors[0]._keras_history == (layer, 0, 0)


def test_R38_the_example_runs_as_printed_and_has_5569_parameters(run_printed):
    """R38, S4:29: "a simple example", with data "like a child's game"."""
    model = run_printed(EXAMPLE)["model"]
    assert [layer.count_params() for layer in model.layers] == [0, 1_344, 4_160, 65]
    assert model.count_params() == 5_569


def test_R39_the_chain_of_layers_leads_from_dense_3_to_input_1():
    """R39, S4:146: `p layer.inbound_nodes[0].inbound_layers[0].name`, and on."""
    layer = example().layers[-1]
    names = [layer.name]
    while layer.inbound_nodes[0].inbound_layers:
        layer = layer.inbound_nodes[0].inbound_layers[0]
        names.append(layer.name)
    assert names == ["dense_3", "dense_2", "dense_1", "input_1"]


def test_R40_seen_nodes_holds_a_mark_of_id_and_depth_for_each_node():
    """R40, S4:248: `p seen_nodes` shows four marks "id-depth"."""
    model = example()
    nodes = [layer.inbound_nodes[0] for layer in reversed(model.layers)]
    marks = [f"{id(node)}-{depth}" for depth, node in enumerate(nodes)]
    assert sorted(model.seen_nodes) == sorted(marks)
    assert map_graph(model.inputs, model.outputs, flavour="1").seen_nodes == marks


def test_R41_python_forgets_how_y_was_made_and_a_graph_does_not():
    """R41, S4:203: "we sometimes wish for y == 4"."""
    x = 1
    y = x**2
    x = 2
    assert y == 1
    symbolic_x = K.variable(1.0)
    symbolic_y = symbolic_x**2
    K.set_value(symbolic_x, 2.0)
    assert K.eval(symbolic_y) == 4.0
    assert x == 2


def test_R42_add_weight_takes_initializer_regularizer_and_constraint(keras_1):
    """R42, S4:180: `self.add_weight((input_dim, output_dim), initializer=..., name='{}_W'...)`."""

    class OldDense(ks.layers.Layer):
        def build(self, input_shape):
            self.W = self.add_weight(
                (input_shape[1], 3),
                initializer="one",
                name=f"{self.name}_W",
                regularizer=ks.regularizers.get("l2"),
                constraint=ks.constraints.get("maxnorm"),
            )

        def call(self, x):
            return K.dot(x, self.W)

    layer = OldDense(name="dense_1")
    layer(Input(shape=(2,)))
    assert layer.W.name == "dense_1_W"
    assert K.get_value(layer.W).tolist() == [[1.0] * 3] * 2
    assert [float(K.eval(loss)) for loss in layer.losses] == pytest.approx([0.06])
    constrained = K.eval(layer.W.constraint(3.0 * layer.W))
    assert np.linalg.norm(constrained, axis=0) == pytest.approx([2.0] * 3)
    assert [w.name for w in dense_weights()] == ["dense_1_W", "dense_1_b"]


def dense_weights():
    dense = Dense(2)
    dense(Input(shape=(3,)))
    return dense.weights


def test_R43_tensor_map_fills_node_by_node():
    """R43, S4:325: `tensor_map[str(id(x))] = (y, mask)`, then the loop over depths and nodes."""
    model = example()
    stage = model.run_stage([Input(shape=(20,))])
    filled = []
    for event in stage:
        tensor_map = stage.names["tensor_map"]
        filled.append(len(tensor_map))
        assert all(isinstance(entry, tuple) for entry in tensor_map.values())
        if hasattr(event, "node"):
            reference = event.node.output_tensors[0]
            assert tensor_map[reference][0] is event.output_tensors[0]
    assert filled == [1, 2, 3, 4]
    assert stage.result[0][0].shape == (None, 1)


def test_R44_loss_functions_is_a_list_of_functions():
    """R44, S4:369: `p self.loss_functions` prints [<function binary_crossentropy at 0x...>]."""
    printed = repr(compiled_example().loss_functions)
    assert re.fullmatch(r"\[<function binary_crossentropy at 0x[0-9a-f]+>\]", printed)


def test_R45_each_call_of_f_gives_loss_and_metrics_and_updates_all_weights(data):
    """R45, S4:423: `outs = f(ins_batch)`."""
    model = compiled_example()
    model._make_train_function()
    f = model.train_function
    before = model.get_weights()
    outs = f([data[0], data[1][:, None], np.ones(50)])
    assert len(outs) == len(model.metrics_names) == 2
    changed = [not np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True)]
    assert changed == [True] * 6


def example_updates(dialect="2.2"):
    """Return S4's model, and what get_updates gives for it."""
    ks.config.dialect = dialect
    model = compiled_example()
    params = model._collected_trainable_weights
    return model, model.optimizer.get_updates(params, {}, model.total_loss)


def test_R46_rmsprop_gives_twelve_pairs():
    """R46, S4:448: `self.updates.append(K.update(a, new_a))`, and the same for p."""
    model, updates = example_updates()
    assert len(updates) == 12
    accumulators, params = [v for v, _ in updates[::2]], [v for v, _ in updates[1::2]]
    assert params == model.trainable_weights
    assert accumulators == model.optimizer.weights[1:]
    assert all(isinstance(pair, tuple) and K.is_tensor(pair[1]) for pair in updates)


def test_R47_the_loss_is_an_output_of_an_op_and_params_have_old_names():
    """R47, S4:468: `p loss` prints Elemwise{mul,no_inplace}.0; `p params` prints six names."""
    model, _ = example_updates("1.2")
    assert model.total_loss.owner.op.name == "multiply"
    assert model.total_loss.index == 0
    printed = "[dense_1_W, dense_1_b, dense_2_W, dense_2_b, dense_3_W, dense_3_b]"
    assert str(model._collected_trainable_weights) == printed


def test_R48_the_first_v_is_a_20_by_64_array_of_zeros():
    """R48, S4:515: `p v._keras_shape` and `p v.get_value()`."""
    _, updates = example_updates()
    v, _ = updates[0]
    assert v._keras_shape == (20, 64)
    assert v.get_value().dtype == np.float32
    assert not v.get_value().any()


def test_R49_the_accumulator_counts_0_0_1_1_301():
    """R49, S4:543: "like accumulation in Theano", its example of shared variables."""
    state = K.variable(0, dtype="int64")
    increment = K.placeholder(shape=(), dtype="int64")
    accumulate = K.function([increment], [state], updates=[(state, state + increment)])
    seen = [int(K.get_value(state))]
    for step in (1, 300):
        (output,) = accumulate([step])
        seen += [int(output), int(K.get_value(state))]
    assert seen == [0, 0, 1, 1, 301]
