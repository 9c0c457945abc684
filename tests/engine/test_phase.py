"""The learning phase that is fixed after the functions of a model were made."""

import numpy as np

from kerascope import Sequential, layers
from kerascope import backend as K


def test_a_phase_set_between_two_predictions_holds():
    model = Sequential([layers.Dropout(0.5, input_shape=(50,))])
    x = np.ones((1, 50))
    np.testing.assert_array_equal(model.predict(x), x)
    try:
        K.set_learning_phase(0)
        np.testing.assert_array_equal(model.predict(x), x)
        K.set_learning_phase(1)
        assert (model.predict(x) == 0).any()
    finally:
        K.clear_session()
    np.testing.assert_array_equal(model.predict(x), x)
