"""Recurrent layers: against plain loops, states from call to call, and a beginner's mistakes."""

import numpy as np
import pytest
import reference_recurrent as reference

from kerascope import backend as K
from kerascope.engine.model import Model
from kerascope.engine.sequential import Sequential
from kerascope.errors import ArgumentError, ShapeError, SpellingWarning
from kerascope.layers import (
    GRU,
    LSTM,
    RNN,
    Activation,
    BatchNormalization,
    Dense,
    Embedding,
    GRUCell,
    Input,
    Layer,
    LSTMCell,
    Masking,
    SimpleRNN,
    SimpleRNNCell,
    StackedRNNCells,
    deserialize,
)
from kerascope.optimizers import Adam

rng = np.random.default_rng(3)
X = rng.normal(size=(3, 5, 4)).astype("float32")
MASK = np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1], [1, 1, 1, 1, 1]], bool)

KINDS = {
    "simple_rnn": (SimpleRNN, reference.simple_rnn, {}),
    "lstm": (LSTM, reference.lstm, {}),
    "gru": (GRU, reference.gru, {}),
    "gru_reset_after": (GRU, reference.gru, {"reset_after": True}),
}


def new_weights(layer, seed=0):
    generator = np.random.default_rng(seed)
    layer.set_weights([generator.normal(size=w.shape) * 0.5 for w in layer.get_weights()])


# --- the numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("unroll", [False, True])
@pytest.mark.parametrize("go_backwards", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_those_of_plain_loops(kind, masked, go_backwards, unroll):
    layer_class, by_loops, arguments = KINDS[kind]
    layer = layer_class(
        3,
        return_sequences=True,
        return_state=True,
        go_backwards=go_backwards,
        unroll=unroll,
        **arguments,
    )
    mask = MASK if masked else None
    number = 2 if kind == "lstm" else 1
    first = [rng.normal(size=(3, 3)).astype("float32") for _ in range(number)]
    for states in (None, first):
        layer(X)
        new_weights(layer)
        given = {} if states is None else {"initial_state": states}
        outputs, *last = layer(X, **given, **({"mask": mask} if masked else {}))
        weights = [w.astype("float64") for w in layer.get_weights()]
        expected, expected_last = by_loops(
            X.astype("float64"), *weights, states=states, mask=mask, go_backwards=go_backwards
        )
        np.testing.assert_allclose(outputs, expected, rtol=1e-5, atol=1e-6)
        assert len(last) == len(expected_last) == number
        for ours, theirs in zip(last, expected_last, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
        layer.return_sequences = False
        np.testing.assert_allclose(layer(X, **given)[0].shape, (3, 3))
        layer.return_sequences = True


@pytest.mark.parametrize("kind", KINDS)
def test_cell_alone_computes_one_step_of_the_layer(kind):
    layer_class, _, arguments = KINDS[kind]
    layer = layer_class(3, return_state=True, **arguments)
    states = [K.constant(rng.normal(size=(3, 3))) for _ in layer.states]
    expected = layer(X[:, :1], initial_state=[K.eval(s) for s in states])
    output, new_states = layer.cell.call(K.constant(X[:, 0]), states)
    for ours, theirs in zip([output, *new_states], expected, strict=True):
        np.testing.assert_allclose(K.eval(ours), theirs, rtol=1e-5, atol=1e-6)


def test_cell_can_be_called_like_a_layer():
    x, h, c = X[:, 0], *(rng.normal(size=(3, 2)).astype("float32") for _ in "hc")
    cell = LSTMCell(2)
    output, states = cell(x, [h, c])
    assert [y.shape for y in (output, *states)] == [(3, 2)] * 3
    np.testing.assert_array_equal(output, states[0])
    inputs = [Input(shape=(4,)), Input(shape=(2,)), Input(shape=(2,))]
    y, new_states = cell(inputs[0], states=inputs[1:])
    model = Model(inputs, [y, *new_states])
    for one, other in zip(model.predict([x, h, c]), [output, *states], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    stack = StackedRNNCells([GRUCell(2), SimpleRNNCell(2)])
    assert [y.shape for y in stack(x, [h, c])[1]] == [(3, 2)] * 2
    with pytest.raises(ArgumentError, match=r"got no states.*RNN\(cell\)"):
        LSTMCell(2)(x)
    with pytest.raises(ArgumentError, match="expected 2 states in one list, got 1"):
        LSTMCell(2)(x, [h])


def test_stack_of_cells_equals_layers_on_top_of_each_other():
    stack = RNN([GRUCell(3), LSTMCell(2)], return_sequences=True, return_state=True)
    gru, lstm = GRU(3, return_sequences=True), LSTM(2, return_sequences=True, return_state=True)
    x = Input(shape=(5, 4))
    outputs, lower, h, c = stack(x)
    expected, expected_h, expected_c = lstm(gru(x))
    gru.set_weights(stack.cell.cells[0].get_weights())
    lstm.set_weights(stack.cell.cells[1].get_weights())
    model = Model(x, [outputs, h, c, expected, expected_h, expected_c, gru(x), lower])
    ours = model.predict(X)
    for one, other in zip(ours[:3], ours[3:6], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours[7], ours[6][:, -1], rtol=1e-5, atol=1e-6)
    assert stack.cell.state_size == (3, 2, 2)


@pytest.mark.parametrize("layer_class", [GRU, LSTM])
def test_both_implementations_give_the_same_numbers(layer_class):
    one, other = layer_class(3, implementation=1), layer_class(3, implementation=2)
    expected = one(X)
    other(X)
    other.set_weights(one.get_weights())
    np.testing.assert_array_equal(other(X), expected)


def test_masked_steps_change_nothing_after_embedding_and_masking():
    words = np.array([[1, 2, 0, 0], [3, 0, 0, 0]])
    x = Input(shape=(None,), dtype="int32")
    model = Model(x, LSTM(3)(Embedding(4, 2, mask_zero=True)(x)))
    short = model.predict(words[:, :2])
    np.testing.assert_allclose(model.predict(words), short, rtol=1e-6)

    padded = X.copy()
    padded[:, 3:] = 0
    inputs = Input(shape=(None, 4))
    model = Model(inputs, GRU(3)(Masking()(inputs)))
    np.testing.assert_allclose(model.predict(padded), model.predict(X[:, :3]), rtol=1e-6)


def test_mask_goes_on_with_a_sequence_and_ends_with_a_single_output():
    x = Input(shape=(5,), dtype="int32")
    embedded = Embedding(9, 2, mask_zero=True)(x)
    many, one = LSTM(3, return_sequences=True, return_state=True), LSTM(3)
    outputs = many(embedded)
    one(outputs[0])
    masks = many.inbound_nodes[0].output_masks
    assert masks[0] is embedded._keras_history.node.output_masks[0]
    assert masks[1:] == [None, None]
    assert one.inbound_nodes[0].output_masks == [None]


# --- weights --------------------------------------------------------------------------------------


def test_weights_are_called_as_in_keras_and_belong_to_the_layer():
    layer = LSTM(2, name="reader", kernel_regularizer="l2")
    layer(Input(shape=(None, 3)))
    assert [w.name for w in layer.weights] == [
        "reader/kernel", "reader/recurrent_kernel", "reader/bias",
    ]  # fmt: skip
    assert layer.kernel is layer.weights[0]
    assert len(layer.losses) == 1
    layer.trainable = False
    assert layer.trainable_weights == []
    assert len(layer.non_trainable_weights) == 3


def test_forget_gate_begins_with_a_bias_of_one():
    layer, without = LSTM(2), LSTM(2, unit_forget_bias=False)
    layer(X), without(X)
    assert layer.get_weights()[2].tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
    assert without.get_weights()[2].tolist() == [0] * 8


def test_first_weights_may_be_given():
    first = LSTM(2)
    expected = first(X)
    np.testing.assert_array_equal(LSTM(2, weights=first.get_weights())(X), expected)


def test_layer_learns_to_count():
    x = rng.integers(0, 2, (64, 6, 1)).astype("float32")
    y = (x.sum(axis=1) > 3).astype("float32")
    model = Sequential([LSTM(8, input_shape=(6, 1)), Dense(1, activation="sigmoid")])
    model.compile(Adam(0.02), "binary_crossentropy")
    losses = model.fit(x, y, epochs=60, batch_size=16, verbose=0).history["loss"]
    assert losses[-1] < 0.5 * losses[0]


# --- states in the graph --------------------------------------------------------------------------


def encoder_decoder(by_name):
    source, target = Input(shape=(5, 4)), Input(shape=(None, 2))
    _, *states = LSTM(3, return_state=True, name="encoder")(source)
    decoder = LSTM(3, return_sequences=True, name="decoder")
    output = decoder(target, initial_state=states) if by_name else decoder([target, *states])
    return Model([source, target], output), decoder


@pytest.mark.parametrize("by_name", [True, False])
def test_initial_states_are_edges_of_the_graph(by_name):
    model, decoder = encoder_decoder(by_name)
    node = decoder.inbound_nodes[0]
    assert [layer.name for layer in node.inbound_layers][1:] == ["encoder", "encoder"]
    assert node.tensor_indices == [0, 1, 2]
    arrays = [X, rng.normal(size=(3, 6, 2))]
    expected = model.predict(arrays)
    twin = Model.from_config(model.get_config())
    twin.set_weights(model.get_weights())
    np.testing.assert_array_equal(twin.predict(arrays), expected)
    inputs = [Input(shape=(5, 4)), Input(shape=(None, 2))]
    np.testing.assert_array_equal(Model(inputs, model(inputs)).predict(arrays), expected)


def test_both_ways_of_giving_states_mean_the_same():
    model, _ = encoder_decoder(by_name=True)
    other, _ = encoder_decoder(by_name=False)
    other.set_weights(model.get_weights())
    arrays = [X, rng.normal(size=(3, 6, 2))]
    np.testing.assert_array_equal(model.predict(arrays), other.predict(arrays))


# --- states from batch to batch -------------------------------------------------------------------


@pytest.mark.parametrize("layer_class", [SimpleRNN, GRU, LSTM])
def test_stateful_layer_goes_on_where_the_last_batch_ended(layer_class):
    whole = layer_class(3, return_sequences=True, input_shape=(None, 4))
    parts = layer_class(3, return_sequences=True, stateful=True, batch_input_shape=(3, None, 4))
    at_once, in_parts = Sequential([whole]), Sequential([parts])
    in_parts.set_weights(at_once.get_weights())
    expected = at_once.predict(X)
    for _ in range(2):
        found = [in_parts.predict(X[:, :2]), in_parts.predict(X[:, 2:])]
        np.testing.assert_allclose(np.concatenate(found, axis=1), expected, rtol=1e-5, atol=1e-6)
        in_parts.reset_states()
    assert all(not K.get_value(state).any() for state in parts.states)


def test_stateful_layer_keeps_states_in_training_and_evaluation():
    model = Sequential([GRU(3, stateful=True, batch_input_shape=(3, 5, 4))])
    layer = model.layers[0]
    model.compile("sgd", "mse")
    targets = np.zeros((3, 3))
    seen = []
    for run in (model.train_on_batch, model.test_on_batch):
        run(X, targets)
        seen.append(K.get_value(layer.states[0]))
    assert seen[0].any()
    assert not np.allclose(*seen)
    layer.trainable = False
    model.predict(X, batch_size=3)
    assert not np.allclose(K.get_value(layer.states[0]), seen[1])


def test_states_can_be_set_and_are_checked():
    layer = LSTM(2, stateful=True)
    layer.reset_states()  # before there are any
    layer(Input(batch_shape=(3, 5, 4)))
    values = [np.full((3, 2), 1.0), np.full((3, 2), 2.0)]
    layer.reset_states(values)
    assert [K.get_value(s).mean() for s in layer.states] == [1.0, 2.0]
    with pytest.raises(ArgumentError, match="reset_states expected 2 arrays.*, got 1"):
        layer.reset_states(values[:1])
    with pytest.raises(ShapeError):
        layer.reset_states([np.zeros((3, 2)), np.zeros((2, 2))])
    assert [K.get_value(s).mean() for s in layer.states] == [1.0, 2.0]
    with pytest.raises(ArgumentError, match="Layer must be stateful"):
        LSTM(2).reset_states()


def test_stateful_layer_on_arrays_keeps_its_states():
    layer = GRU(2, stateful=True, return_sequences=True)
    found = [layer(X[:, :2]), layer(X[:, 2:])]
    layer.reset_states()
    np.testing.assert_allclose(np.concatenate(found, axis=1), layer(X), rtol=1e-5, atol=1e-6)


# --- dropout --------------------------------------------------------------------------------------


def ones_through(layer, **weights):
    """Return a layer's outputs (batch, time, units) in training, as identity of its input."""
    x = Input(shape=(6, 4))
    y = layer(x)
    layer.set_weights([np.eye(4), np.zeros((4, 4))])
    f = K.function([x, K.learning_phase()], [y])
    return lambda phase: f([np.ones((50, 6, 4)), phase])[0]


def test_dropout_draws_one_mask_for_all_steps_of_a_call_and_another_for_the_next():
    layer = SimpleRNN(4, "linear", use_bias=False, dropout=0.25, return_sequences=True)
    run = ones_through(layer)
    np.testing.assert_array_equal(run(0), np.ones((50, 6, 4)))
    first, second = run(1), run(1)
    for outputs in (first, second):
        np.testing.assert_array_equal(outputs, outputs[:, :1].repeat(6, axis=1))
        assert set(np.unique(outputs)) == {np.float32(0), np.float32(4 / 3)}
        assert abs((outputs[:, 0] == 0).mean() - 0.25) < 0.12
    assert (first != second).any()
    assert len(np.unique(first[:, 0], axis=0)) > 1


def test_recurrent_dropout_drops_the_same_units_in_all_steps():
    layer = SimpleRNN(4, "linear", use_bias=False, recurrent_dropout=0.5, return_sequences=True)
    x = Input(shape=(6, 4))
    y = layer(x)
    layer.set_weights([np.eye(4), np.eye(4)])
    f = K.function([x, K.learning_phase()], [y])
    np.testing.assert_allclose(f([np.ones((9, 6, 4)), 0])[0][0, :, 0], np.arange(1, 7))
    growth = np.diff(f([np.ones((50, 6, 4)), 1])[0], axis=1)
    dropped = growth == 0  # the state counts for nothing: 1, 1, 1, ...
    np.testing.assert_array_equal(dropped, dropped[:, :1].repeat(5, axis=1))
    assert abs(dropped.mean() - 0.5) < 0.15


@pytest.mark.parametrize(("implementation", "differ"), [(1, True), (2, False)])
def test_gates_share_a_mask_with_implementation_2_alone(implementation, differ):
    cell = LSTMCell(40, dropout=0.5, recurrent_dropout=0.5, implementation=implementation)
    masks = cell.dropout_masks(K.ones((8, 30)), training=True)
    assert len(masks.inputs) == len(masks.states) == (4 if differ else 1)
    drawn = K.function([], [*masks.inputs, *masks.states])([])
    assert drawn[0].shape == (8, 30)
    assert drawn[-1].shape == (8, 40)
    assert (not differ) or (drawn[0] != drawn[1]).any()


def test_training_argument_decides_over_dropout():
    layer = LSTM(3, dropout=0.5)
    np.testing.assert_array_equal(layer(X, training=False), layer(X, training=False))
    assert (layer(X, training=True) != layer(X, training=True)).any()


# --- cells of one's own ---------------------------------------------------------------------------


class Scaled(Layer):
    """A cell with constants: adds a constant to the state at each step, times a weight."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = units

    def build(self, input_shape):
        assert isinstance(input_shape, list)
        self.factor = self.add_weight("factor", (self.units,), initializer="ones")
        self.built = True

    def call(self, inputs, states, constants):
        output = states[0] + constants[0] * self.factor + 0 * inputs[:, :1]
        return output, [output]


@pytest.mark.parametrize("unroll", [False, True])
def test_constants_reach_every_step(unroll):
    x, constant = Input(shape=(5, 4)), Input(shape=(2,))
    layer = RNN(Scaled(2), unroll=unroll)
    model = Model([x, constant], layer(x, constants=[constant]))
    np.testing.assert_allclose(model.predict([X, np.ones((3, 2))]), np.full((3, 2), 5.0))
    twin = Model.from_config(model.get_config(), custom_objects={"Scaled": Scaled})
    np.testing.assert_allclose(twin.predict([X, np.ones((3, 2))]), np.full((3, 2), 5.0))
    in_list = RNN(Scaled(2), num_constants=1)([x, constant])
    np.testing.assert_allclose(
        Model([x, constant], in_list).predict([X, np.ones((3, 2))]), np.full((3, 2), 5.0)
    )


class Plain:
    """A cell that is no layer."""

    state_size = (2, 1)
    output_size = 3

    def call(self, inputs, states, training=None):
        return K.concatenate(list(states)), [states[0] + 1, states[1] + 2]


class Deep(Layer):
    """A cell with layers inside, one of which has updates."""

    def __init__(self, units, averages=False, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = units
        self.averages = averages
        self.inside = Dense(units, activation="tanh", kernel_regularizer="l2")
        self.norm = BatchNormalization() if averages else Activation("linear")

    def call(self, inputs, states):
        output = self.norm(self.inside(K.concatenate([inputs, states[0]])))
        return output, [output]


@pytest.mark.parametrize("unroll", [False, True])
def test_layers_inside_a_cell_train_and_are_penalised_once(unroll):
    model = Sequential([RNN(Deep(3), unroll=unroll, input_shape=(5, 4))])
    assert [w.shape for w in model.weights] == [(7, 3), (3,)]
    assert len(model.losses) == 1
    before = model.get_weights()
    model.compile("sgd", "mse")
    model.train_on_batch(X, np.ones((3, 3)))
    assert all((a != b).any() for a, b in zip(model.get_weights(), before, strict=True))


def test_updates_of_single_steps_need_an_unrolled_loop():
    model = Sequential([RNN(Deep(3, averages=True), unroll=True, input_shape=(5, 4))])
    assert len(model.updates) == 10
    model.compile("sgd", "mse")
    model.train_on_batch(X, np.ones((3, 3)))
    with pytest.raises(ArgumentError, match="has a penalty on its output, or an update"):
        Sequential([RNN(Deep(3, averages=True), input_shape=(5, 4))])


def test_constants_need_a_cell_that_takes_them():
    with pytest.raises(ArgumentError, match="RNN cell does not support constants, got 1"):
        LSTM(2)(Input(shape=(5, 4)), constants=[Input(shape=(2,))])


def test_cell_may_make_its_own_first_states_and_give_one_state_without_a_list():
    class Counter:
        state_size = 1

        def get_initial_state(self, batch_size=None):
            return K.ones((3, 1)) * K.cast(batch_size, "float32")

        def call(self, inputs, states):
            return states[0], states[0] + 1

    np.testing.assert_array_equal(RNN(Counter())(X), np.full((3, 1), 7.0))


def test_cell_may_be_any_object_and_have_another_output_size():
    output, *states = RNN(Plain(), return_state=True)(X)
    np.testing.assert_array_equal(output, np.tile([4.0, 4.0, 8.0], (3, 1)))
    assert [s.shape for s in states] == [(3, 2), (3, 1)]


def test_configuration_holds_that_of_the_cell():
    layer = RNN([Scaled(2), SimpleRNNCell(3)], return_sequences=True)
    config = layer.get_config()
    twin = RNN.from_config(config, custom_objects={"Scaled": Scaled})
    assert isinstance(twin.cell, StackedRNNCells)
    assert twin.get_config() == config
    again = deserialize({"class_name": "RNN", "config": config}, {"Scaled": Scaled})
    assert again.cell.cells[1].units == 3
    with pytest.raises(ValueError, match="get_config"):
        RNN(Plain()).get_config()


# --- Keras 1 --------------------------------------------------------------------------------------


def test_words_of_keras_1_are_understood():
    with pytest.warns(SpellingWarning) as warnings:
        layer = LSTM(
            output_dim=8, input_dim=4, input_length=5, init="uniform", inner_init="glorot_uniform",
            inner_activation="sigmoid", forget_bias_init="zero", W_regularizer="l2",
            U_regularizer="l1", b_regularizer="l2", dropout_W=0.1, dropout_U=0.2,
            consume_less="gpu",
        )  # fmt: skip
    assert len(warnings) == 11
    assert layer.batch_input_shape == (None, 5, 4)
    assert (layer.units, layer.dropout, layer.recurrent_dropout) == (8, 0.1, 0.2)
    assert layer.implementation == 2
    assert layer.unit_forget_bias is False
    assert layer.recurrent_activation.__name__ == "sigmoid"
    assert type(layer.recurrent_regularizer).__name__ == "L1"
    assert LSTM(8, input_dim=4).batch_input_shape == (None, None, 4)


# --- mistakes -------------------------------------------------------------------------------------


def test_input_without_a_time_axis_is_explained():
    layer = LSTM(4)
    for attempt in (lambda: layer(Input(shape=(3,))), lambda: layer(LSTM(2)(Input(shape=(5, 2))))):
        with pytest.raises(ShapeError, match=r"3 axes \(batch, time, features\).*return_seq"):
            attempt()
    assert not layer.built
    with pytest.raises(ShapeError, match=r"got 4 .*TimeDistributed"):
        layer(Input(shape=(2, 3, 4)))
    layer(Input(shape=(5, 4)))
    with pytest.raises(ShapeError, match="got 2 "):
        layer(Input(shape=(4,)))
    with pytest.raises(ShapeError, match=r"expected 4 features .*as at the first call, got 3"):
        layer(Input(shape=(5, 3)))
    with pytest.raises(ShapeError, match="at least 1 time step, got"):
        layer(np.zeros((2, 0, 4)))
    assert len(layer.inbound_nodes) == 1


def test_stateful_without_a_batch_size_is_explained():
    with pytest.raises(ShapeError, match=r"needs to know its batch size.*batch_input_shape"):
        LSTM(2, stateful=True)(Input(shape=(5, 4)))
    with pytest.raises(ShapeError, match="needs to know its batch size"):
        Sequential([LSTM(2, stateful=True, input_shape=(5, 4))])


def test_stateful_layer_refuses_another_batch_size():
    layer = LSTM(2, stateful=True)
    layer(Input(batch_shape=(3, 5, 4)))
    with pytest.raises(ShapeError, match="batches of 3 samples .*, got 2"):
        layer(X[:2])


def test_number_and_shape_of_initial_states_are_checked():
    x, h = Input(shape=(5, 4)), Input(shape=(3,))
    for attempt in (lambda y: y(x, initial_state=h), lambda y: y([x, h])):
        layer = LSTM(3)
        with pytest.raises(ArgumentError, match="expected 2 states in one list, got 1"):
            attempt(layer)
        assert not layer.built
    with pytest.raises(ShapeError, match=r"expected state 0 .*, got \(None, 3\)"):
        GRU(2)(x, initial_state=h)


def test_whole_numbers_are_taken_as_floats():
    layer = LSTM(2)
    found = layer(np.ones((2, 3, 4), int))
    np.testing.assert_array_equal(found, layer(np.ones((2, 3, 4), "float32")))
    assert layer(Input(shape=(3, 4), dtype="int32")).dtype == "float32"


def test_unrolling_needs_a_length():
    with pytest.raises(ValueError, match="Cannot unroll a RNN if the time dimension is undefined"):
        LSTM(3, unroll=True)(Input(shape=(None, 4)))


@pytest.mark.parametrize("cell", [3, object(), [LSTMCell(2), "GRUCell"]])
def test_what_is_no_cell_is_refused(cell):
    with pytest.raises(ArgumentError, match=r"has no attribute 'call'.*LSTMCell|call\(inputs"):
        RNN(cell)


def test_other_mistakes_in_arguments_are_named():
    with pytest.raises(ArgumentError, match="units: expected a whole number above 0"):
        LSTM(0)
    with pytest.raises(ArgumentError, match="dropout: expected a number from 0 to below 1"):
        GRU(3, dropout=1.5)
    with pytest.raises(TypeError, match="Did you mean 'return_sequences'"):
        LSTM(3, return_sequence=True)


class MayScale:
    state_size = 2

    def call(self, inputs, states, constants=None):
        output = states[0] + inputs[:, :2]
        return (output + K.dot(constants[0], K.ones((2, 2))) if constants else output), [output]

    def get_config(self):
        return {}


def test_how_a_list_of_inputs_is_read_changes_by_no_other_call():
    x, constant = Input(shape=(5, 4)), Input(shape=(2,))
    layer = RNN(MayScale())
    layer(x)
    config = layer.get_config()
    with pytest.raises(ShapeError):
        layer(x, constants=[Input(shape=(3,))])
    assert layer.get_config() == config
    listed = RNN(MayScale(), num_constants=1)
    model = Model([x, constant], listed([x, constant]))
    first = model.predict([X, np.ones((3, 2))])
    listed(x)
    x, constant = Input(shape=(5, 4)), Input(shape=(2,))
    nested = Model([x, constant], model([x, constant]))
    np.testing.assert_array_equal(nested.predict([X, np.ones((3, 2))]), first)


class Doubling:
    state_size = ()
    output_size = 4

    def call(self, inputs, states):
        return 2 * inputs, []


def test_a_cell_without_states_may_stand_anywhere_in_a_stack():
    for cells in ([Doubling(), SimpleRNNCell(4)], [SimpleRNNCell(4), Doubling()]):
        layer = RNN(cells, return_state=True)
        output, state = layer(X)
        (weighted,) = [cell for cell in cells if isinstance(cell, SimpleRNNCell)]
        alone = RNN(weighted)(2 * X if cells[1] is weighted else X)
        np.testing.assert_allclose(state, alone, rtol=1e-6)
        np.testing.assert_allclose(output, alone if cells[1] is weighted else 2 * alone, rtol=1e-6)
