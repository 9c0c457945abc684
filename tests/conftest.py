"""What all tests share: the real Keras, where a test compares with it, runs on jax."""

import os

os.environ["KERAS_BACKEND"] = "jax"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

from counted import (  # noqa: F401 (hooks)
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_sessionfinish,
    pytest_testnodedown,
)
from hypothesis import settings

# Machines are slow at times: no example fails for the time it took.
settings.register_profile("kerascope", deadline=None)
settings.load_profile("kerascope")
