"""Wrapper, TimeDistributed and Bidirectional: what they hold, their masks, books and states."""

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.engine.model import Model
from kerascope.engine.sequential import Sequential
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers import (
    GRU,
    LSTM,
    BatchNormalization,
    Bidirectional,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Input,
    Lambda,
    Masking,
    TimeDistributed,
    Wrapper,
)

rng = np.random.default_rng(4)
X = rng.normal(size=(3, 5, 4)).astype("float32")


def scored():
    """Return a small model with a penalty, moving averages and Dropout."""
    x = Input(shape=(4,))
    y = Dense(6, activation="relu", kernel_regularizer="l2", activity_regularizer="l1")(x)
    return Model(x, Dense(2)(Dropout(0.5)(BatchNormalization()(y))), name="scored")


# --- Wrapper --------------------------------------------------------------------------------------


def test_wrapper_speaks_for_the_layer_inside():
    inner = Dense(2, kernel_regularizer="l2")
    wrapper = TimeDistributed(inner)
    wrapper(Input(shape=(5, 4)))
    assert wrapper.weights == inner.weights
    assert wrapper.losses == inner.losses != []
    wrapper.trainable = False
    assert inner.trainable is False
    assert wrapper.trainable_weights == []
    frozen = Dense(2, trainable=False)
    assert Wrapper(frozen).trainable is False
    assert Wrapper(Dense(2), trainable=False).trainable_weights == []


def test_layer_inside_stays_outside_of_the_graph():
    for wrapper in (TimeDistributed(Dense(2)), Bidirectional(LSTM(2))):
        x = Input(shape=(5, 4))
        model = Model(x, wrapper(x))
        assert model.layers == [x._keras_history.layer, wrapper]
        assert [layer.inbound_nodes for layer in wrapper.wrapped] == [[]] * len(wrapper.wrapped)
        assert x._keras_history.layer.outbound_nodes == wrapper.inbound_nodes
        assert wrapper.wrapped == wrapper._sublayers


@pytest.mark.parametrize("wrapper_class", [Wrapper, TimeDistributed, Bidirectional])
def test_what_is_no_layer_cannot_be_wrapped(wrapper_class):
    for wrong in (Dense, "Dense", 3):
        with pytest.raises(ArgumentError, match="expected a layer to wrap"):
            wrapper_class(wrong)


def test_configuration_needs_a_layer_that_can_be_written():
    key = object()
    with pytest.raises(ValueError, match="Lambda"):
        TimeDistributed(Lambda(lambda x: (x, key)[0])).get_config()


def test_wrapped_layers_come_from_custom_objects():
    class Mine(Dense):
        pass

    config = TimeDistributed(Mine(2)).get_config()
    assert isinstance(TimeDistributed.from_config(config, {"Mine": Mine}).layer, Mine)


# --- TimeDistributed ------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 5, 4), (None, 5, 4), (None, None, 4), (3, None, 4)])
def test_model_at_every_step_gives_what_it_gives_alone(shape):
    inner = scored()
    x = Input(batch_shape=shape)
    y = TimeDistributed(inner)(x)
    assert y.shape == (*shape[:2], 2)
    found = Model(x, y).predict(X, batch_size=3)
    for step in range(5):
        np.testing.assert_allclose(found[:, step], inner.predict(X[:, step]), rtol=1e-5, atol=1e-6)


def test_sizes_inside_a_step_may_be_unknown():
    x = Input(batch_shape=(None, None, None, 4))
    model = Model(x, TimeDistributed(Dense(2))(x))
    arrays = rng.normal(size=(2, 3, 5, 4))
    expected = model.layers[1].layer(arrays)
    np.testing.assert_allclose(model.predict(arrays), expected, rtol=1e-5)


def test_penalties_and_moving_averages_of_a_model_inside_count():
    inner = scored()
    x = Input(shape=(5, 4))
    model = Model(x, TimeDistributed(inner)(x))
    model.compile("sgd", "mse")
    assert len(model.losses) == 2
    assert len(model.updates) == 2
    assert model.uses_learning_phase
    before = inner.layers[2].get_weights()[2].copy()
    targets = np.zeros((3, 5, 2))
    model.train_on_batch(X, targets)
    assert (inner.layers[2].get_weights()[2] != before).any()
    kernel = inner.layers[1].get_weights()[0]
    hidden = np.maximum(X @ kernel + inner.layers[1].get_weights()[1], 0)
    penalty = 0.01 * (kernel**2).sum() + 0.01 * hidden.sum()
    plain = ((model.predict(X) - targets) ** 2).mean()
    assert model.test_on_batch(X, targets) == pytest.approx(plain + penalty, rel=1e-4)


def test_dropout_inside_acts_in_training_alone():
    layer = TimeDistributed(Dropout(0.5))
    np.testing.assert_array_equal(layer(X), X)
    assert (layer(X, training=True) == 0).any()


def test_mask_of_the_steps_passes_by_the_layer_inside():
    x = Input(shape=(5, 4))
    masked = Masking()(x)
    flatten = TimeDistributed(Flatten())
    flatten(TimeDistributed(Dense(2))(masked))
    assert flatten.inbound_nodes[0].output_masks == masked._keras_history.node.output_masks
    y = LSTM(3)(flatten.output)
    padded = np.concatenate([X[:, :3], np.zeros((3, 2, 4), "float32")], axis=1)
    f = Model(x, y)
    other = padded.copy()
    np.testing.assert_array_equal(f.predict(padded), f.predict(other))
    mask = K.function([x], [flatten.inbound_nodes[0].output_masks[0]])([padded])[0]
    np.testing.assert_array_equal(mask, [[True] * 3 + [False] * 2] * 3)


def test_mask_inside_a_step_reaches_the_layer_inside_and_steps_without_content_are_masked():
    words = np.array([[[1, 2, 0], [3, 0, 0], [0, 0, 0]]])  # one text of sentences of words
    x = Input(shape=(3, 3), dtype="int32")
    embedded = TimeDistributed(Embedding(5, 2, mask_zero=True))(x)
    sentences = TimeDistributed(LSTM(4))
    model = Model(x, sentences(embedded))
    found = model.predict(words)
    alone = sentences.layer(K.eval(K.gather(model.layers[1].layer.embeddings, words))[0, :1, :2])
    np.testing.assert_allclose(found[0, 0], alone[0], rtol=1e-5)
    mask = K.function([x], [sentences.inbound_nodes[0].output_masks[0]])([words])[0]
    np.testing.assert_array_equal(mask, [[True, True, False]])


def test_input_without_a_time_axis_is_explained():
    with pytest.raises(ShapeError, match=r"with at least 3 axes \(batch, time, \.\.\.\)"):
        TimeDistributed(Dense(2))(Input(shape=(4,)))
    with pytest.raises(ArgumentError, match="expected one input, got 2"):
        TimeDistributed(Dense(2))([Input(shape=(5, 4)), Input(shape=(5, 4))])


# --- Bidirectional --------------------------------------------------------------------------------


def test_backward_layer_reads_from_the_end():
    layer = Bidirectional(GRU(2, return_sequences=True), merge_mode=None)
    forward, backward = layer(X)
    np.testing.assert_allclose(layer.forward_layer(X), forward, rtol=1e-6)
    alone = layer.backward_layer
    np.testing.assert_allclose(alone(X)[:, ::-1], backward, rtol=1e-6)
    assert [w.name for w in layer.weights][::3] == [
        f"{layer.forward_layer.name}/kernel", f"{layer.backward_layer.name}/kernel",
    ]  # fmt: skip


def test_first_weights_are_those_of_both_layers():
    first = Bidirectional(LSTM(2))
    expected = first(X)
    again = Bidirectional(LSTM(2), weights=first.get_weights())
    np.testing.assert_array_equal(again(X), expected)
    assert "weights" not in again.get_config()


def test_backward_layer_may_be_another_one():
    layer = Bidirectional(LSTM(2), backward_layer=GRU(3, go_backwards=True))
    expected = layer(X)
    assert expected.shape == (3, 5)
    twin = Bidirectional.from_config(layer.get_config())
    twin(X)
    twin.set_weights(layer.get_weights())
    np.testing.assert_array_equal(twin(X), expected)
    for wrong in (GRU(3), GRU(3, go_backwards=True, return_state=True)):
        with pytest.raises(ArgumentError, match="expected a backward layer with the opp"):
            Bidirectional(LSTM(2), backward_layer=wrong)


def test_states_come_out_and_go_in_forward_first():
    x = Input(shape=(5, 4))
    encoder = Bidirectional(LSTM(3, return_state=True), name="encoder")
    output, *states = encoder(x)
    assert output.shape == (None, 6)
    assert [s.shape for s in states] == [(None, 3)] * 4
    decoder = Bidirectional(LSTM(3, return_sequences=True), name="decoder")
    model = Model(x, decoder(x, initial_state=states))
    assert decoder.inbound_nodes[0].tensor_indices == [0, 1, 2, 3, 4]
    twin = Model.from_config(model.get_config())
    twin.set_weights(model.get_weights())
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    other = Model(x, decoder([x, *states]))
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    plain = Model(x, decoder(x))
    assert not np.allclose(plain.predict(X), model.predict(X))
    with pytest.raises(ArgumentError, match="expected 4 initial states, .*, got 2"):
        decoder(x, initial_state=states[:2])


def test_stateful_layers_inside_keep_their_states():
    model = Sequential([Bidirectional(LSTM(2, stateful=True), batch_input_shape=(3, 5, 4))])
    layer = model.layers[0]
    assert layer.stateful
    first = model.predict(X, batch_size=3)
    second = model.predict(X, batch_size=3)
    assert not np.allclose(first, second)
    model.reset_states()
    np.testing.assert_array_equal(model.predict(X, batch_size=3), first)


def test_shape_may_be_given_to_the_layer_inside():
    model = Sequential([Bidirectional(LSTM(2, input_shape=(5, 4)))])
    assert model.output_shape == (None, 4)


def test_wrong_arguments_are_named():
    with pytest.raises(ArgumentError, match="Invalid merge mode 'concatenate'"):
        Bidirectional(LSTM(2), "concatenate")
    with pytest.raises(ArgumentError, match="expected a recurrent layer, got Dense"):
        Bidirectional(Dense(2))


@pytest.mark.parametrize("merge_mode", ["sum", "mul", "concat", "ave", None])
@pytest.mark.parametrize("return_state", [False, True])
def test_shapes_and_masks_fit_what_comes_out(merge_mode, return_state):
    x = Input(shape=(5, 4))
    layer = Bidirectional(GRU(3, return_sequences=True, return_state=return_state), merge_mode)
    outputs = layer(Masking()(x))
    outputs = outputs if isinstance(outputs, list) else [outputs]
    node = layer.inbound_nodes[0]
    sequences = 2 if merge_mode is None else 1
    assert len(outputs) == sequences + 2 * return_state
    assert [m is not None for m in node.output_masks] == [True] * sequences + [
        False, False,
    ] * return_state  # fmt: skip
    declared = layer.compute_output_shape((None, 5, 4))
    assert [y.shape for y in outputs] == (declared if isinstance(declared, list) else [declared])


def test_one_direction_can_be_frozen_alone():
    layer = Bidirectional(LSTM(2))
    model = Sequential([Input(shape=(5, 4)), layer])
    names, before = [w.name for w in layer.weights], model.get_weights()
    layer.forward_layer.trainable = False
    assert [w.name for w in layer.weights] == names
    assert model.trainable_weights == layer.backward_layer.weights
    model.compile("sgd", "mse")
    model.fit(X, np.ones((3, 4)), epochs=1, verbose=0)
    moved = [bool((a != b).any()) for a, b in zip(model.get_weights(), before, strict=True)]
    assert moved == [False] * 3 + [True] * 3


def test_a_sequence_of_unknown_length_may_have_no_steps():
    model = Sequential([TimeDistributed(Dense(2), input_shape=(None, 4))])
    assert model.predict_on_batch(np.ones((3, 0, 4))).shape == (3, 0, 2)
    assert model.predict_on_batch(np.ones((0, 5, 4))).shape == (0, 5, 2)
