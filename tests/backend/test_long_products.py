"""Products of long matrices: in pieces they are what they are in one piece."""

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.backend.ops.linalg import (
    FEWEST_ROWS,
    MOST_MULTIPLICATIONS,
    Dot,
    TensorDot,
    long_product,
    product_of_rows,
    rows_of_a_piece,
)


def numbers(*shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


SIZES = [(1600, 16, 128), (1601, 16, 128), (5000, 3, 70), (1, 4, 4), (0, 4, 4), (100_000, 1, 10)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pieces_make_the_whole(sizes, dtype):
    rows, inner, columns = sizes
    x, y, z = (
        numbers(*shape, dtype=dtype) for shape in [(rows, inner), (inner, columns), (rows, columns)]
    )
    out, total = np.full((rows, columns), 7, dtype), np.full((inner, columns), 7, dtype)
    long_product(x, y, out)
    product_of_rows(x, z, total)
    near = {"rtol": 1e-4, "atol": 1e-2} if dtype == "float32" else {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(out, x @ y, **near)
    np.testing.assert_allclose(total, x.T @ z, **near)


@pytest.mark.parametrize("sizes", [size for size in SIZES if size[0]])
def test_a_piece_is_small_and_no_row_is_left_out(sizes):
    n = rows_of_a_piece(*sizes)
    assert 1 <= n <= max(sizes[0], 1)
    if n < sizes[0]:
        assert n * sizes[1] * sizes[2] <= MOST_MULTIPLICATIONS + sizes[1] * sizes[2]
        assert n >= FEWEST_ROWS


def test_wide_matrices_stay_whole():
    assert rows_of_a_piece(128, 784, 512) == 128


@pytest.mark.parametrize("shape", [(50, 32, 16), (5, 10, 32, 16), (2, 3, 4)])
def test_both_roads_of_an_op_give_the_same_bits(shape):
    x, kernel = numbers(*shape), numbers(shape[-1], 128)
    gradient = numbers(*shape[:-1], 128)
    leading = tuple(range(len(shape) - 1))
    for op, a, b in [
        (Dot(), x, kernel),
        (TensorDot((len(shape) - 1,), (0,)), x, kernel),
        (TensorDot(leading, leading), x, gradient),
        (TensorDot((len(shape) - 1,), (len(shape) - 1,)), x, numbers(*shape, seed=1)),
    ]:
        function = K.function(
            inputs := [K.placeholder(a.shape), K.placeholder(b.shape)], [op(*inputs)]
        )
        expected = op.perform(a, b)
        wanted = (leading, leading) if op == TensorDot(leading, leading) else None
        axes = wanted or (op.parameters.get("x_axes", (-1,)), op.parameters.get("y_axes", (0,)))
        np.testing.assert_allclose(expected, np.tensordot(a, b, axes), rtol=1e-4, atol=1e-3)
        for _ in range(4):
            assert function([a, b])[0].tobytes() == expected.tobytes()


@pytest.mark.parametrize("shape", [(50, 32, 8), (2, 3, 4, 5), (3, 0, 4), (3, 2, 0), (7, 1, 1)])
def test_sums_of_all_rows_are_the_same_on_both_roads(shape):
    x = numbers(*shape)
    axes = tuple(range(len(shape) - 1))
    place = K.placeholder(shape)
    function = K.function([place], [K.sum(place, axis=axes)])
    expected = x.astype("float64").sum(axis=axes)
    for _ in range(4):
        (came,) = function([x])
        np.testing.assert_allclose(came, expected, rtol=1e-4, atol=1e-4)
    assert came.tobytes() == function.schedule.steps[-1].apply.op.perform(x).tobytes()
    if x.size:
        assert np.isnan(function([np.full(shape, np.nan, "float32")])[0]).all()
