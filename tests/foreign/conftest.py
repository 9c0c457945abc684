"""What tests of other libraries share: the library itself, or a skip where it is not installed."""

import numpy as np
import pytest
from keras_reference import real_keras


@pytest.fixture
def keras():
    """Return the real Keras on jax, seeded, with names counted from the beginning."""
    module = real_keras()
    module.utils.clear_session(free_memory=False)
    module.utils.set_random_seed(1)
    return module


@pytest.fixture
def rng():
    return np.random.default_rng(0)
