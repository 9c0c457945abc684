"""Facts R15 to R32 of the source documents: compile and fit, calling a layer, mapping a graph."""

import h5py
import numpy as np
import pytest
from document_models import close_a_cycle, compiled_example, diamond, example

import kerascope as ks
from kerascope import backend as K
from kerascope.callbacks import Callback, LambdaCallback
from kerascope.engine.feeding import training_arrays
from kerascope.engine.graph_map import map_graph
from kerascope.layers import Add, Dense, Dropout, Embedding, Input, Lambda, Layer, add
from kerascope.models import Model

pytestmark = pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")


def fed_batches(model, *data, **options):
    """Return the arrays of every batch that `fit` gives to the train function."""
    stage = model.fit_stage(*data, verbose=0, **options)
    return [event.ins_batch for event in stage if hasattr(event, "ins_batch")]


def test_R15_the_total_loss_is_a_weighted_sum(data):
    """R15, S0:553: `total_loss += loss_weight * output_loss`; accuracy of 0 and 1 rounds."""
    x = Input(shape=(20,))
    model = Model(x, [Dense(1, activation="sigmoid")(x), Dense(1)(x)])
    model.compile("sgd", ["binary_crossentropy", "mse"], loss_weights=[0.5, 2.0])
    total, first, second = model.test_on_batch(data[0], [data[1], data[1]])
    assert total == pytest.approx(0.5 * first + 2.0 * second)
    assert model.metrics_names == ["loss", "dense_1_loss", "dense_2_loss"]

    single = compiled_example()
    assert single.metrics_names == ["loss", "acc"]
    _, accuracy = single.test_on_batch(*data)
    rounded = np.round(single.predict(data[0]))[:, 0]
    assert accuracy == pytest.approx(np.mean(rounded == data[1]))


def test_R16_labels_get_a_second_axis_and_samples_a_weight(data):
    """R16, S0:616: `_standardize_user_data` "gives standardized data"."""
    x, y, sample_weights = compiled_example()._standardize_user_data(*data)
    assert data[1].shape == (50,)
    assert [array.shape for array in x + y + sample_weights] == [(50, 20), (50, 1), (50,)]
    assert (sample_weights[0] == 1).all()


def test_R17_the_flag_of_the_learning_phase_is_fed_and_not_sliced(data):
    """R17, S0:630: `ins = x + y + sample_weights + [1.]`: "do not slice the ... flag"."""
    inputs = Input(shape=(20,))
    model = Model(inputs, Dense(1)(Dropout(0.5)(inputs)))
    model.compile("sgd", "mse")
    ins = training_arrays(model, *data, None, None, 1.0, "fit")
    assert [np.shape(array) for array in ins] == [(50, 20), (50, 1), (50,), ()]
    assert ins[-1] == 1.0
    batches = fed_batches(model, *data, batch_size=32)
    assert [np.shape(array) for array in batches[1]] == [(18, 20), (18, 1), (18,), ()]
    assert [batch[-1] for batch in batches] == [1.0, 1.0]


def test_R18_the_train_function_takes_inputs_targets_and_sample_weights(data):
    """R18, S4:409: `(Pdb) p inputs` prints [input_1, dense_3_target, dense_3_sample_weights]."""
    model = compiled_example()
    model.train_on_batch(*data)
    assert str(model.train_function.inputs) == "[input_1, dense_3_target, dense_3_sample_weights]"


def test_R19_of_duplicate_updates_the_first_wins():
    """R19, S0:678: `if v not in unique_variables_to_update`."""
    v = K.variable(2.0)
    f = K.function([], [v], updates=[(v, v + 1.0), (v, v + 10.0)])
    f([])
    assert K.get_value(v) == 3.0


class Recorder(Callback):
    """Writes down what it is told."""

    def __init__(self):
        self.told = []

    def on_train_begin(self, logs=None):
        self.told.append("train_begin")

    def on_train_end(self, logs=None):
        self.told.append("train_end")

    def on_epoch_begin(self, epoch, logs=None):
        self.told.append(f"epoch_begin {epoch}")

    def on_epoch_end(self, epoch, logs=None):
        self.told.append(f"epoch_end {epoch} {sorted(logs)}")

    def on_batch_begin(self, batch, logs=None):
        self.told.append(f"batch_begin {batch} size {logs['size']}")

    def on_batch_end(self, batch, logs=None):
        self.told.append(f"batch_end {batch}")


def test_R20_callbacks_are_told_in_the_documents_order(keras_1, data):
    """R20, S0:716 and S4:556: the loop over epochs and batches, with Keras 1's defaults."""
    recorder = Recorder()
    model = compiled_example()
    history = model.fit(*data, verbose=0, callbacks=[recorder], validation_split=0.0)
    assert history.params["batch_size"] == 32
    assert history.params["nb_epoch"] == 10
    assert len(history.history["loss"]) == 10
    assert recorder.told[:7] == [
        "train_begin",
        "epoch_begin 0",
        "batch_begin 0 size 32",
        "batch_end 0",
        "batch_begin 1 size 18",
        "batch_end 1",
        "epoch_end 0 ['acc', 'loss']",
    ]
    assert recorder.told[-1] == "train_end"

    recorder = Recorder()
    model.fit(*data, verbose=0, nb_epoch=1, callbacks=[recorder], validation_data=data)
    assert recorder.told[-2] == "epoch_end 0 ['acc', 'loss', 'val_acc', 'val_loss']"


def test_R20_stop_training_ends_the_loop(data):
    """R20, S0:768: `if callback_model.stop_training: break`."""
    model = compiled_example()
    stop = LambdaCallback(on_epoch_end=lambda epoch, _: setattr(model, "stop_training", epoch == 2))
    history = model.fit(*data, epochs=100, verbose=0, callbacks=[stop])
    assert history.epoch == [0, 1, 2]


def test_R20_an_hdf5_data_set_asks_for_shuffled_batches(tmp_path, data):
    """R20, S0:738: "If using HDF5 input data, pass shuffle="batch"."."""
    model = compiled_example()
    with h5py.File(tmp_path / "data.h5", "w") as file:
        x = file.create_dataset("x", data=data[0])
        message = (
            r'TypeError while preparing batch\. If using HDF5 input data, pass shuffle="batch"\.'
        )
        with pytest.raises(TypeError, match=message):
            model.fit(x, data[1], verbose=0, epochs=1)
        model.fit(x, data[1], verbose=0, epochs=1, shuffle=False)


def test_R20_shuffling_by_batch_keeps_the_rows_of_a_batch_together():
    """R20, S0:722: `index_array = batch_shuffle(index_array, batch_size)`."""
    inputs = Input(shape=(1,))
    model = Model(inputs, Dense(1)(inputs))
    model.compile("sgd", "mse")
    rows = np.arange(50.0)
    batches = fed_batches(model, rows, rows, batch_size=8, shuffle="batch")
    starts = [int(batch[0][0, 0]) for batch in batches]
    assert sorted(starts) == [0, 8, 16, 24, 32, 40, 48]
    assert starts != sorted(starts)
    for batch in batches:
        assert (np.diff(batch[0][:, 0]) == 1).all()


S1_SEQUENTIAL = """
import keras

model = keras.Sequential()
model.add(keras.layers.Dense(input_shape=(10,), units=10, activation='relu'))
model.add(keras.layers.Dense(units=1))
"""


def test_R21_the_sequential_model_has_121_parameters(run_printed):
    """R21, S1:36: the code, as printed."""
    assert run_printed(S1_SEQUENTIAL)["model"].count_params() == 121


S1_SIMPLE_DENSE = """
class SimpleDense(Layer):
    def __init__(self, units=32):
        super(SimpleDense, self).__init__()
        self.units = units
    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1], self.units),
                                 initializer='random_normal',
                                 trainable=True)
        self.b = self.add_weight(shape=(self.units,),
                                 initializer='random_normal',
                                 trainable=True)
    def call(self, inputs):
        return tf.matmul(inputs, self.w) + self.b
"""


class tf:
    """What S1's code takes from TensorFlow."""

    matmul = staticmethod(K.dot)


def test_R22_a_layer_is_built_once_at_its_first_call(run_printed):
    """R22, S1:57: SimpleDense, as printed; `if not self.built: self.build(input_shapes)`."""
    simple_dense = run_printed(S1_SIMPLE_DENSE, Layer=Layer, tf=tf)["SimpleDense"]
    builds = []
    counted = type(
        "Counted",
        (simple_dense,),
        {"build": lambda self, shape: builds.append(shape) or simple_dense.build(self, shape)},
    )
    layer = counted(4)
    assert layer.built is False
    layer(Input(shape=(7,)))
    layer(np.ones((2, 7)))
    assert layer.built is True
    assert builds == [(None, 7)]
    assert [w.shape for w in layer.weights] == [(7, 4), (4,)]


def test_R23_add_weight_enters_a_variable_in_the_right_list():
    """R23, S1:77: `if trainable: ... append`; and track_variable is not needed.

    tf.keras tracks variables only for its graphs and returns at once in eager mode. Here a variable
    holds its numbers from birth, whoever makes it: there is nothing to initialize and no tracking.
    """
    layer = Layer()
    kept = layer.add_weight("kept", (2,), initializer="ones", trainable=False)
    trained = layer.add_weight("trained", (3,), initializer="zeros")
    assert layer.trainable_weights == [trained]
    assert layer.non_trainable_weights == [kept]
    assert K.get_value(kept).tolist() == [1.0, 1.0]


def test_R24_a_tensor_is_immutable_and_a_variable_mutable():
    """R24, S1:115: "the value of a Tensor cannot change, that of a Variable can"."""
    tensor, variable = K.constant([1.0, 2.0]), K.variable([1.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        tensor.value[0] = 5.0
    for immutable in (tensor, variable * 2):
        assert not hasattr(immutable, "set_value")
        with pytest.raises(TypeError):
            immutable[0] = 5.0
    variable.set_value([5.0, 6.0])
    assert K.get_value(variable).tolist() == [5.0, 6.0]


S1_EAGER_CALL = """
layer = tf.keras.layers.Dense(input_shape=(10,), units=15)
x = np.random.rand(20, 10)
output = layer(x)
print(output.shape)  # (20, 15)
"""


def test_R25_a_layer_called_on_an_array_gives_an_array(run_printed, monkeypatch, capsys):
    """R25, S1:143: the code, as printed, where tf.keras is kerascope."""
    monkeypatch.setattr(tf, "keras", ks, raising=False)
    output = run_printed(S1_EAGER_CALL, tf=tf, np=np)["output"]
    assert capsys.readouterr().out == "(20, 15)\n"
    assert isinstance(output, np.ndarray)


def test_R26_a_call_has_three_modes():
    """R26, S1:151: "Keras Tensor, graph, eager"."""
    bodies = []

    class Spy(Layer):
        def call(self, inputs):
            bodies.append(inputs)
            return inputs * 2.0

    layer = Spy()
    arrays = layer(np.ones((2, 3))), layer(np.ones((2, 3)))  # eager: the body runs at each call
    assert all(array.tolist() == [[2.0] * 3] * 2 for array in arrays)
    assert len(bodies) == 2

    @ks.compiled  # as a graph: once for two calls
    def twice(x):
        return layer(x)

    assert twice(np.ones((2, 3))).tolist() == twice(np.ones((2, 3))).tolist() == [[2.0] * 3] * 2
    assert twice.traces == 1
    assert len(bodies) == 3

    output = layer(Input(shape=(3,)))  # a symbolic input
    assert K.is_keras_tensor(output)
    assert output.shape == (None, 3)
    assert len(bodies) == 4


def test_R27_the_arguments_decide_between_graph_and_subclassed_network():
    """R27, S2:19: `len(args) == 2 or ... 'inputs' in kwargs and 'outputs' in kwargs`."""
    x = Input(shape=(4,))
    y = Dense(2)(x)
    for network in (Model(x, y), Model(x, outputs=y), Model(inputs=x, outputs=y)):
        assert network._is_graph_network

    class Own(Model):
        def __init__(self):
            super().__init__(name="own")
            self.dense = Dense(2)

        def call(self, inputs):
            return self.dense(inputs)

    assert not Own()._is_graph_network
    assert Own().predict(np.ones((3, 4))).shape == (3, 2)


def test_R28_nodes_have_keys_and_a_cycle_is_an_error():
    """R28, S2:68: `_make_node_key`, and "The tensor ... at layer "B" is part of a cycle."."""
    assert example().network_nodes == [
        "input_1_ib-0",
        "dense_1_ib-0",
        "dense_2_ib-0",
        "dense_3_ib-0",
    ]
    x = Input(shape=(4,))
    layers = [Dense(4, name=name) for name in "AB"]
    output = layers[1](layers[0](x))
    close_a_cycle(layers[0].inbound_nodes[0], layers[1].inbound_nodes[0])
    with pytest.raises(ValueError, match=r'^The tensor .* at layer "B" is part of a cycle\.'):
        Model(x, output)


def test_R29_layers_stand_by_falling_depth_and_ties_by_traversal():
    """R29, S2:138: `layers_for_depth.sort(key=lambda x: layer_indices[x])`."""
    graph_map = map_graph(*diamond())
    assert [layer.name for layer in graph_map.layers] == ["x", "A", "C", "B", "add"]
    assert list(graph_map.layer_indices.values()) == list(range(5))
    swapped = map_graph(*diamond("BC"))
    assert [layer.name for layer in swapped.layers] == ["x", "A", "B", "C", "add"]


def test_R30_a_run_heeds_masks_lists_penalties_and_arguments():
    """R30, S2:203: what run_internal_graph does with each node."""
    numbers = Input(shape=(3,), dtype="int32")
    embedded = Embedding(5, 2, mask_zero=True)(numbers)
    scaled = Lambda(lambda x, mask=None: x * K.cast(K.expand_dims(mask), "float32"))(embedded)
    summed = Add()([scaled, scaled])
    outputs = Dense(1, activity_regularizer="l2")(summed)
    model = Model(numbers, outputs)
    new = Input(shape=(3,), dtype="int32")
    before = len(model.layers[-1].losses)
    model(new)
    assert len(model.layers[-1].losses) == before + 1  # a penalty on the new output
    assert len(model.get_losses_for(new)) == 1
    _, _, shapes = model.run_internal_graph([new])
    assert shapes == [(None, 3, 1)]

    class Scale(Layer):
        def call(self, inputs, by=1.0):
            return inputs * by

    x = Input(shape=(2,))
    scale = Scale()
    model = Model(x, scale(x, by=3.0))
    assert scale.inbound_nodes[0].arguments == {"by": 3.0}
    assert model.predict(np.ones((1, 2))).tolist() == [[3.0, 3.0]]
    model.nodes_by_depth.clear()
    with pytest.raises(ValueError, match="Could not compute output"):
        model.run_internal_graph([Input(shape=(2,))])


def test_R31_a_missing_input_disconnects_the_graph():
    """R31: what S2:179 leaves out of `_map_graph_network`."""
    a, b = Input(shape=(4,), name="a"), Input(shape=(4,), name="b")
    message = (
        r'^Graph disconnected: cannot obtain value for tensor b at layer "b"\. '
        r"The following previous layers were accessed without issue: \['a'\]\."
    )
    with pytest.raises(ValueError, match=message):
        Model(a, add([a, b]))


def test_R32_the_base_layer_returns_its_inputs_as_a_copy():
    """R32, S3:14 and S3:37: `if x in inputs_ls: x = K.identity(x)`."""
    layer = Layer()
    x = Input(shape=(4,))
    assert layer.call(x) is x
    y = layer(x)
    assert y is not x
    assert y.owner.op.name == "identity"
    assert y.owner.inputs == [x]
    assert x._keras_history.layer.name == "input_1"
    assert y._keras_history.layer is layer
