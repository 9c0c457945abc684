"""The kernels of convolution: the same bits as `perform`, whatever lies in the memory given."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import reference_convolution as reference
from holding import holds_for
from hypothesis import strategies as st

from kerascope.backend.arrays import Spec
from kerascope.backend.ops import convolution_kernels as arrays
from kerascope.backend.ops.convolution import ConvolutionKernelGradient, Convolve, ConvolveBack
from kerascope.backend.ops.convolution_kernels import Columns, grid_sizes, grids, scratch_array
from tests.backend.kernel_checks import check_kernel

PADDINGS = ("valid", "same", "causal", "full")


@st.composite
def convolutions(draw):
    """Return (shape of x, shape of the kernel, how it moves), where the kernel fits in."""
    axes = draw(st.integers(1, 3))
    most = (9, 7, 4)[axes - 1]

    def numbers(low, high):
        return tuple(draw(st.integers(low, high)) for _ in range(axes))

    groups = draw(st.sampled_from([1, 1, 1, 2, 3]))
    inside = draw(st.sampled_from([1, 2, 3, 16, 17]))
    filters = groups * draw(st.integers(1, 5))
    padding = draw(st.sampled_from(PADDINGS))
    sizes, kernel, strides = numbers(1, most), numbers(1, 4), numbers(1, 3)
    dilation = numbers(1, 2)
    if padding == "valid":
        sizes = tuple(
            max(n, (k - 1) * d + 1) for n, k, d in zip(sizes, kernel, dilation, strict=True)
        )
    x = (draw(st.integers(0, 3)), *sizes, inside * groups)
    return x, (*kernel, inside, filters), (strides, padding, dilation, groups)


def three_ops(x, kernel, how, dtype="float64", seed=0):
    """Return each op, its inputs and the plain loops for it."""
    rng = np.random.default_rng(seed)
    plan = Convolve(*how).plan(x[1:-1], kernel[:-2])
    output = (x[0], *plan.output_sizes, kernel[-1])
    x, kernel, g = (rng.normal(size=shape).astype(dtype) for shape in (x, kernel, output))
    return [
        (Convolve(*how), [x, kernel], reference.convolve),
        (ConvolveBack(*how), [g, kernel, np.array(x.shape)], reference.convolve_back),
        (
            ConvolutionKernelGradient(*how),
            [x, g, np.array(kernel.shape)],
            reference.kernel_gradient,
        ),
    ]


@holds_for(convolutions(), st.sampled_from(["float32", "float64", "float16"]), few=40, many=150)
def test_kernels_give_the_bits_of_perform(convolution, dtype):
    for op, inputs, _ in three_ops(*convolution, dtype):
        check_kernel(op, inputs)


@holds_for(convolutions(), st.sampled_from([1, 3000]), few=15, many=60)
def test_blocks_of_any_size_give_the_same_bits_twice_and_what_loops_give(convolution, block_bytes):
    x, kernel, how = convolution
    if np.prod(x) * np.prod(kernel) > 20_000:
        x, kernel = (*x[:-1], 2 * how[3]), (*kernel[:-2], 2, kernel[-1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "BLOCK_BYTES", block_bytes)
        patch.setattr(arrays, "LEAST_PLACES", 1)
        for op, inputs, loops in three_ops(x, kernel, how):
            result = check_kernel(op, inputs)
            expected = loops(*inputs, *how)
            np.testing.assert_allclose(result, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("x", "kernel", "strides", "padding"),
    [
        ((5, 26, 26, 32), (3, 3, 32, 64), 1, "valid"),  # several images a block
        ((2, 57, 40, 64), (3, 3, 64, 32), 1, "same"),  # parts of an image
        ((2, 57, 57, 20), (3, 3, 20, 130), 2, "same"),  # four grids, stripes of 2 and 1
        ((1, 60, 50, 3), (7, 7, 3, 64), 2, "valid"),  # few channels
        ((3, 28, 28, 1), (3, 3, 1, 32), 1, "valid"),
        ((2, 20, 20, 48), (1, 1, 48, 40), 1, "same"),
        ((2, 20, 20, 48), (1, 1, 48, 40), 2, "same"),
        ((9, 7, 7, 130), (3, 3, 130, 64), 1, "same"),
    ],
)
def test_shapes_of_real_networks(x, kernel, strides, padding):
    how = ((strides,) * 2, padding, (1, 1), 1)
    singles, doubles = (three_ops(x, kernel, how, dtype) for dtype in ("float32", "float64"))
    for (op, inputs, _), (_, exact, _) in zip(singles, doubles, strict=True):
        result, wanted = check_kernel(op, inputs), op.perform(*exact)
        np.testing.assert_allclose(result, wanted, rtol=1e-3, atol=2e-3)
    convolve, back, to_kernel = (op.perform(*inputs) for op, inputs, _ in doubles)
    (_, (image, weights), _), (_, (g, *_), _), _ = doubles
    for gradient, along in ((back, image), (to_kernel, weights)):  # y . g, three times
        np.testing.assert_allclose((gradient * along).sum(), (convolve * g).sum(), rtol=1e-9)


def test_inputs_may_lie_in_memory_in_any_order():
    how = ((1, 1), "same", (1, 1), 1)
    for op, inputs, _ in three_ops((2, 9, 8, 16), (3, 3, 16, 5), how, "float32"):
        expected = op.perform(*inputs)
        turned = [np.asfortranarray(x) for x in inputs]
        assert check_kernel(op, turned).tobytes() == expected.tobytes()


def test_channels_each_for_themselves_have_kernels_too():
    for how in (((1, 1), "same", (1, 1), 6), ((2, 1), "valid", (1, 2), 6)):
        for filters in (6, 12):
            for op, inputs, _ in three_ops((3, 9, 8, 6), (3, 2, 1, filters), how, "float32"):
                check_kernel(op, inputs)


def test_two_threads_may_compute_at_the_same_time():
    how = ((1, 1), "same", (1, 1), 1)
    cases = three_ops((8, 20, 20, 16), (3, 3, 16, 32), how, "float32")
    expected = [op.perform(*inputs) for op, inputs, _ in cases]
    calls = [case for case in cases for _ in range(20)]
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda case: case[0].perform(*case[1]), calls))
    for number, result in enumerate(results):
        np.testing.assert_array_equal(result, expected[number // 20])


def test_kernels_take_turns_with_the_same_room():
    one = scratch_array("columns", (7,), np.dtype("float64"))
    with ThreadPoolExecutor(1) as thread:
        other = thread.submit(scratch_array, "columns", (7,), np.dtype("float64")).result()
    assert np.shares_memory(one, scratch_array("columns", (2, 3), np.dtype("int32")))
    assert not np.shares_memory(one, scratch_array("frame", (7,), np.dtype("float64")))
    assert not np.shares_memory(one, other)
    assert one.ctypes.data % 64 == 0


def test_no_memory_is_taken_once_a_kernel_has_run():
    how = ((1, 1), "same", (1, 1), 1)
    for op, inputs, _ in three_ops((4, 26, 26, 32), (3, 3, 32, 64), how, "float32"):
        out = op.perform(*inputs)
        kernel = op.kernel([Spec(x.shape, x.dtype) for x in inputs], [Spec(out.shape, out.dtype)])
        kernel(out, *inputs)
        tracemalloc.start()
        kernel(out, *inputs)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # A few views, and in NumPy 2.0 a buffer; the smallest array here has 73,000 bytes.
        assert most < 70_000


def test_a_size_that_does_not_fit_is_left_to_perform():
    g, kernel = Spec((2, 3, 3, 4), np.dtype("float32")), Spec((3, 3, 2, 4), np.dtype("float32"))
    sizes = Spec((4,), np.dtype("int32"))
    there = Spec((2, 9, 5, 2), np.dtype("float32"))
    how = ((1, 1), "valid", (1, 1), 1)
    assert ConvolveBack(*how).kernel([g, kernel, sizes], [there]) is None


# --- how it is done -------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [1, 32])
def test_columns_hold_what_lies_under_the_kernel(channels):
    plan = arrays.plan((5, 6), (3, 2), (2, 1), "same", (1, 1))
    x = np.random.default_rng(0).normal(size=(2, 5, 6, channels))
    zeros = ((0, 0), *plan.zeros, (0, 0))
    windows = arrays.windows(np.pad(x, zeros), plan)
    expected = windows.reshape(-1, 3 * 2 * channels)
    found = np.empty_like(expected)
    columns = Columns(2, plan, channels, x.dtype)
    for places, part in columns.of(x):
        found[places] = part
    np.testing.assert_array_equal(found, expected)


def test_blocks_fit_the_cache_and_are_about_equal():
    plan = arrays.plan((56, 56), (3, 3), (1, 1), "same", (1, 1))
    parts = list(arrays.blocks(2, plan, 9 * 64 * 4))
    rows = [part.stop - part.start for _, part in parts]
    assert sum(rows) == 2 * 56
    assert max(rows) * 56 * 9 * 64 * 4 <= arrays.BLOCK_BYTES
    assert max(rows) - min(rows) <= 1


def test_stride_2_gives_four_grids_with_the_places_of_the_kernel_split():
    plan = arrays.plan((9, 9), (3, 3), (2, 2), "valid", (1, 1))
    assert grid_sizes(plan) == (5, 5)
    found = {grid.residue: (len(grid.stripes), grid.run) for grid in grids(plan, channels=32)}
    assert found == {(0, 0): (2, 2), (0, 1): (2, 1), (1, 0): (1, 2), (1, 1): (1, 1)}
    singles = {grid.residue: len(grid.stripes) for grid in grids(plan, channels=256)}
    assert singles == {(0, 0): 4, (0, 1): 2, (1, 0): 2, (1, 1): 1}
