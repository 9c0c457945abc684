"""A mask that reaches a layer without masking: refused in Keras 2, ends there in Keras 3."""

import numpy as np
import pytest

from kerascope import Sequential, config, layers
from kerascope.errors import DtypeError, KerascopeWarning
from kerascope.models import clone_model, load_model


def test_keras_2_refuses_it():
    with pytest.raises(DtypeError, match="does not support masking"):
        Sequential([layers.Embedding(6, 3, mask_zero=True, input_length=4), Refusing()])


class Refusing(layers.Layer):
    """Does not say that it supports masking."""


def test_with_keras_3s_habits_it_ends_there_with_a_warning():
    config.dialect = "3"
    try:
        with pytest.warns(KerascopeWarning, match="will not see the mask"):
            model = Sequential([layers.Embedding(6, 3, mask_zero=True, input_length=4), Refusing()])
    finally:
        config.dialect = "2.2"
    assert model.predict(np.ones((1, 4))).shape == (1, 4, 3)


@pytest.mark.filterwarnings("ignore:.*will not see the mask")
@pytest.mark.filterwarnings("ignore:.*destroy the mask information")
@pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")
def test_a_file_of_keras_3_with_such_a_mask_opens_and_predicts_the_same(keras, tmp_path):
    theirs = keras.Sequential(
        [
            keras.layers.Input((4,)),
            keras.layers.Embedding(6, 3, mask_zero=True),
            keras.layers.Conv1D(2, 2),
        ]
    )
    path = str(tmp_path / "m.keras")
    theirs.save(path)
    ours = load_model(path)
    x = np.array([[1, 2, 0, 0], [3, 0, 5, 0]])
    np.testing.assert_allclose(ours.predict(x), np.asarray(theirs(x)), rtol=1e-5, atol=1e-6)
    assert clone_model(ours).predict(x).shape == (2, 3, 2)
