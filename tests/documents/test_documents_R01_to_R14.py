"""Facts R01 to R14 of the source documents: backends, layers and nodes, containers.

S0 to S4 are the documents, S4:161 is line 161. They describe Keras 1.2.0 (S0), 1.2.2 (S4), 2.2.4
(S2, S3) and tf.keras 2.4 (S1).
"""

import numpy as np
import pytest
from document_models import compiled_example, diamond, example

import kerascope as ks
from kerascope import backend as K
from kerascope.engine.node import Node
from kerascope.errors import KerascopeWarning
from kerascope.layers import Activation, BatchNormalization, Dense, Input, InputLayer, Layer
from kerascope.models import Container, Functional, Model, Network, Sequential

pytestmark = pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")

S0_SEQUENTIAL = """
import keras
from keras.models import Sequential
from keras.layers import Dense, Activation
from keras import backend as K

model = Sequential()
model.add(Dense(32, input_shape=(500,)))
model.add(Dense(10, activation='softmax'))
model.compile(optimizer='rmsprop',
      loss='categorical_crossentropy',
      metrics=['accuracy'])
model.fit(train['data'], train['label'], batch_size=32,
      nb_epoch=10, verbose=1)
"""

# Keras 2.2.4's backend without what convolution, recurrence and sparse tensors need.
BACKEND_NAMES = """
abs all any arange argmax argmin batch_dot batch_flatten batch_get_value batch_normalization
batch_set_value bias_add binary_crossentropy cast categorical_crossentropy clip concatenate constant
cos count_params cumprod cumsum dot dropout dtype elu equal eval exp expand_dims eye flatten
function gather get_uid get_value get_variable_shape gradients greater greater_equal hard_sigmoid
identity in_test_phase in_top_k in_train_phase int_shape is_keras_tensor is_placeholder is_sparse
is_tensor l2_normalize learning_phase less less_equal log logsumexp max maximum mean min minimum
moving_average_update ndim normalize_batch_in_training not_equal one_hot ones ones_like
permute_dimensions placeholder pow prod random_binomial random_normal random_normal_variable
random_uniform random_uniform_variable relu repeat repeat_elements reset_uids reshape reverse round
set_learning_phase set_value shape sigmoid sign sin slice softmax softplus softsign
sparse_categorical_crossentropy sqrt square squeeze stack std stop_gradient sum switch tanh tile
transpose truncated_normal update update_add update_sub var variable zeros zeros_like
epsilon set_epsilon floatx set_floatx cast_to_floatx image_data_format set_image_data_format
""".split()  # noqa: SIM905


def test_R01_the_sequential_classifier_has_16362_parameters_and_trains(run_printed):
    """R01, S0:11: "a simple fully connected classifier": the code, as printed, runs."""
    random = np.random.default_rng(0)
    classes = random.integers(0, 10, size=64)
    train = {"data": random.normal(size=(64, 500)), "label": np.eye(10)[classes]}
    model = run_printed(S0_SEQUENTIAL, train=train)["model"]
    assert model.count_params() == 16_362
    losses = model.history.history["loss"]
    assert len(losses) == 10
    assert losses[-1] < losses[0] / 5


def test_R02_the_backend_is_a_set_of_functions_of_the_same_names():
    """R02, S0:102 and S4:117: "the backends' functions all have the same names"."""
    assert [name for name in BACKEND_NAMES if not callable(getattr(K, name, None))] == []
    # Only an op's `perform` knows the engine: a function of K takes tensors and gives tensors.
    x = K.placeholder(shape=(None, 3))
    for name in ("exp", "maximum", "sum", "softmax", "transpose", "gradients"):
        arguments = {"maximum": (x, 0.0), "gradients": (K.sum(K.square(x)), [x])}.get(name, (x,))
        result = getattr(K, name)(*arguments)
        assert all(K.is_tensor(y) for y in (result if isinstance(result, list) else [result]))


def test_R03_a_sequential_is_a_model_is_a_container_is_a_layer():
    """R03, S0:116, S4:238 and S1:43: the chain of classes; Model has no `__init__` of its own."""
    chain = Sequential.__mro__
    assert chain.index(Model) < chain.index(Network) < chain.index(Layer)
    assert Container is Network  # Keras 1's name
    assert Functional in (Model, Network)  # tf.keras's name
    assert "__init__" not in vars(Model)


def test_R04_a_node_enters_itself_on_both_sides():
    """R04, S0:126: Node appends itself to inbound_nodes here, to outbound_nodes there."""
    first, second = Dense(3), Dense(2)
    x = Input(shape=(4,))
    second(first(x))
    node = second.inbound_nodes[0]
    assert first.outbound_nodes == [node]
    assert node.outbound_layer is second
    assert node.inbound_layers == [first]
    made = Node.create_node(Dense(5), second)
    assert made.inbound_layers == [second]
    assert second.outbound_nodes == [made]
    assert made.get_config() == {
        "outbound_layer": "dense_3",
        "inbound_layers": ["dense_2"],
        "node_indices": [0],
        "tensor_indices": [0],
    }


def test_R05_weights_are_the_trainable_ones_and_the_others():
    """R05, S0:180 and S0:253: "weights" is the concatenation of the two lists."""
    x = Input(shape=(4,))
    dense, batch = Dense(3), BatchNormalization()
    batch(dense(x))
    for layer in (dense, batch):
        assert layer.weights == layer.trainable_weights + layer.non_trainable_weights
    words = [w.name.split("/")[-1] for w in batch.weights]
    assert words == ["gamma", "beta", "moving_mean", "moving_variance"]
    assert len(batch.non_trainable_weights) == 2
    dense.trainable = False
    assert len(dense.trainable_weights) == 0
    assert len(dense.non_trainable_weights) == 2


def test_R06_create_input_layer_leaves_one_input_and_one_node():
    """R06, S0:206: `x = Input(batch_shape=...); self(x)` connects the layer with a new input."""
    layer = Dense(3)
    layer.create_input_layer((None, 7))
    assert len(layer.inbound_nodes) == 1
    (input_layer,) = layer.inbound_nodes[0].inbound_layers
    assert isinstance(input_layer, InputLayer)
    assert layer.input_shape == layer.batch_input_shape == (None, 7)


def test_R07_updates_belong_to_the_inputs_of_their_call():
    """R07, S0:231: losses and updates are kept under a key made from `inputs`."""
    layer = BatchNormalization()
    x, elsewhere = Input(shape=(4,)), Input(shape=(4,))
    model = Model(x, layer(x))
    layer(elsewhere)
    assert len(layer.updates) == 4
    assert len(model.updates) == 2
    assert layer.get_updates_for(x) == model.updates
    dense = Dense(2, activity_regularizer="l2", kernel_regularizer="l2")
    model = Model(x, dense(x))
    dense(elsewhere)
    assert len(dense.losses) == 3  # the penalty on the kernel, and one for each call
    assert len(model.losses) == 2
    assert len(dense.get_losses_for(None)) == 1
    assert len(dense.get_losses_for(x)) == 1


def test_R08_weights_go_out_as_arrays_and_come_back():
    """R08, S0:257: get_weights returns a list of arrays, set_weights takes one."""
    one, other = example(), example()
    arrays = one.get_weights()
    assert all(isinstance(array, np.ndarray) for array in arrays)
    assert [array.shape for array in arrays] == [(20, 64), (64,), (64, 64), (64,), (64, 1), (1,)]
    other.set_weights(arrays)
    assert all(map(np.array_equal, other.get_weights(), arrays))


class OldDouble(Layer):
    """A layer as S0 writes them: four methods, in the words of Keras 1."""

    def __init__(self, factor=2.0, **kwargs):
        self.factor = factor
        super().__init__(**kwargs)

    def build(self, input_shape):
        self.W = K.variable(np.full(input_shape[1:], self.factor))
        self.trainable_weights = [self.W]

    def call(self, x, mask=None):
        return K.concatenate([x * self.W, x * self.W])

    def get_output_shape_for(self, input_shape):
        return (input_shape[0], 2 * input_shape[1])

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


ACTIVATIONS = "softmax elu softplus softsign relu tanh sigmoid hard_sigmoid linear".split()  # noqa: SIM905


def test_R09_a_layer_is_four_methods_and_activations_have_nine_names():
    """R09, S0:295 and S0:317: build, call, get_output_shape_for, get_config; None means linear."""
    x = Input(shape=(3,))
    layer = OldDouble(factor=3.0)
    model = Model(x, layer(x))
    assert model.output_shape == (None, 6)
    assert model.predict(np.ones((1, 3))).tolist() == [[3.0] * 6]
    assert layer.compute_output_shape((None, 3)) == (None, 6)  # Keras 2's name of the same
    assert OldDouble.from_config(layer.get_config()).factor == 3.0
    for name in ACTIVATIONS:
        assert ks.activations.get(name).__name__ == name
        assert Activation(name)(np.zeros((1, 2))).shape == (1, 2)
    assert Dense(3).activation is ks.activations.linear


def test_R10_a_container_keeps_layers_and_indices_of_its_ends():
    """R10, S0:340: input_layers, output_layers, and their lists of indices."""
    model = example()
    assert [layer.name for layer in model.input_layers] == ["input_1"]
    assert model.input_layers_node_indices == model.input_layers_tensor_indices == [0]
    assert [layer.name for layer in model.output_layers] == ["dense_3"]
    assert model.output_layers_node_indices == model.output_layers_tensor_indices == [0]


def test_R10_a_tensor_that_is_no_input_warns_and_disconnects_the_graph():
    """R10, S0:364: "It's supposed to be an input layer"."""
    x = Input(shape=(4,))
    hidden = Dense(3)(x)
    with (
        pytest.warns(KerascopeWarning, match="Model inputs must come from a Keras Input layer"),
        pytest.raises(ValueError, match="Graph disconnected"),
    ):
        Model(hidden, Dense(2)(hidden))


def test_R11_a_fresh_container_has_one_inbound_node_and_no_outbound_node():
    """R11, S0:406 and S4:285: "only one inbound node, and no outbound node"."""
    model = example()
    assert len(model.inbound_nodes) == 1
    assert model.outbound_nodes == []


def test_R12_the_forward_loop_runs_by_falling_depth():
    """R12, S0:455: `depth_keys.sort(reverse=True)`."""
    model = Model(*diamond())
    events = list(model.run_stage([Input(shape=(4,))]))
    visited = [(event.depth, event.node.layer.name) for event in events if hasattr(event, "depth")]
    assert visited == [(2, "A"), (1, "C"), (1, "B"), (0, "add")]


def test_R13_the_same_symbolic_input_twice_runs_once(monkeypatch):
    """R13, S0:484, S2:189 and S4:301: the cache "lowers the calls" of run_internal_graph."""
    model = example()
    runs = []
    run = Model.run_internal_graph
    monkeypatch.setattr(
        Model, "run_internal_graph", lambda self, *args: runs.append(args) or run(self, *args)
    )
    x = Input(shape=(20,))
    first, second = model.call(x), model.call(x)
    assert second is first
    assert len(runs) == 1
    assert model.call(Input(shape=(20,))) is not first
    assert len(runs) == 2


def test_R14_a_compiled_model_has_a_placeholder_for_each_target():
    """R14, S0:536: `K.placeholder(ndim=..., name=name + '_target')`."""
    model = compiled_example()
    assert str(model.targets) == "[dense_3_target]"
    assert K.is_placeholder(model.targets[0])
    assert model.targets[0].ndim == 2
