"""Arguments by name: what a function accepts, whatever kind of object it is."""

import numpy as np
import pytest

from kerascope import Sequential, layers
from kerascope.engine.arguments import accepts


class Doubles:
    """Can be called, and is equal to its like, so that it has no hash."""

    def __eq__(self, other):
        return isinstance(other, Doubles)

    def __call__(self, x, mask=None):
        return x * 2


def test_a_lambda_takes_a_callable_that_cannot_be_hashed():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Doubles())
    model = Sequential([layers.Lambda(Doubles(), input_shape=(3,))])
    np.testing.assert_array_equal(model.predict(np.ones((2, 3))), np.full((2, 3), 2.0))


def test_what_cannot_be_hashed_accepts_what_it_names():
    assert accepts(Doubles(), "mask")
    assert not accepts(Doubles(), "training")
