"""Random numbers inside a loop: other ones at each step, the same ones whenever it runs again.

A random op is a pure function of its count of draws. In a loop the count stays what it is during
the whole call, so the number of the step is mixed into it. The reverse loop, which computes the
gradient, mixes in the same number at the same step: it meets the numbers of the forward one again.
"""

from __future__ import annotations

import numpy as np

from kerascope.backend.graph import Op, Variable

__all__ = ["counts_of_draws"]

_FACTOR = 6364136223846793005  # Knuth's for MMIX: neighbouring counts land far apart


class StepNumbers(Op):
    """0, 1, 2, ...: one number for each step of the sequence `x`."""

    def infer_shape(self, x):
        return x.shape[:1]

    def infer_dtype(self, x):
        return "int64"

    def perform(self, x):
        return np.arange(len(x), dtype="int64")


class StepDraws(Op):
    """A count of draws for one step of a loop, made of the count of the call and the step."""

    def infer_shape(self, draws, step):
        return ()

    def infer_dtype(self, draws, step):
        return "int64"

    def perform(self, draws, step):
        return np.int64((int(draws) * _FACTOR + int(step) + 1) % 2**63)


def counts_of_draws(applies):
    """Return the variables by which random ops among the applies count their draws."""
    found = (x for apply in applies for x in apply.inputs)
    counts = [x for x in found if isinstance(x, Variable) and x.default_update is not None]
    return list(dict.fromkeys(counts))
