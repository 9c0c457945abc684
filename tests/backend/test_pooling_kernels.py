"""The kernels of pooling: the same bits as `perform`, whatever lies in the memory given."""

import numpy as np
import pytest
import reference_pooling as reference
from holding import holds_for
from hypothesis import strategies as st

from kerascope.backend.arrays import Spec
from kerascope.backend.ops import pooling as kernels
from kerascope.backend.ops.convolution import Patches, SumPatches
from kerascope.backend.ops.image import Pad
from kerascope.backend.ops.pooling import AveragePool, MaxPool, PutAtMaximum, SpreadAverage
from tests.backend.kernel_checks import check_kernel, dirty


@st.composite
def poolings(draw):
    """Return (shape of x, arguments of the ops)."""
    axes = draw(st.integers(1, 3))
    padding = draw(st.sampled_from(["valid", "same"]))
    sizes = tuple(draw(st.integers(1, 4)) for _ in range(axes))
    strides = draw(st.sampled_from([sizes, tuple(draw(st.integers(1, 4)) for _ in range(axes))]))
    least = sizes if padding == "valid" else (1,) * axes
    lengths = tuple(n + draw(st.integers(0, 5)) for n in least)
    channels_first = draw(st.booleans())
    batch, channels = draw(st.integers(0, 4)), draw(st.integers(1, 5))
    shape = (batch, channels, *lengths) if channels_first else (batch, *lengths, channels)
    return shape, (sizes, strides, padding, 1 + channels_first)


def numbers(shape, dtype, ties):
    rng = np.random.default_rng(0)
    drawn = rng.integers(-1, 2, size=shape) if ties else rng.normal(size=shape)
    return drawn.astype(dtype)


@holds_for(
    poolings(), st.sampled_from(["float32", "float64", "float16"]), st.booleans(), few=40, many=200
)
def test_kernels_give_the_bits_of_perform(pooling, dtype, ties):
    shape, arguments = pooling
    x = numbers(shape, dtype, ties)
    y = check_kernel(MaxPool(*arguments), [x])
    check_kernel(AveragePool(*arguments), [x])
    g = numbers(y.shape, dtype, ties=False)
    check_kernel(PutAtMaximum(*arguments), [g, x, y])
    check_kernel(SpreadAverage(*arguments), [g, x])


@holds_for(poolings(), st.booleans(), st.sampled_from([1, 200, 1 << 20]), few=12, many=60)
def test_blocks_of_any_size_give_what_loops_give(pooling, ties, block_bytes):
    shape, arguments = pooling
    shape = (max(shape[0], 1), *shape[1:])
    maximum, average = MaxPool(*arguments), AveragePool(*arguments)
    put, spread = PutAtMaximum(*arguments), SpreadAverage(*arguments)
    x = numbers(shape, "float64", ties)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "BLOCK_BYTES", block_bytes)
        y = check_kernel(maximum, [x])
        np.testing.assert_array_equal(y, reference.max_pool(x, maximum))
        np.testing.assert_allclose(check_kernel(average, [x]), reference.average_pool(x, average))
        g = numbers(y.shape, "float64", ties=False)
        np.testing.assert_allclose(
            check_kernel(put, [g, x, y]), reference.put_at_maximum(g, x, y, put)
        )
        np.testing.assert_allclose(
            check_kernel(spread, [g, x]), reference.spread_average(g, x, spread), atol=1e-15
        )


def test_windows_laid_out_and_zeros_around_have_kernels_too():
    x = numbers((2, 6, 5, 3), "float32", ties=False)
    patches = check_kernel(Patches((3, 2), (2, 1)), [x])
    check_kernel(SumPatches((3, 2), (2, 1)), [patches, x])
    check_kernel(Pad(((0, 0), (1, 2), (0, 1), (0, 0))), [x])


def test_maxima_of_whole_numbers():
    x = np.arange(2 * 6 * 6 * 3, dtype="int32").reshape(2, 6, 6, 3) % 7
    op = MaxPool((2, 2), (2, 2), "valid", 1)
    expected = op.perform(x)
    out = dirty(expected.shape, "int32")
    op.kernel([Spec(x.shape, x.dtype)], [Spec(out.shape, out.dtype)])(out, x)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(out, x.reshape(2, 3, 2, 3, 2, 3).max(axis=(2, 4)))


def test_a_window_without_a_number_is_no_number():
    x = np.ones((1, 4, 4, 1), "float32")
    x[0, 0, 1] = np.nan
    arguments = ((2, 2), (2, 2), "valid", 1)
    y = MaxPool(*arguments).perform(x)
    assert np.isnan(y).ravel().tolist() == [True, False, False, False]
    back = PutAtMaximum(*arguments).perform(np.ones_like(y), x, y)
    assert back[0, :2, :2].ravel().tolist() == [0, 0, 0, 0]  # NaN equals nothing
    assert back.sum() == 3


def test_inputs_may_lie_in_memory_in_any_order():
    x = numbers((3, 6, 7, 5), "float32", ties=True)
    arguments = ((3, 2), (2, 2), "same", 1)
    y = MaxPool(*arguments).perform(x)
    turned = [np.asfortranarray(a) for a in (y + 1, x, y)]
    expected = PutAtMaximum(*arguments).perform(y + 1, x, y)
    assert check_kernel(PutAtMaximum(*arguments), turned).tobytes() == expected.tobytes()
    assert check_kernel(AveragePool(*arguments), turned[1:2]).tobytes() == (
        AveragePool(*arguments).perform(x).tobytes()
    )


@pytest.mark.parametrize(
    ("sizes", "strides", "padding", "length", "apart", "all_"),
    [
        ((2,), (2,), "valid", 8, True, True),
        ((2,), (2,), "valid", 9, True, False),
        ((2,), (2,), "same", 9, True, True),
        ((2,), (3,), "valid", 8, True, False),
        ((3,), (2,), "valid", 9, False, True),
    ],
)
def test_which_cells_lie_in_how_many_windows(sizes, strides, padding, length, apart, all_):
    windows = kernels.WindowOp(sizes, strides, padding, 1)
    assert windows.are_apart() is apart
    assert windows.cover_all((1, length, 1)) is all_
