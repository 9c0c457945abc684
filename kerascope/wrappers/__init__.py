"""Wraps models as estimators of other libraries, like Keras's `keras.wrappers`."""

from kerascope.wrappers import scikit_learn

__all__ = ["scikit_learn"]
