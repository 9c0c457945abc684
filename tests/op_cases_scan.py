"""Rows for the ops of `scan*.py`.

A row tests an op of one output. Loops with states have several: `backend/test_scan.py` and
`backend/test_rnn.py` hold them to plain loops and to finite differences.
"""

import numpy as np
import reference_scan
from op_cases import Case, one

from kerascope import backend as K
from kerascope.backend.graph import Placeholder
from kerascope.backend.ops import control, loops, scan, scan_graph
from kerascope.backend.ops.scan_graph import InnerGraph, Results, trace_step


def mapping():
    """A loop with one output and an input that is the same at each step."""
    x, w = Placeholder((4, 3), "float64", "x"), Placeholder((3,), "float64", "w")
    inner, inputs = trace_step(lambda slices, states: ([K.tanh(slices[0] * w)], []), [x], [])
    assert inputs == [x, w]
    return inner


def summing():
    """A loop with nothing but a sum over its steps."""
    x, w = Placeholder((3,), "float64", "x"), Placeholder((3,), "float64", "w")
    return InnerGraph((x,), (), (w,), Results(terms=(K.square(x) * w,)))


def counting():
    """A loop over whole numbers."""
    x = Placeholder((3,), "int64", "x")
    return InnerGraph((x,), (), (), Results(terms=(x + 1,)))


def sequence_and_weights(draw):
    return [draw.normal(4, 3), draw.normal(3)]


MASK = np.array([[0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]]) == 1

CASES = [
    Case(scan.Scan(mapping()), sequence_and_weights, reference_scan.map_tanh, (0, 1)),
    Case(
        scan.Scan(mapping(), backwards=True), sequence_and_weights, reference_scan.map_tanh, (0, 1)
    ),
    Case(scan.Scan(summing()), sequence_and_weights, reference_scan.sum_of_products, (0, 1)),
    Case(
        scan.Scan(counting()),
        lambda d: [d.below(9, 5, 3)],
        lambda x: np.array([sum(column) + 5 for column in x.T]),
    ),
    Case(loops.HoldLast(), lambda d: [d.normal(5, 3, 2), MASK], reference_scan.hold_last, (0,)),
    Case(loops.HoldLast(), lambda d: [d.normal(5, 3), MASK], reference_scan.hold_last, (0,)),
    Case(loops.SumHeld(), lambda d: [d.normal(5, 3, 2), MASK], reference_scan.sum_held, (0,)),
    Case(loops.SumHeld(), lambda d: [d.normal(5, 3), MASK], reference_scan.sum_held, (0,)),
    one(scan_graph.StepNumbers(), (4, 2), lambda x: np.arange(4), smooth=()),
    Case(
        scan_graph.StepDraws(),
        lambda d: [np.array(2**40), np.array(7)],
        reference_scan.step_draws,
    ),
    one(control.PrintTensor("x: "), (2, 3), lambda x: x),
]
