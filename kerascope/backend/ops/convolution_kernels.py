"""The numbers of a convolution and of its gradient by the kernel, into memory that is given.

A kernel of 3 x 3 places over 64 channels is a vector of 576 numbers for each filter. Lay the part
of the image under each position of the kernel out as a row of 576 numbers ("im2col"), and the whole
convolution is one product of two matrices, the operation that a processor does fastest.

Those rows repeat each number of the image nine times. Made for the whole batch at once, they would
go out to main memory and come back. So they are made block by block, in the same room again and
again (`Columns`), small enough for the processor's second cache, where the product finds them.

A function here that ends in `_into` looks at the shapes and returns what computes: a function of
(out, *inputs), which owns the room that it needs. The op calls it at once (`perform`), a compiled
function keeps it (`kernel`): so both compute the same numbers.

Arrays are (batch, size of each axis, channels), kernels (size of each axis, channels of a group,
filters).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

import numpy as np

from kerascope.backend.ops.convolution_arrays import Frame, Plan, Sizes, blocks, windows
from kerascope.backend.ops.convolution_room import shared_room

Routine = Callable[..., None]

SHORT_RUN = 16  # numbers that lie side by side: below this, copying them one run a time is slow


class Columns:
    """The columns of inputs of one shape, block by block.

    Parameters
    ----------
    batch : int
    plan : Plan
        Where the kernel moves.
    channels : int
    dtype : numpy.dtype

    Notes
    -----
    A block has one row for each place of the output and one column for each number under the
    kernel. With few channels the numbers that lie side by side in the input are too few to be
    copied as a piece. Then the block lies in memory the other way round, in which the places of a
    whole row lie side by side. For the product it is all the same.
    """

    def __init__(self, batch: int, plan: Plan, channels: int, dtype: np.dtype) -> None:
        self.plan = plan
        self.numbers = prod(plan.kernel_sizes) * channels
        self.blocks = list(blocks(batch, plan, self.numbers * dtype.itemsize))
        self.run = plan.kernel_sizes[-1] * channels if plan.dilation[-1] == 1 else channels
        places = max((self._places(*block) for block in self.blocks), default=0)
        self.room_size, self.dtype = places * self.numbers, dtype
        self.frame = Frame(self.blocks, plan, channels, dtype)

    def _places(self, images: slice, rows: slice) -> int:
        inside = prod(self.plan.output_sizes[1:])
        return (images.stop - images.start) * (rows.stop - rows.start) * inside

    def of(self, x: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (places of the output, their columns); the next block overwrites the last one."""
        start = 0
        room = shared_room("columns", (self.room_size,), self.dtype)
        source = self.frame.around(x)
        view = windows(source, self.plan)
        for images, rows in self.blocks:
            part = view[self.frame.place(source, x, images, rows), rows]
            stop = start + self._places(images, rows)
            yield slice(start, stop), self._laid_out(part, room[: (stop - start) * self.numbers])
            start = stop

    def _laid_out(self, part: np.ndarray, room: np.ndarray) -> np.ndarray:
        """Copy windows (images, output sizes, kernel sizes, channels) as (places, numbers)."""
        if self.run >= SHORT_RUN:
            np.copyto(room.reshape(part.shape), part)
            return room.reshape(-1, self.numbers)
        axes = range(part.ndim)
        middle = len(self.plan.sizes) + 1
        turned = part.transpose(*axes[middle:], *axes[:middle])
        np.copyto(room.reshape(turned.shape), turned)
        return room.reshape(self.numbers, -1).T


def is_pointwise(plan: Plan) -> bool:
    """Tell whether the rows of columns would be the input itself: a kernel of a single place."""
    return prod(plan.kernel_sizes) == max(plan.strides) == 1 and plan.padded_sizes == plan.sizes


def as_rows(x: np.ndarray) -> np.ndarray:
    """Return (places, channels) of an array whose last axis is that of channels."""
    return np.ascontiguousarray(x).reshape(-1, x.shape[-1])


def group_slices(groups: int, channels: int, filters: int) -> list[tuple[slice, slice]]:
    """Return which channels and which filters each group has."""
    c, f = channels // groups, filters // groups
    return [(slice(g * c, (g + 1) * c), slice(g * f, (g + 1) * f)) for g in range(groups)]


def convolve_into(
    x_shape: Sizes, kernel_shape: Sizes, dtype: np.dtype, plan: Plan, groups: int
) -> Routine:
    """Return the function (out, x, kernel) that convolves inputs of these shapes."""
    channels, filters = x_shape[-1], kernel_shape[-1]
    parts = group_slices(groups, channels, filters)
    if is_pointwise(plan):

        def pointwise(out: np.ndarray, x: np.ndarray, kernel: np.ndarray) -> None:
            rows, matrix, result = as_rows(x), as_rows(kernel), out.reshape(-1, filters)
            for own, made in parts:
                np.matmul(rows[:, own], matrix[:, made], out=result[:, made])

        return pointwise
    columns = Columns(x_shape[0], plan, channels // groups, dtype)

    def convolve(out: np.ndarray, x: np.ndarray, kernel: np.ndarray) -> None:
        matrix, result = as_rows(kernel), out.reshape(-1, filters)
        for own, made in parts:
            for places, numbers in columns.of(x[..., own]):
                np.matmul(numbers, matrix[:, made], out=result[places, made])

    return convolve


def kernel_gradient_into(
    x_shape: Sizes, kernel_shape: Sizes, dtype: np.dtype, plan: Plan, groups: int
) -> Routine:
    """Return the function (out, x, g, sizes) for the gradient by the kernel.

    It is the product of the columns, turned, with `g`: the sum over the places of all blocks.
    """
    channels, filters = x_shape[-1], kernel_shape[-1]
    parts = group_slices(groups, channels, filters)
    if is_pointwise(plan):

        def pointwise(out: np.ndarray, x: np.ndarray, g: np.ndarray, sizes: np.ndarray) -> None:
            rows, came, result = as_rows(x), as_rows(g), out.reshape(-1, filters)
            for own, made in parts:
                np.matmul(rows[:, own].T, came[:, made], out=result[:, made])

        return pointwise
    columns = Columns(x_shape[0], plan, channels // groups, dtype)
    shape_of_one = (prod(kernel_shape[:-1]), filters // groups)

    def add_up(out: np.ndarray, x: np.ndarray, g: np.ndarray, sizes: np.ndarray) -> None:
        room = shared_room("sum", shape_of_one, dtype)
        came, result = as_rows(g), out.reshape(-1, filters)
        out.fill(0)
        for own, made in parts:
            total = result[:, made]
            for places, numbers in columns.of(x[..., own]):
                np.matmul(numbers.T, came[places, made], out=room)
                np.add(total, room, out=total)

    return add_up
