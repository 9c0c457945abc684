"""ConvLSTM2D: its states, dropout, words of Keras 1, and what a beginner gets wrong."""

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.engine.model import Model
from kerascope.engine.sequential import Sequential
from kerascope.errors import ArgumentError, ShapeError, SpellingWarning
from kerascope.layers import LSTM, ConvLSTM2D, ConvLSTM2DCell, ConvRNN2D, Input

rng = np.random.default_rng(5)
FILMS = rng.normal(size=(2, 4, 5, 6, 3)).astype("float32")


def test_kernel_of_one_place_is_an_lstm_at_every_place():
    layer = ConvLSTM2D(2, 1, return_sequences=True)
    lstm = LSTM(2, return_sequences=True)
    found = layer(FILMS)
    lstm(FILMS[:, :, 0, 0])
    lstm.set_weights([w.reshape(w.shape[-2:]) if w.ndim > 1 else w for w in layer.get_weights()])
    np.testing.assert_allclose(found[:, :, 3, 2], lstm(FILMS[:, :, 3, 2]), rtol=1e-5, atol=1e-6)


def test_both_layouts_give_the_same():
    last = ConvLSTM2D(2, 3, padding="same", return_sequences=True)
    first = ConvLSTM2D(2, 3, padding="same", return_sequences=True, data_format="channels_first")
    expected = last(FILMS)
    moved = np.moveaxis(FILMS, -1, 2)
    first(moved)
    first.set_weights(last.get_weights())
    np.testing.assert_allclose(np.moveaxis(first(moved), 2, -1), expected, rtol=1e-4, atol=1e-5)


def test_sizes_of_the_images_may_be_unknown():
    x = Input(shape=(None, None, None, 3))
    layer = ConvLSTM2D(2, 2)
    y = layer(x)
    assert y.shape == (None, None, None, 2)
    np.testing.assert_allclose(Model(x, y).predict(FILMS), layer(FILMS), rtol=1e-4, atol=1e-6)


def test_states_come_out_go_in_and_stay():
    x = Input(shape=(4, 5, 6, 3))
    _, *states = ConvLSTM2D(2, 2, return_state=True)(x)
    assert [s.shape for s in states] == [(None, 4, 5, 2)] * 2
    decoder = ConvLSTM2D(2, 2)
    model = Model(x, decoder(x, initial_state=states))
    assert not np.allclose(model.predict(FILMS), Model(x, decoder(x)).predict(FILMS))

    arguments = {"return_sequences": True, "padding": "same"}
    whole = Sequential([ConvLSTM2D(1, 2, input_shape=(None, 5, 6, 3), **arguments)])
    shape = (2, None, 5, 6, 3)
    parts = Sequential([ConvLSTM2D(1, 2, stateful=True, batch_input_shape=shape, **arguments)])
    parts.set_weights(whole.get_weights())
    found = [parts.predict(FILMS[:, :1]), parts.predict(FILMS[:, 1:])]
    np.testing.assert_allclose(
        np.concatenate(found, axis=1), whole.predict(FILMS), rtol=1e-4, atol=1e-5
    )
    parts.reset_states()
    np.testing.assert_array_equal(parts.predict(FILMS[:, :1]), found[0])


def test_dropout_has_a_mask_for_each_gate_and_acts_in_training_alone():
    cell = ConvLSTM2DCell(2, 3, dropout=0.5, recurrent_dropout=0.5)
    masks = cell.dropout_masks(K.ones((2, 5, 6, 3)), training=True)
    drawn = K.function([], [*masks.inputs, *masks.states])([])
    assert [m.shape for m in drawn] == [(2, 5, 6, 3)] * 4 + [(2, 3, 4, 2)] * 4
    assert {float(v) for m in drawn for v in np.unique(m)} == {0.0, 2.0}
    layer = ConvLSTM2D(2, 3, dropout=0.5, recurrent_dropout=0.5)
    np.testing.assert_array_equal(layer(FILMS), layer(FILMS))
    assert (layer(FILMS, training=True) != layer(FILMS, training=True)).any()


def test_words_of_keras_1_are_understood():
    with pytest.warns(SpellingWarning):
        layer = ConvLSTM2D(
            nb_filter=4, nb_row=3, nb_col=2, border_mode="same", dim_ordering="tf",
            inner_activation="sigmoid",
        )  # fmt: skip
    assert layer.kernel_size == (3, 2)
    assert (layer.filters, layer.padding, layer.data_format) == (4, "same", "channels_last")


def test_mistakes_are_explained():
    with pytest.raises(ShapeError, match=r"with 5 axes \(batch, time, rows, columns, channels\)"):
        ConvLSTM2D(2, 3)(Input(shape=(5, 6, 3)))
    with pytest.raises(ShapeError, match="at least"):
        ConvLSTM2D(2, 7)(Input(shape=(4, 5, 6, 3)))
    with pytest.raises(ShapeError, match="known number of channels"):
        ConvLSTM2D(2, 2)(Input(shape=(4, 5, 6, None)))
    with pytest.raises(ShapeError, match="needs images of known size"):
        ConvLSTM2D(2, 2, stateful=True)(Input(batch_shape=(2, 4, None, 6, 3)))
    with pytest.raises(ArgumentError, match="filters: expected a whole number above 0"):
        ConvLSTM2D(0, 3)
    with pytest.raises(ArgumentError, match="padding"):
        ConvRNN2D(ConvLSTM2DCell(2, 2, padding="causal"))


def test_masked_images_change_nothing():
    layer = ConvLSTM2D(2, 2, return_sequences=True)
    mask = np.array([[True, True, False, False]] * 2)
    found = layer(FILMS, mask=mask)
    np.testing.assert_allclose(found[:, 1], layer(FILMS[:, :2])[:, -1], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found[:, 2], found[:, 1])
    np.testing.assert_array_equal(found[:, 3], found[:, 1])
