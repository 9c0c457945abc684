"""Masked steps of a recurrence: the states stay, the output is that of the step before.

Inside the loop only the states are held back. The outputs are put right afterwards, all steps at
once, by the op `HoldLast`: so the loop carries no previous output around.
"""

from __future__ import annotations

import numpy as np

from kerascope.backend.graph import Op
from kerascope.backend.ops.control import Where
from kerascope.backend.ops.shaping import ExpandDims
from kerascope.errors import ShapeError

__all__ = ["choose_by_mask"]


def choose_by_mask(mask, x, y):
    """Return `x` for the samples whose mask is true, `y` for the others.

    Parameters
    ----------
    mask : Tensor, shape (batch,), bool
    x, y : Tensor, shape (batch, ...)
    """
    if x.ndim == 0:
        raise ShapeError(
            f"K.rnn: with a mask every output and state has the batch as first axis; "
            f"'{x.name}' has no axes.",
            subject=x,
        )
    if x.ndim > 1:
        mask = ExpandDims(tuple(range(1, x.ndim)))(mask)
    return Where()(mask, x, y)


def _last_seen(mask):
    """Return for each step and sample the last step up to it whose mask is true; -1: none was."""
    steps = np.where(mask, np.arange(len(mask))[:, None], -1)
    return np.maximum.accumulate(steps, axis=0)


def _spread(x, ndim):
    """Return an array of two axes with further axes of size 1."""
    return x.reshape(x.shape + (1,) * (ndim - 2))


class HoldLast(Op):
    """At a masked step the value of the last step before it that was not masked; zero before all.

    `x` has shape (time, batch, ...), `mask` (time, batch).
    """

    def infer_shape(self, x, mask):
        return x.shape

    def perform(self, x, mask):
        last = _last_seen(mask)
        held = x[np.maximum(last, 0), np.arange(x.shape[1])]
        held[last < 0] = 0
        return held

    def grad(self, inputs, outputs, output_grads):
        return [SumHeld()(output_grads[0], inputs[1]), None]


class SumHeld(Op):
    """At each step that is not masked the sum of `x` over it and the masked ones after it.

    What `HoldLast` copied comes back here as one: each is the other's gradient.
    """

    def infer_shape(self, x, mask):
        return x.shape

    def perform(self, x, mask):
        total = np.zeros_like(x)
        running = np.zeros(x.shape[1:], x.dtype)
        seen = _spread(np.asarray(mask), x.ndim)
        for step in range(len(x) - 1, -1, -1):
            running = running + x[step]
            total[step] = np.where(seen[step], running, 0)
            running = np.where(seen[step], 0, running).astype(x.dtype)
        return total

    def grad(self, inputs, outputs, output_grads):
        return [HoldLast()(output_grads[0], inputs[1]), None]
