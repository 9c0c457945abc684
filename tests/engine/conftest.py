"""What the engine's tests share: weights, shuffles and dropout are drawn from the same seed."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def seeded():
    """Begin each test with the same random numbers."""
    np.random.seed(1234)
