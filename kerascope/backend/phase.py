"""A choice by the learning phase: one tensor in training, another in test."""

from __future__ import annotations

from kerascope.backend.graph import Tensor, as_tensor
from kerascope.backend.ops.control import switch
from kerascope.backend.state import learning_phase

__all__ = ["in_test_phase", "in_train_phase"]


def in_train_phase(x, alt, training=None):
    """Return `x` in training and `alt` in test.

    Parameters
    ----------
    x, alt : Tensor or callable
        A callable is called without arguments, and only if it can be chosen.
    training : Tensor, int or bool, optional
        The phase; default `K.learning_phase()`.

    Returns
    -------
    Tensor
        With a number as phase the chosen one itself; otherwise a switch between both.
    """
    training = learning_phase() if training is None else training
    if not isinstance(training, Tensor):
        return _made(x if training else alt)
    return switch(training, _made(x), _made(alt))


def in_test_phase(x, alt, training=None):
    """Return `x` in test and `alt` in training; arguments as for `in_train_phase`."""
    return in_train_phase(alt, x, training)


def _made(x):
    return as_tensor(x() if callable(x) else x)
