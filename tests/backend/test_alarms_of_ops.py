"""Whatever op makes a number infinite or NaN: an alarm rings, with its program and without."""

import contextlib
import warnings

import numpy as np
import pytest
from op_rows import CASES, case_name, fed, graph_inputs, op_of
from thinned import thinned

from kerascope import backend as K
from kerascope.backend.program.alarms import Alarm, Alarms
from kerascope.backend.schedule import Step
from kerascope.errors import DataError

SPOILS = [
    lambda x: x * x.dtype.type(1e30),
    lambda x: np.sign(x) * np.finfo(x.dtype).max,
    lambda x: x * 0,
    lambda x: -abs(x) * 1000,
]
LINES = [pytest.param(False, id="steps"), pytest.param(True, id="program")]


def makes(kind, f, arrays):
    """Tell whether a step of a call gives numbers of a kind that did not go in."""
    test = {"nan": np.isnan, "inf": np.isinf}[kind]

    def has(values):
        floats = (np.asarray(x) for x in values if x is not None)
        return any(x.dtype.kind == "f" and test(x).any() for x in floats)

    values = []
    for step in f._events(arrays, values):
        if isinstance(step, Step):
            ins = [values[slot] for slot in step.inputs]
            if has([values[slot] for slot in step.outputs]) and not has(ins):
                return True
    return False


def rings(kind, f, arrays):
    try:
        Alarms({kind}).compute(f, arrays)
    except Alarm:
        return True
    return False


@pytest.mark.parametrize("has_program", LINES)
@pytest.mark.parametrize("case", thinned(CASES, op_of), ids=case_name)
def test_an_alarm_rings_wherever_an_op_makes_what_did_not_go_in(case, has_program):
    if not case.op.is_pure or case.by_numbers:
        pytest.skip("it draws numbers, or depends on them")
    tensors = graph_inputs(case, "float32")
    inputs, arrays = fed(case, tensors, "float32")
    outs = case.op(*tensors)
    f = K.function(inputs, [outs] if not isinstance(outs, (list, tuple)) else list(outs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2 * has_program):
            f(arrays)
        for spoil in SPOILS:
            spoilt = [spoil(x) if x.dtype.kind == "f" else x for x in arrays]
            for kind in ("nan", "inf"):
                with contextlib.suppress(DataError):  # the op refuses such numbers
                    is_made = makes(kind, f, spoilt)
                    assert not is_made or rings(kind, f, spoilt), (kind, spoilt)


def test_enough_of_the_ops_make_such_numbers():
    """The test above would hold of ops that never do."""
    found = set()
    for case in CASES:
        tensors = graph_inputs(case, "float32")
        inputs, arrays = fed(case, tensors, "float32")
        outs = case.op(*tensors)
        f = K.function(inputs, [outs] if not isinstance(outs, (list, tuple)) else list(outs))
        spoilt = [SPOILS[1](x) if x.dtype.kind == "f" else x for x in arrays]
        with warnings.catch_warnings(), contextlib.suppress(DataError):
            warnings.simplefilter("ignore")
            if makes("inf", f, spoilt):
                found.add(op_of(case).__name__)
    assert len(found) > 30, found
