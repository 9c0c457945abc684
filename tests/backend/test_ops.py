"""Every row of `op_cases.py` through forward, shape, type and gradient tests."""

import dataclasses
from collections import Counter

import numpy as np
import pytest
from op_cases import Case
from op_rows import CASES, each_case, each_of, fed, graph_inputs, op_classes, smooth_case

from kerascope import backend as K
from kerascope.backend.eager import eager_mode
from kerascope.backend.graph import Constant, Op
from kerascope.backend.ops.elementwise import Exp, Log
from kerascope.backend.ops.nn import Relu
from kerascope.backend.shapes import merge_shapes

STEP = 1e-5  # of the central differences


# --- no op without a row --------------------------------------------------------------------------


# What a `Scan` becomes by itself: in a loop of which not all is wanted, and in eager mode.
FORMS_OF_SCAN = {"PartOfScan", "ScanOnce"}


# Ops of several outputs: tests/layers/test_whole_operations.py has their values and gradients.
OF_SEVERAL_OUTPUTS = {"Eigh", "Fourier", "LogDeterminant", "LuFactor", "Qr", "Svd"}


def without_row(classes, cases):
    covered = {type(case.op) for case in cases}
    classes = [k for k in classes if k.__name__ not in FORMS_OF_SCAN | OF_SEVERAL_OUTPUTS]
    return [k.__name__ for k in classes if k not in covered]


def test_every_op_has_a_row():
    assert without_row(op_classes(), CASES) == []


def test_an_op_whose_row_is_missing_is_found():
    fewer = [case for case in CASES if case.op.name != "batch_dot"]
    assert without_row(op_classes(), fewer) == ["BatchDot"]


def test_no_two_ops_have_the_same_name():
    names = Counter(k.__name__ for k in op_classes())
    assert [name for name, count in names.items() if count > 1] == []


# --- every row ------------------------------------------------------------------------------------


@each_case
def test_forward_agrees_with_plain_loops(case):
    for dtype, near in (("float64", 1e-12), ("float32", 2e-5)):
        arrays = case.arrays(dtype)
        for array in arrays:
            array.flags.writeable = False  # an op that writes into its input raises
        with np.errstate(all="ignore"):
            result = np.asarray(case.op.perform(*arrays))
        expected = np.asarray(
            case.expected(*(x.astype("float64") if x.dtype.kind == "f" else x for x in arrays))
        )
        assert result.shape == expected.shape, dtype
        np.testing.assert_allclose(result, expected, rtol=near, atol=near, err_msg=dtype)


@each_case
def test_function_and_eager_mode_give_the_same_numbers(case):
    tensors = graph_inputs(case)
    inputs, arrays = fed(case, tensors)
    compiled = K.function(inputs, case.op(*tensors))(arrays)
    with eager_mode():
        eager = K.eval(case.op(*(Constant(x) for x in case.arrays())))
    np.testing.assert_array_equal(compiled, eager)
    assert np.asarray(compiled).dtype == np.asarray(eager).dtype


HIDDEN = {
    "nothing": lambda axis: False,
    "the batch": lambda axis: axis == 0,
    "all but the batch": lambda axis: axis != 0,
    "every size": lambda axis: True,
}


@each_case
def test_inferred_shape_is_that_of_the_run(case):
    actual = np.shape(case.op.perform(*case.arrays()))
    for unknown, hidden in HIDDEN.items():
        inferred = case.op(*graph_inputs(case, hidden=hidden)).shape
        if unknown == "nothing" and not case.by_numbers:
            assert inferred == actual
        assert merge_shapes(inferred, actual) == actual, unknown


@each_case
def test_inferred_dtype_is_that_of_the_run(case):
    for dtype in ("float16", "float32", "float64"):
        with np.errstate(all="ignore"):
            result = case.op.perform(*case.arrays(dtype))
        assert case.op(*graph_inputs(case, dtype)).dtype == result.dtype.name, dtype


@each_case
def test_scalars_of_numpy_keep_their_dtype(case):
    arrays = case.arrays("float32")
    if any(x.ndim for x in arrays):
        arrays = [x[()] for x in arrays]
    with np.errstate(all="ignore"):
        result = case.op.perform(*(x[()] for x in arrays))
    assert case.op(*graph_inputs(case, "float32")).dtype == result.dtype.name


@each_case
def test_op_is_a_value(case):
    op = case.op
    twin = dataclasses.replace(op)
    assert twin == op
    assert hash(twin) == hash(op)
    assert op.parameters == {f.name: getattr(op, f.name) for f in dataclasses.fields(op)}
    assert type(op)(**op.parameters) == op
    for name in op.parameters:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(op, name, None)


def numeric_gradient(compute, arrays, position):
    """Return d compute / d arrays[position] by central differences."""
    result = np.zeros(arrays[position].shape)
    for place in np.ndindex(result.shape):
        values = []
        for step in (STEP, -STEP):
            moved = [np.array(x) for x in arrays]
            moved[position][place] += step
            values.append(compute(moved))
        result[place] = (values[0] - values[1]) / (2 * STEP)
    return result


def assert_close(symbolic, numeric):
    """Compare with a relative error of 1e-6, measured by the greatest entry."""
    scale = max(1.0, np.abs(numeric).max(initial=0))
    assert np.shape(symbolic) == numeric.shape
    assert np.abs(symbolic - numeric).max(initial=0) < 1e-6 * scale


def weighted_sum(y, seed):
    """Return a scalar in which every element of y has another weight."""
    weights = np.random.default_rng(seed).uniform(0.5, 1.5, y.shape)
    return K.sum(y * Constant(weights))


@smooth_case
def test_gradient_agrees_with_finite_differences(case):
    tensors = graph_inputs(case)
    inputs, arrays = fed(case, tensors)
    loss = weighted_sum(case.op(*tensors), seed=2)
    grads = K.gradients(loss, [tensors[i] for i in case.smooth])
    compute = K.function(inputs, loss)
    numeric = [numeric_gradient(compute, arrays, inputs.index(tensors[i])) for i in case.smooth]
    for g, expected in zip(grads, numeric, strict=True):
        if g is None:
            assert not expected.any()
            continue
        assert_close(K.function(inputs, g)(arrays), expected)


@each_of(c for c in CASES if c.smooth and c.twice)
def test_second_gradient_agrees_with_finite_differences_of_the_first(case):
    tensors = graph_inputs(case)
    inputs, arrays = fed(case, tensors)
    smooth = [tensors[i] for i in case.smooth]
    grads = K.gradients(weighted_sum(case.op(*tensors), seed=2), smooth)
    terms = [weighted_sum(g, seed) for seed, g in enumerate(grads) if g is not None]
    if not terms:
        return
    first = sum(terms[1:], start=terms[0])
    compute = K.function(inputs, first)
    for x, second in zip(smooth, K.gradients(first, smooth), strict=True):
        numeric = numeric_gradient(compute, arrays, inputs.index(x))
        symbolic = np.zeros(numeric.shape)
        if second is not None:
            symbolic = K.function(inputs, second)(arrays)
        assert_close(symbolic, numeric)


@smooth_case
def test_gradient_through_unknown_sizes_is_the_same(case):
    gradients = []
    for hidden in (HIDDEN["nothing"], HIDDEN["every size"]):
        tensors = graph_inputs(case, hidden=hidden)
        inputs, arrays = fed(case, tensors)
        loss = K.sum(K.square(case.op(*tensors)) * 0.5)
        grads = K.gradients(loss, [tensors[i] for i in case.smooth])
        grads = [g for g in grads if g is not None]
        gradients.append(K.function(inputs, grads)(arrays))
    for known, unknown in zip(*gradients, strict=True):
        np.testing.assert_allclose(known, unknown, rtol=1e-12, atol=1e-12)


@smooth_case
def test_gradient_keeps_the_dtype_of_its_input(case):
    for dtype in ("float16", "float32"):
        tensors = graph_inputs(case, dtype)
        inputs, arrays = fed(case, tensors, dtype)
        for x in (tensors[i] for i in case.smooth):
            g = K.gradients(K.sum(K.cast(case.op(*tensors), dtype)), x)[0]
            if g is not None:
                assert g.dtype == dtype
                assert K.function(inputs, g)(arrays).dtype == dtype


def test_the_tests_of_gradients_can_fail():
    class WrongSquare(Op):
        def infer_shape(self, x):
            return x.shape

        def perform(self, x):
            return x**2

        def grad(self, inputs, outputs, output_grads):
            return [inputs[0] * output_grads[0]]

    wrong = Case(WrongSquare(), lambda d: [d.normal(3)], np.square, (0,))
    with pytest.raises(AssertionError):
        test_gradient_agrees_with_finite_differences(wrong)


# --- ops as values --------------------------------------------------------------------------------


def test_ops_are_equal_if_class_and_parameters_are():
    assert Relu(0.5) == Relu(0.5, None, 0.0)
    assert hash(Relu(0.5)) == hash(Relu(0.5, None, 0.0))
    assert Relu(0.5) != Relu(0.25)
    assert Exp() == Exp() != Log()
    assert Exp() != "exp"
    assert len({Relu(), Relu(), Exp(), Exp(), Log()}) == 3


def test_an_op_is_written_with_its_parameters_and_cannot_be_changed():
    assert repr(Relu(0.5)) == "Relu(alpha=0.5, max_value=None, threshold=0.0)"
    assert repr(Exp()) == "Exp()"
    with pytest.raises(dataclasses.FrozenInstanceError):
        Relu().alpha = 1.0


def test_an_op_of_ones_own_is_a_value_too():
    @dataclasses.dataclass(frozen=True)
    class Shift(Op):
        by: float

    assert Shift(1.0) == Shift(1.0) != Shift(2.0)
    assert repr(Shift(1.0)).endswith("Shift(by=1.0)")
    assert Shift(1.0).parameters == {"by": 1.0}
