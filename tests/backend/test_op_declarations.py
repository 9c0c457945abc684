"""What an op declares and what it does: whose memory an output lies in, and what it refuses."""

import importlib
from pathlib import Path

import numpy as np
import op_cases
import pytest
from thinned import thinned

from kerascope import backend as K
from kerascope.backend.arrays import Spec
from kerascope.backend.graph import Op, Placeholder
from kerascope.backend.ops.scan import PartOfScan, Scan
from kerascope.backend.ops.scan_graph import trace_step
from kerascope.errors import DataError


def all_rows():
    """Return (op, arrays) of the CASES of op_cases.py and of every op_cases_*.py beside it."""
    paths = sorted(Path(op_cases.__file__).parent.glob("op_cases_*.py"))
    further = [importlib.import_module(path.stem).CASES for path in paths]
    cases = [*op_cases.CASES, *(case for cases in further for case in cases)]
    return [*((case.op, case.arrays()) for case in cases), *loops()]


def loops():
    """Rows of loops with states, which have several outputs."""
    x, state, other = (Placeholder(n, "float64", "x") for n in ((None,), (), (2,)))

    def step(slices, states):
        return [slices[0] * states[0]], [states[0] + slices[0], states[1] * slices[0]]

    inner, inputs = trace_step(step, [x], [state, other])
    assert inputs == [x, state, other]
    for steps in (0, 3):
        arrays = [np.ones(steps), np.array(2.0), np.ones(2)]
        yield Scan(inner), arrays
        yield Scan(inner, backwards=True), arrays
        yield PartOfScan(inner, wanted=(0, 4)), arrays


def name(row):
    shapes = ",".join("x".join(map(str, x.shape)) or "scalar" for x in row[1])
    return f"{row[0]!r}({shapes})"


ROWS = all_rows()
each_row = pytest.mark.parametrize("row", thinned(ROWS, lambda row: type(row[0])), ids=name)


def forms(arrays):
    """Yield the arrays of a row in other forms: some have other types, or lie otherwise."""
    for dtype in ("float64", "float32", "float16", "int32"):
        yield [x.astype(dtype) if x.dtype.kind == "f" else x.copy() for x in arrays]
    yield [np.array(x, order="F") for x in arrays]
    yield [np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x for x in arrays]
    yield [np.asarray(x)[()] for x in arrays]  # a scalar of NumPy's cannot be seen in memory
    yield [x[:0].copy() if x.ndim else x for x in arrays]
    for number in range(len(arrays)):
        yield [x[:0].copy() if i == number and x.ndim else x for i, x in enumerate(arrays)]
        yield [x[:1].copy() if i == number and x.ndim else x for i, x in enumerate(arrays)]


def performed(op, arrays):
    """Return the outputs; None if the op does not take arrays of such shapes or types."""
    try:
        with np.errstate(all="ignore"):
            result = op.perform(*arrays)
    except (ValueError, IndexError, TypeError, ZeroDivisionError, DataError):
        return None
    return [result] if op.n_outputs == 1 else list(result)


def shared(outputs, arrays):
    """Return the pairs of an output and an input that are one, or lie in the same memory."""
    return {
        (i, j)
        for i, y in enumerate(outputs)
        for j, x in enumerate(arrays)
        if y is x or (isinstance(y, np.ndarray) and np.may_share_memory(y, x))
    }


def declared(op, arrays, outputs):
    specs = [[Spec(x.shape, x.dtype) for x in map(np.asarray, xs)] for xs in (arrays, outputs)]
    return set(op.may_share(*specs))


def undeclared(op, arrays):
    outputs = performed(op, arrays)
    return set() if outputs is None else shared(outputs, arrays) - declared(op, arrays, outputs)


@each_row
def test_nothing_shares_memory_that_is_not_declared(row):
    op, arrays = row
    for number, form in enumerate(forms(arrays)):
        assert not undeclared(op, form), number


def test_what_is_declared_is_reached_by_a_row():
    promised, reached = set(), set()
    for op, arrays in ROWS:
        for form in forms(arrays):
            outputs = performed(op, form)
            if outputs is not None:
                promised |= {(type(op), *pair) for pair in declared(op, form, outputs)}
                reached |= {(type(op), *pair) for pair in shared(outputs, form)}
    assert promised == reached
    assert {kind.__name__ for kind, _, _ in promised} >= {"Scan", "Switch", "SumTo", "Einsum"}


def other_numbers(arrays):
    """Yield the arrays with numbers that hardly an index, a count or a place can be."""
    yield [np.full_like(x, -7 if x.dtype.kind != "u" else 200) for x in arrays]
    yield [np.full_like(x, 9) for x in arrays]
    yield [np.zeros_like(x) for x in arrays]


def refuses_some(op, arrays):
    """Tell whether an op that takes these arrays does not take others of their shapes."""
    if performed(op, arrays) is None:
        return False
    for other in other_numbers(arrays):
        try:
            op.perform(*other)
        except DataError:
            return True
        except (ValueError, RuntimeWarning):  # sizes of which no array can be
            continue
    return False


@each_row
def test_what_refuses_some_numbers_is_declared(row):
    # A program leaves out what nobody reads; not what would have said that a number is wrong.
    op, arrays = row
    assert op.may_refuse or not refuses_some(op, arrays)


def test_what_refuses_numbers_is_reached_by_a_row():
    refusing = {type(op).__name__ for op, arrays in ROWS if refuses_some(op, arrays)}
    assert refusing == {type(op).__name__ for op, _ in ROWS if op.may_refuse}


def test_the_comparison_can_fail():
    class Undeclared(Op):
        def perform(self, x, y):
            return x if x.ndim else y

    assert undeclared(Undeclared(), [np.ones(2), np.ones(2)]) == {(0, 0)}
    assert undeclared(Undeclared(), [np.float64(2), np.float64(2)]) == {(0, 1)}


def test_of_somebody_elses_op_any_output_may_lie_in_any_input():
    class Kept(Op):
        def infer_shape(self, x, y):
            return y.shape

        def perform(self, x, y):
            return y

    x = K.placeholder((3,), dtype="float64")
    f = K.function([x], [Kept()(x * 2, K.exp(x)), K.tanh(x) + K.square(x)])
    told = [f([np.arange(3.0)]) for _ in range(4)]
    assert f.programs
    for outputs in told[1:]:
        np.testing.assert_array_equal(outputs, told[0])
