"""Rows for the ops of `ctc.py`."""

import numpy as np
import reference_ctc
from op_cases import Case

from kerascope.backend.ops import ctc

LABELS = np.array([[0, 0, 2], [1, 2, 1], [2, 9, -1], [7, 0, 0], [1, 1, 1]])
STEPS = np.array([4, 5, 3, 2, 4])  # the last label cannot be spelt: aaa needs 5 steps
LENGTHS = np.array([2, 3, 1, 0, 3])


def log_probabilities(draw, batch=5):
    x = draw.normal(batch, 5, 4)
    return x - np.log(np.exp(x).sum(axis=2, keepdims=True))


def a_batch(draw):
    return [log_probabilities(draw), LABELS, STEPS, LENGTHS]


def that_can_be_spelt(draw):
    return [log_probabilities(draw, 4), LABELS[:4], STEPS[:4], LENGTHS[:4]]


CASES = [
    Case(ctc.CtcCost(), a_batch, reference_ctc.cost),
    Case(ctc.CtcCost(), that_can_be_spelt, reference_ctc.cost, (0,), twice=False),
    Case(ctc.CtcShares(), a_batch, reference_ctc.shares),
    Case(
        ctc.CtcBestPath(),
        lambda d: [log_probabilities(d), STEPS],
        reference_ctc.best_path,
    ),
    Case(
        ctc.CtcBeamSearch(100, 3),
        lambda d: [log_probabilities(d), STEPS],
        lambda x, steps: reference_ctc.beams(x, steps, 3),
    ),
]
