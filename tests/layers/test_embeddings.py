"""What Embedding promises beyond the contract."""

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.errors import ArgumentError, DataError, ShapeError, SpellingWarning
from kerascope.layers import Dense, Embedding, Flatten, Input


def test_embedding_looks_rows_up():
    table = np.arange(10.0).reshape(5, 2)
    layer = Embedding(5, 2, weights=[table])
    np.testing.assert_array_equal(layer(np.array([[4, 0]])), [[[8, 9], [0, 1]]])


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_embedding_takes_whole_numbers_of_any_type(dtype):
    x = Input((2,), dtype=dtype)
    y = Embedding(5, 3)(x)
    assert K.function([x], [y])([np.array([[1, 4]])])[0].shape == (1, 2, 3)


def test_row_that_stands_twice_gets_the_sum_of_its_gradients():
    x = Input((3,), dtype="int32")
    layer = Embedding(4, 1)
    loss = K.sum(layer(x) * np.array([[1.0], [10.0], [100.0]]))
    gradient = K.function([x], K.gradients(loss, layer.weights))([np.array([[2, 0, 2]])])[0]
    np.testing.assert_array_equal(gradient, [[10.0], [0.0], [101.0], [0.0]])


def test_mask_zero_masks_the_places_without_a_word():
    x = Input((None,))
    layer = Embedding(5, 2, mask_zero=True)
    y = Dense(3)(layer(x))
    mask = y._keras_history.layer.get_output_mask_at(0)
    flags = K.function([x], [mask])([np.array([[3, 0, 1]])])[0]
    np.testing.assert_array_equal(flags, [[True, False, True]])
    plain = Embedding(5, 2)
    plain(x)
    assert plain.get_output_mask_at(0) is None


def test_input_length_is_held_and_known():
    layer = Embedding(10, 4, input_length=3, name="e")
    assert layer.batch_input_shape == (None, 3)
    assert Flatten()(layer(Input((None,)))).shape == (None, 12)
    with pytest.raises(ShapeError, match=r"Embedding 'e': .*, got an input of shape \(None, 5\)"):
        layer(Input((5,)))


def test_embedding_without_input_length_starts_a_model_of_any_length():
    assert Embedding(10, 4).batch_input_shape == (None, None)
    assert Embedding(10, 4, batch_input_shape=(8, 6)).batch_input_shape == (8, 6)


def test_word_that_has_no_row_is_an_error_that_names_the_layer():
    with pytest.raises(DataError, match="expected indices from 0 to 4, got 7") as caught:
        Embedding(5, 2, name="e")(np.array([[7]]))
    assert "in Embedding 'e'" in caught.value.__notes__[0]


def test_embedding_refuses_sizes_that_are_none():
    with pytest.raises(ArgumentError, match="input_dim: expected a whole number above 0"):
        Embedding(0, 3)


def test_keras_1_keywords_of_embedding_are_translated():
    with pytest.warns(SpellingWarning, match="today it is 'embeddings_initializer'"):
        layer = Embedding(input_dim=5, output_dim=3, init="zero")
    np.testing.assert_array_equal(layer(np.array([[1]])), np.zeros((1, 1, 3)))


def test_the_dropout_of_keras_1_is_left_out_with_a_warning():
    with pytest.warns(SpellingWarning, match="'dropout' is Keras 1's word .* SpatialDropout1D"):
        layer = Embedding(5, 2, dropout=0.2)
    assert "dropout" not in layer.get_config()
