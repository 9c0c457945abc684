"""What every kernel must keep to."""

import numpy as np

from kerascope.backend.arrays import Spec
from kerascope.backend.ops import convolution_kernels


def dirty(shape, dtype):
    """Return memory that holds what no result may show: NaN, or the largest number."""
    out = np.empty(shape, dtype)
    out.fill(np.nan if out.dtype.kind == "f" else np.iinfo(dtype).max)
    return out


def spoil_buffers():
    """Fill the scratch memory that kernels share with NaN."""
    for buffer in convolution_kernels._buffers.by_purpose.values():
        buffer.fill(255)


def other_numbers(inputs):
    """Return inputs of the same shapes, with other numbers; whole ones are sizes and stay."""
    return [x if x.dtype.kind != "f" else (x[..., ::-1] + 1).astype(x.dtype) for x in inputs]


def check_kernel(op, inputs):
    """Check that an op's kernel gives the bits of `perform`, again and again; return them."""
    expected = op.perform(*inputs)
    before = [x.copy() for x in inputs]
    kernel = op.kernel(
        [Spec(x.shape, x.dtype) for x in inputs], [Spec(expected.shape, expected.dtype)]
    )
    assert kernel is not None
    others = other_numbers(inputs)
    for given, wanted in (
        (inputs, expected),
        (others, op.perform(*others)),
        (inputs, expected),
    ):
        out = dirty(expected.shape, expected.dtype)
        spoil_buffers()
        kernel(out, *given)
        assert out.tobytes() == wanted.tobytes()
    for x, kept in zip(inputs, before, strict=True):
        assert x.tobytes() == kept.tobytes()
    return expected
