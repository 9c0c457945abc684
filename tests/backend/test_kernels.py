"""Kernels, ufuncs and views: what a compiled function writes in place of `perform`."""

import importlib
import warnings
from pathlib import Path

import numpy as np
import op_cases
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thinned import thinned

from kerascope.backend.arrays import Spec
from kerascope.backend.graph import Op
from kerascope.backend.ops import (
    broadcasting,
    elementwise,
    indexing,
    joining,
    linalg,
    nn,
    random,
    reduction,
)
from kerascope.backend.program.emit import Literals, Names
from kerascope.errors import DataError

FLOATS = ["float16", "float32", "float64"]
PLAIN = {  # ops of which a compiled function calls `perform`: nobody runs them often
    "Arange",
    "Erf",
    "InTopK",
    "ProductOfOthers",
    "Switch",
    "TruncatedNormal",
}
# Modules with ops of `keras.ops` that Keras 2 had not: nobody runs these often either.
OF_KERAS_3 = ("decompositions", "fourier", "mathematics", "places", "while_loop")
OWNED_ELSEWHERE = ("decompositions", "convolution", "pooling", "scan", "loops")
SHAPE_OPS = {"CountOver", "FullLike", "Shape"}
IMPURE = {"PrintTensor", "RandomBinomial", "RandomNormal", "RandomUniform", "TruncatedNormal"}


def all_cases():
    """Return the CASES of op_cases.py and of every op_cases_*.py beside it."""
    paths = sorted(Path(op_cases.__file__).parent.glob("op_cases_*.py"))
    further = [importlib.import_module(path.stem).CASES for path in paths]
    return [*op_cases.CASES, *(case for cases in further for case in cases)]


def case_name(case):
    shapes = ",".join("x".join(map(str, x.shape)) or "scalar" for x in case.arrays())
    return f"{case.op!r}({shapes})"


def is_ours(kind):
    name = kind.__module__.rpartition(".")[2]
    return not name.startswith((*OWNED_ELSEWHERE, "ctc"))


OURS = [case for case in all_cases() if is_ours(type(case.op))]


def rows_of(chosen):
    cases = [case for case in OURS if chosen(case.op)]
    return pytest.mark.parametrize("case", thinned(cases, lambda c: type(c.op)), ids=case_name)


each_case = rows_of(lambda op: True)


def spec_of(array):
    return Spec(array.shape, array.dtype)


def runner(op, inputs, output):
    """Return a function of (out, *inputs) that does what a compiled function would; or None."""
    if op.ufunc is not None:
        return lambda out, *arrays: op.ufunc(*arrays, out=out)
    kernel = op.kernel([spec_of(x) for x in inputs], [spec_of(output)])
    if not isinstance(kernel, str):
        return kernel
    names = [f"x{i}" for i in range(len(inputs))]
    own = Names(["out", *names])
    line = kernel.format(*names, out="out", **Literals(own).words(output.dtype))
    return eval(f"lambda out, {', '.join(names)}: {line}", own.scope)


def garbage(array, seed):
    """Return memory like that of an array, row by row, full of nonsense."""
    noise = np.random.default_rng(seed).integers(0, 256, array.nbytes, "uint8")
    if array.dtype == bool:
        noise %= 2
    return noise.view(array.dtype).reshape(array.shape)


def bits(array):
    return array.shape, array.dtype, np.ascontiguousarray(array).tobytes()


def locked(arrays):
    copies = [np.array(x, order="K") for x in arrays]
    for x in copies:
        x.flags.writeable = False
    return copies


def assert_same(op, several):
    """Compare kernel and `perform` bit for bit, on several inputs of the same shapes in a row."""
    several = [locked(arrays) for arrays in several]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = [np.asarray(op.perform(*arrays)) for arrays in several]
        compute = runner(op, several[0], expected[0])
        if compute is None:
            return False
        for round_number in range(2):
            for arrays, result in zip(several, expected, strict=True):
                out = garbage(result, round_number)
                compute(out, *arrays)
                assert bits(out) == bits(result)
    return True


def moved(case, dtype):
    """Return the inputs, and the same shapes with other floats: signed zeros and NaN among them."""
    other = []
    for x in case.arrays(dtype):
        y = x.copy()
        if x.dtype.kind == "f":
            y = np.array(x[..., ::-1] * 1.5 if x.ndim else x * 1.5, x.dtype)
            special = [-0.0, 0.0, np.nan, np.inf, -np.inf, 60.0, -60.0]
            places = np.arange(0, y.size, 2)[: len(special)]
            y.put(places, np.array(special[: len(places)], dtype))
        other.append(y)
    return [case.arrays(dtype), other]


# --- every row ------------------------------------------------------------------------------------


@each_case
def test_kernel_and_perform_give_the_same_bits(case):
    for dtype in FLOATS:
        assert_same(case.op, moved(case, dtype))


@each_case
def test_kernel_takes_inputs_in_any_order_of_memory(case):
    arrays = [np.asfortranarray(x) if x.ndim else x for x in case.arrays("float32")]
    result = np.asarray(case.op.perform(*arrays))
    if result.flags.c_contiguous:
        assert_same(case.op, [arrays])


def test_the_comparison_can_fail():
    class Wrong(Op):
        def perform(self, x):
            return x + 0.0

        def kernel(self, inputs, outputs):
            return "np.copyto({out}, {0})"

    assert assert_same(Wrong(), [[np.array([1.0, 2.0])]])
    with pytest.raises(AssertionError):
        assert_same(Wrong(), [[np.array([1.0, -0.0])]])


@rows_of(lambda op: op.is_view)
def test_view_lies_in_the_memory_of_the_first_input(case):
    first, *rest = case.arrays()
    for x in (first, np.asfortranarray(first) if first.ndim else first):
        result = case.op.perform(x, *rest)
        assert isinstance(result, np.ndarray)
        assert np.shares_memory(result, x)


@rows_of(lambda op: op.needs_only_shapes)
def test_what_needs_only_shapes_does_not_read_numbers(case):
    arrays = case.arrays()
    others = [np.ones_like(x) for x in arrays]
    assert bits(case.op.perform(*arrays)) == bits(case.op.perform(*others))


@rows_of(lambda op: op.is_pure)
def test_pure_op_gives_the_same_again(case):
    arrays = case.arrays()
    first, second = (np.asarray(case.op.perform(*arrays)) for _ in range(2))
    assert bits(first) == bits(second)


# --- every op -------------------------------------------------------------------------------------


def has_kernel(kind):
    return kind.kernel is not Op.kernel or kind.ufunc is not None or kind.is_view


def ours():
    """Return every op that can be applied; `test_ops.py` finds those that have no row."""
    return {type(case.op) for case in OURS}


def test_every_op_is_fast_or_on_the_list():
    often = [kind for kind in ours() if not kind.__module__.endswith(OF_KERAS_3)]
    plain = {kind.__name__ for kind in often if not has_kernel(kind)}
    assert plain - SHAPE_OPS - {"PrintTensor"} == PLAIN - {"TruncatedNormal"}
    assert random.TruncatedNormal(1, "float32", 0.0, 1.0).drawing(Spec((2,), None)) is None


def test_every_impure_op_is_on_the_list():
    assert {kind.__name__ for kind in ours() if not kind.is_pure} == IMPURE


def test_every_op_that_needs_only_shapes_is_on_the_list():
    assert {kind.__name__ for kind in ours() if kind.needs_only_shapes} == SHAPE_OPS


def test_a_new_op_without_a_kernel_is_noticed():
    class Slow(Op):
        pass

    assert not has_kernel(Slow)


# --- other shapes ---------------------------------------------------------------------------------


def numbers(shape, seed=0, dtype="float32"):
    return np.random.default_rng(seed).normal(0, 3, shape).astype(dtype)


SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)
ACTIVATIONS = [
    nn.Relu(),
    nn.Relu(0.1),
    nn.Relu(0.0, 6.0),
    nn.Relu(2.0),
    nn.Relu(0.0, None, 1.0),
    nn.Relu(0.2, 5.0, 0.5),
    nn.ReluSlope(0.0, None, 0.0),
    nn.ReluSlope(0.0, 6.0, 0.0),
    nn.ReluSlope(0.3, None, 0.0),
    nn.Elu(1.0),
    nn.Softplus(),
    nn.Softsign(),
    nn.Sigmoid(),
    nn.Tanh(),
    elementwise.Clip(-np.inf, 1.0),
    elementwise.Clip(0.0, np.inf),
    elementwise.Round(),
    broadcasting.Cast("float16"),
    broadcasting.Cast("int64"),
]


@given(SHAPES, st.sampled_from(ACTIVATIONS), st.sampled_from(FLOATS))
def test_elementwise_kernels_on_any_shape(shape, op, dtype):
    assert assert_same(op, [[numbers(shape, seed, dtype)] for seed in (1, 2)])


@pytest.mark.parametrize("op", ACTIVATIONS, ids=repr)
def test_elementwise_kernels_on_large_arrays(op):
    x = numbers((37, 129))
    x[::3, ::5], x[1::3, ::7] = -0.0, np.nan
    assert assert_same(op, [[x]])
    assert assert_same(op, [[x[:, ::2]]])


@given(SHAPES, st.data(), st.booleans())
def test_reductions_on_any_shape(shape, data, keepdims):
    axes = tuple(sorted(data.draw(st.sets(st.integers(0, len(shape) - 1)))))
    kinds = (reduction.Mean, reduction.Prod, reduction.Max, reduction.Min)
    kinds = (*kinds, reduction.Any, reduction.All, reduction.LogSumExp, broadcasting.Sum)
    x = numbers(shape)
    for kind in kinds:
        assert assert_same(kind(axes, keepdims), [[x], [x[::-1]]])
    for kind in kinds[2:6]:
        assert assert_same(kind(axes, keepdims), [[x.astype("int32")]])
    axis = data.draw(st.integers(0, len(shape) - 1))
    for op in (
        nn.Softmax(axis),
        nn.LogSoftmax(axis),
        reduction.Argmax(axis),
        reduction.Argmin(axis),
        reduction.CumulativeSum(axis),
        reduction.CumulativeSum(axis, True),
        reduction.CumulativeProduct(axis),
        joining.RepeatElements(3, axis),
        joining.SumRepeated(1, axis),
    ):
        assert assert_same(op, [[x], [x[::-1]]])


@given(SHAPES, st.data())
def test_sum_to_on_any_shape(shape, data):
    dropped = data.draw(st.integers(0, len(shape)))
    kept = [data.draw(st.sampled_from([1, n])) for n in shape[dropped:]]
    assert assert_same(broadcasting.SumTo(), [[numbers(shape), numbers(kept)]])


@given(SHAPES, st.data())
def test_tiles_on_any_shape(shape, data):
    repeats = tuple(data.draw(st.integers(1, 3)) for _ in shape)
    x = numbers(shape)
    tiled = np.tile(x, repeats)
    assert assert_same(joining.Tile(repeats), [[x]])
    assert assert_same(joining.TileBy(), [[x, np.array(repeats)]])
    assert assert_same(joining.TileLike(), [[x, tiled]])
    assert assert_same(joining.SumTiles(repeats), [[tiled]])
    assert assert_same(joining.SumTilesLike(), [[tiled, x]])


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.sampled_from(FLOATS))
def test_products_on_any_size(rows, inner, columns, dtype):
    x, y = numbers((rows, inner), 1, dtype), numbers((inner, columns), 2, dtype)
    assert assert_same(linalg.Dot(), [[x, y], [x * 2, y]])
    assert assert_same(linalg.Dot(), [[x.T.copy().T, y.T.copy().T]])
    whole = numbers((2, rows, inner), 3, dtype)
    assert assert_same(linalg.Dot(), [[whole, y]])
    assert assert_same(linalg.MatMul(), [[whole, y[None]]])
    assert assert_same(linalg.BatchDot((2,), (2,)), [[whole, whole * 2]])
    assert assert_same(linalg.TensorDot((0, 1), (0, 1)), [[whole, whole * 2]])


@given(st.integers(1, 6), st.lists(st.integers(0, 5), max_size=12), st.sampled_from([(), (3,)]))
def test_rows_of_a_table(n_rows, places, rest):
    indices = np.array(places, "int32") % n_rows
    table = numbers((n_rows, *rest))
    assert assert_same(indexing.Gather(), [[table, indices], [table * 2, indices[::-1]]])
    x = numbers((len(places), *rest))
    assert assert_same(indexing.AddRows(), [[x, indices, table], [x * 2, indices[::-1], table]])


def test_gradient_rows_are_the_sums_of_a_dense_one_hot():
    indices = np.random.default_rng(0).integers(0, 7, (5, 4))
    x = numbers((5, 4, 3), dtype="float64")
    codes = (indices.reshape(-1, 1) == np.arange(7)).astype("float64")
    result = indexing.AddRows().perform(x, indices, np.zeros((7, 3)))
    np.testing.assert_allclose(result, codes.T @ x.reshape(-1, 3), rtol=1e-12, atol=1e-12)


@given(SHAPES, st.data())
def test_picking_along_any_axis(shape, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    x = numbers(shape)
    others = (*shape[:axis], *shape[axis + 1 :])
    places = np.random.default_rng(1).integers(0, shape[axis], others)
    pick, put = nn.Pick(axis), nn.PutPicked(axis)
    assert assert_same(pick, [[x, places], [x, shape[axis] - 1 - places]])
    picked = pick.perform(x, places)
    lifted = np.expand_dims(places, axis)
    np.testing.assert_array_equal(np.expand_dims(picked, axis), np.take_along_axis(x, lifted, axis))
    assert assert_same(put, [[picked, places, x], [picked, shape[axis] - 1 - places, x]])


@pytest.mark.parametrize("wrong", [-1, 4, 2**40])
def test_a_place_that_does_not_exist_is_refused(wrong):
    x, places, row = numbers((3, 4)), np.array([0, 3, wrong]), numbers(3)
    refused = [
        (indexing.Gather(), [x.T, places], numbers((3, 3))),
        (nn.Pick(1), [x, places], row),
        (nn.PutPicked(1), [row, places, x], x),
    ]
    for op, arrays, result in refused:
        gathers = isinstance(op, indexing.Gather)
        message = f"got {wrong}" if gathers else "from 0 to 3"
        with pytest.raises(DataError, match=message):
            op.perform(*arrays)
        with pytest.raises(DataError, match=message):
            runner(op, arrays, result)(result.copy(), *arrays)


@settings(max_examples=30)
@given(SHAPES, st.integers(0, 2**64 - 1), st.integers(0, 2**40), st.sampled_from(FLOATS))
def test_random_numbers_do_not_depend_on_the_draws_before(shape, seed, draws, dtype):
    several = [[np.array(shape), np.array(n)] for n in (draws, draws + 1, 0)]
    for op in (
        random.RandomUniform(seed, dtype, -1.0, 2.0),
        random.RandomNormal(seed, dtype, 1.0, 2.0),
        random.RandomBinomial(seed, dtype, 0.3),
    ):
        is_binomial = isinstance(op, random.RandomBinomial)
        assert assert_same(op, several) == (dtype != "float16" or is_binomial)


# --- what changed in `perform` --------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 2e-3), ("float32", 5e-7)])
def test_sigmoid_is_precise_at_both_ends(dtype, tolerance):
    least = -16.0 if dtype == "float16" else -87.0
    x = np.linspace(least, -least, 201).astype(dtype)
    exact = 1 / (1 + np.exp(-x.astype("float64")))
    result = nn.Sigmoid().perform(x)
    floor = 1e-7 if dtype == "float16" else 1e-38  # below it, float16 has less than all its digits
    np.testing.assert_allclose(result, exact, rtol=tolerance, atol=floor)
    with np.errstate(over="ignore"):
        extremes = nn.Sigmoid().perform(np.array([-1e4, 1e4, -np.inf, np.inf], dtype))
    np.testing.assert_array_equal(extremes, [0, 1, 0, 1])
