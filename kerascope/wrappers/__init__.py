"""Models as estimators of other libraries: Keras's `keras.wrappers`."""

from kerascope.wrappers import scikit_learn

__all__ = ["scikit_learn"]
