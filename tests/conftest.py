"""What all tests share: the real Keras, where a test compares with it, runs on jax."""

import os

os.environ["KERAS_BACKEND"] = "jax"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
