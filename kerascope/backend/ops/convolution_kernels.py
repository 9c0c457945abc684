"""NumPy routines for a convolution and its gradients, which write into a given array.

A kernel of 3 x 3 positions over 64 channels is a vector of 576 numbers for each filter. If the part
of the image under each place of the kernel is copied to a row of 576 numbers ("im2col"), the whole
convolution is one product of two matrices, the operation that a processor does fastest.

Those rows repeat each number of the image nine times. For the whole batch they would not fit the
processor's cache. So `Columns` makes them block by block in the same buffer, which is small enough
for the second-level cache.

Functions ending in `_into` take the shapes and return a routine (out, *inputs) that computes the
result. An op calls the routine at once (`perform`), and a compiled function keeps it (`kernel`), so
both compute the same numbers.

Arrays are (batch, size of each axis, channels). Kernels are (size of each axis, channels of a
group, filters).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from math import lcm, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kerascope.backend.arrays import aligned
from kerascope.backend.ops.windows import conv_output_length, zeros_around
from kerascope.errors import ShapeError

# --- scratch memory that convolutions and poolings share ------------------------------------------
#
# A network may have a hundred convolutions. Each needs a few megabytes while it computes, and none
# afterwards. So they share one buffer for each purpose, as large as the largest request so far.
# A new scratch array contains what its last user left.
#
# Each thread has its own buffers, so two threads can compute at the same time.


class _ScratchBuffers(threading.local):
    def __init__(self) -> None:
        self.by_purpose: dict[str, np.ndarray] = {}


_buffers = _ScratchBuffers()


def scratch_array(purpose: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an uninitialized array whose memory the next call with the same purpose reuses.

    Parameters
    ----------
    purpose : str
        Name of the buffer. Arrays that are needed at the same time need different names.
    shape : tuple of int
    dtype : numpy.dtype

    Examples
    --------
    >>> one = scratch_array("example", (2, 3), np.dtype("float32"))
    >>> other = scratch_array("example", (6,), np.dtype("float32"))
    >>> one.shape, np.shares_memory(one, other)
    ((2, 3), True)
    """
    needed = prod(shape) * dtype.itemsize
    buffer = _buffers.by_purpose.get(purpose)
    if buffer is None or buffer.nbytes < needed:
        buffer = _buffers.by_purpose[purpose] = aligned(needed)
    return buffer[:needed].view(dtype).reshape(shape)


def zero_around(x: np.ndarray, inside: tuple[slice, ...]) -> None:
    """Set `x` to zero outside of the region that the slices `inside` select."""
    for axis, span in enumerate(inside):
        if span.start:
            x[(*inside[:axis], slice(0, span.start))] = 0
        if span.stop is not None and span.stop < x.shape[axis]:
            x[(*inside[:axis], slice(span.stop, None))] = 0


# --- the plan of a convolution, its windows, and its blocks ---------------------------------------
#
# A processor adds and multiplies many times faster than main memory delivers numbers. So
# intermediate results are made block by block, small enough for the processor's cache. `blocks`
# yields the images and the rows of each block.


Sizes = tuple[int, ...]
Blocks = list[tuple[slice, slice]]

BLOCK_BYTES = 1 << 20  # of columns in a block: about the size of the second-level cache
LEAST_PLACES = 128  # in a block, if the input has them: with fewer, matrix products are slow


class ConvolutionPlan(NamedTuple):
    """How a kernel moves over an input. The convolution and both of its gradients use it.

    Attributes
    ----------
    sizes, output_sizes, kernel_sizes : tuple of int
        Sizes of the input, the output and the kernel, along the axes between batch and channels.
    strides, dilation : tuple of int
    zeros : tuple of (int, int)
        Number of zeros before and after the input, along each axis.
    """

    sizes: Sizes
    output_sizes: Sizes
    kernel_sizes: Sizes
    strides: Sizes
    dilation: Sizes
    zeros: tuple[tuple[int, int], ...]

    @property
    def padded_sizes(self) -> Sizes:
        """Sizes of the input, zeros included."""
        return tuple(n + sum(z) for n, z in zip(self.sizes, self.zeros, strict=True))

    def places(self, position: Sizes, rows: slice) -> tuple[slice, ...]:
        """Return the slices of the padded input that one kernel position is multiplied by.

        They have one element for each element of the output. Along the first axis, only the
        elements `rows` of the output are included.
        """
        spans = [(rows.start, rows.stop), *((0, n) for n in self.output_sizes[1:])]
        starts = [i * d for i, d in zip(position, self.dilation, strict=True)]
        return tuple(
            slice(start + first * step, start + (last - 1) * step + 1, step)
            for start, (first, last), step in zip(starts, spans, self.strides, strict=True)
        )

    def positions(self) -> Iterator[Sizes]:
        """Yield the indices of each position inside the kernel, row by row."""
        return product(*(range(k) for k in self.kernel_sizes))


def plan(
    sizes: Sizes, kernel_sizes: Sizes, strides: Sizes, padding: str, dilation: Sizes
) -> ConvolutionPlan:
    """Return the `ConvolutionPlan` of a kernel that moves over an input of these sizes.

    Raises
    ------
    ShapeError
        The kernel is larger than the input, or the input is empty.
    """
    if min(sizes) < 1:
        raise ShapeError(
            f"convolution: expected an input of at least size 1 along each axis, got {sizes}."
        )
    axes = list(zip(sizes, kernel_sizes, strides, dilation, strict=True))
    output = [conv_output_length(n, k, padding, s, d) or 0 for n, k, s, d in axes]
    if min(output) < 1:
        raise ShapeError(
            f"convolution: a kernel of sizes {kernel_sizes} (dilation {dilation}) is larger than "
            f"an input of sizes {sizes}. Use a larger input, or padding='same'."
        )
    zeros = tuple(zeros_around(n, k, padding, s, d) for n, k, s, d in axes)
    return ConvolutionPlan(sizes, tuple(output), kernel_sizes, strides, dilation, zeros)


def inner_part(plan: ConvolutionPlan) -> tuple[slice, ...]:
    """Return the slices that select the input, without its padding, from a padded input."""
    axes = zip(plan.sizes, plan.zeros, strict=True)
    return (slice(None), *(slice(before, before + n) for n, (before, _) in axes))


def blocks(
    batch: int, plan: ConvolutionPlan, bytes_per_place: int
) -> Iterator[tuple[slice, slice]]:
    """Divide a convolution into blocks that fit into the cache; yield (images, output rows).

    Both are slices. A block contains whole images if at least one fits, otherwise some output rows
    of one image.
    """
    rows, places = plan.output_sizes[0], prod(plan.output_sizes[1:])
    at_a_time = max(BLOCK_BYTES // max(bytes_per_place * places, 1), -(-LEAST_PLACES // places), 1)
    if at_a_time >= rows:
        for images in equal_parts(batch, at_a_time // rows):
            yield images, slice(0, rows)
        return
    for image in range(batch):
        for part in equal_parts(rows, at_a_time):
            yield slice(image, image + 1), part


def equal_parts(length: int, most: int) -> Iterator[slice]:
    """Yield adjacent slices that cover `range(length)`, of about equal length and at most `most`.

    Examples
    --------
    >>> list(equal_parts(10, 8))
    [slice(0, 5, None), slice(5, 10, None)]
    """
    count = -(-length // most)
    ends = [length * number // count for number in range(1, count + 1)] if count else []
    for start, end in zip([0, *ends], ends, strict=False):
        yield slice(start, end)


def windows(x: np.ndarray, plan: ConvolutionPlan) -> np.ndarray:
    """Return a view of all windows of a padded input: (batch, outputs, kernel sizes, channels)."""
    count = len(plan.sizes)
    axes = range(1, count + 1)
    covered = [(k - 1) * d + 1 for k, d in zip(plan.kernel_sizes, plan.dilation, strict=True)]
    view = sliding_window_view(x, covered, tuple(axes))
    steps = [slice(None, None, step) for step in (*plan.strides, 1, *plan.dilation)]
    view = view[(slice(None), *steps)]
    return view.transpose(0, *axes, *range(count + 2, 2 * count + 2), count + 1)


class Frame:
    """A buffer that holds the inputs of a block with zeros around them, reused for the next block.

    Parameters
    ----------
    blocks : list of (slice, slice)
        Images and output rows of each block, as the function `blocks` yields them.
    plan : ConvolutionPlan
    channels : int
    dtype : numpy.dtype
    times : int
        How often each channel is repeated.
    """

    def __init__(
        self, blocks: Blocks, plan: ConvolutionPlan, channels: int, dtype: np.dtype, times: int = 1
    ) -> None:
        self.inside, self.times, self.dtype = inner_part(plan), times, dtype
        self.is_needed = plan.padded_sizes != plan.sizes or times > 1
        self.shape = (largest(blocks)[0], *plan.padded_sizes, channels * times)

    def around(self, x: np.ndarray) -> np.ndarray:
        """Return a buffer for the padded images of a block; if no padding is needed, `x` itself."""
        return scratch_array("frame", self.shape, self.dtype) if self.is_needed else x

    def place(self, buffer: np.ndarray, x: np.ndarray, images: slice, rows: slice) -> slice:
        """Copy the images of a block into `buffer`, unless `buffer` is `x`.

        Return the slice of `buffer` that contains the images.
        """
        if not self.is_needed:
            return images
        here = slice(0, images.stop - images.start)
        if rows.start == 0:
            framed = buffer[here]
            zero_around(framed, self.inside)
            inner = framed[self.inside]
            each = inner.reshape(*inner.shape[:-1], -1, self.times)
            np.copyto(each, x[images][..., np.newaxis])
        return here


def largest(blocks: Blocks) -> tuple[int, int]:
    """Return the largest number of images and the largest number of rows in a block."""
    images = max((images.stop - images.start for images, _ in blocks), default=0)
    return images, max((rows.stop - rows.start for _, rows in blocks), default=0)


# --- the convolution, and its gradient with respect to the kernel ---------------------------------


Routine = Callable[..., None]

SHORT_RUN = 16  # adjacent numbers: copying shorter runs one by one is slow


class Columns:
    """The im2col matrices of inputs of one shape, block by block.

    Parameters
    ----------
    batch : int
    plan : ConvolutionPlan
        Where the kernel moves.
    channels : int
    dtype : numpy.dtype

    Notes
    -----
    The matrix of a block has one row for each place of the output and one column for each number
    under the kernel. With few channels, too few of these numbers are adjacent in the input to be
    copied efficiently. Then the matrix is stored transposed, so that the places of a whole row are
    adjacent. The product with the kernel is the same.
    """

    def __init__(self, batch: int, plan: ConvolutionPlan, channels: int, dtype: np.dtype) -> None:
        self.plan = plan
        self.numbers = prod(plan.kernel_sizes) * channels
        self.blocks = list(blocks(batch, plan, self.numbers * dtype.itemsize))
        self.run = plan.kernel_sizes[-1] * channels if plan.dilation[-1] == 1 else channels
        places = max((self._places(*block) for block in self.blocks), default=0)
        self.buffer_size, self.dtype = places * self.numbers, dtype
        self.frame = Frame(self.blocks, plan, channels, dtype)

    def _places(self, images: slice, rows: slice) -> int:
        inside = prod(self.plan.output_sizes[1:])
        return (images.stop - images.start) * (rows.stop - rows.start) * inside

    def of(self, x: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield for each block its rows of the output, as a slice, and its im2col matrix.

        The rows are those of the output reshaped to a matrix (places, filters). The matrices of all
        blocks use the same buffer.
        """
        start = 0
        buffer = scratch_array("columns", (self.buffer_size,), self.dtype)
        source = self.frame.around(x)
        view = windows(source, self.plan)
        for images, rows in self.blocks:
            part = view[self.frame.place(source, x, images, rows), rows]
            stop = start + self._places(images, rows)
            yield slice(start, stop), self._copy(part, buffer[: (stop - start) * self.numbers])
            start = stop

    def _copy(self, part: np.ndarray, buffer: np.ndarray) -> np.ndarray:
        """Copy the windows `part` to `buffer`, and return them as the im2col matrix.

        `part` has the shape (images, outputs, kernel sizes, channels).
        """
        if self.run >= SHORT_RUN:
            np.copyto(buffer.reshape(part.shape), part)
            return buffer.reshape(-1, self.numbers)
        axes = range(part.ndim)
        middle = len(self.plan.sizes) + 1
        turned = part.transpose(*axes[middle:], *axes[:middle])
        np.copyto(buffer.reshape(turned.shape), turned)
        return buffer.reshape(self.numbers, -1).T


def is_pointwise(plan: ConvolutionPlan) -> bool:
    """Return whether kernel size and strides are 1 and no zeros are added around the input.

    Then the input itself, reshaped, is the im2col matrix.
    """
    return prod(plan.kernel_sizes) == max(plan.strides) == 1 and plan.padded_sizes == plan.sizes


def as_rows(x: np.ndarray) -> np.ndarray:
    """Return an array as a matrix (places, channels): all axes but the last are merged."""
    return np.ascontiguousarray(x).reshape(-1, x.shape[-1])


def group_slices(groups: int, channels: int, filters: int) -> list[tuple[slice, slice]]:
    """Return the slices (input channels, filters) of each group of a grouped convolution."""
    c, f = channels // groups, filters // groups
    return [(slice(g * c, (g + 1) * c), slice(g * f, (g + 1) * f)) for g in range(groups)]


def convolve_into(
    x_shape: Sizes, kernel_shape: Sizes, dtype: np.dtype, plan: ConvolutionPlan, groups: int
) -> Routine:
    """Return a function (out, x, kernel) that convolves inputs of these shapes."""
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
    x_shape: Sizes, kernel_shape: Sizes, dtype: np.dtype, plan: ConvolutionPlan, groups: int
) -> Routine:
    """Return a function (out, x, g, sizes) for a convolution's gradient with respect to the kernel.

    The gradient is the transposed im2col matrix times the output gradient `g`, summed over all
    blocks.
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
        addend = scratch_array("sum", shape_of_one, dtype)
        came, result = as_rows(g), out.reshape(-1, filters)
        out.fill(0)
        for own, made in parts:
            total = result[:, made]
            for places, numbers in columns.of(x[..., own]):
                np.matmul(numbers.T, came[places, made], out=addend)
                np.add(total, addend, out=total)

    return add_up


# --- depthwise convolutions: each group is a single channel ---------------------------------------
#
# If a group is a single channel there is no sum over channels, so a product of matrices would be
# all overhead. Elementwise products are faster:
#
#     out = sum over the positions of the kernel of x[places of the position] * kernel[position]
#
# Each product needs three numbers from memory, so memory limits the speed. Blocks are small enough
# for the processor's cache. At stride 1, neighbouring columns of an image are adjacent in memory:
# NumPy then processes a whole row at once, with the kernel's numbers repeated along it, instead of
# a short run for each column.
#
# The functions are like those above. Kernels are (size of each axis, 1, filters), and a channel has
# filters // groups filters.


SHARE = 4  # a block has this fraction of the usual size, because several such arrays are in use


def convolve_channels_into(
    x_shape: Sizes, kernel_shape: Sizes, dtype: np.dtype, plan: ConvolutionPlan, groups: int
) -> Routine:
    """Return a function (out, x, kernel) that convolves each channel with its own filters."""
    filters, columns = kernel_shape[-1], plan.output_sizes[-1]
    parts = list(blocks(x_shape[0], plan, SHARE * dtype.itemsize * filters))
    frame = Frame(parts, plan, groups, dtype, filters // groups)
    repeated = columns if plan.strides[-1] == 1 else 1
    weights_shape = (*plan.kernel_sizes, repeated, filters)
    count = len(plan.sizes)
    inside = [*range(count + 1, 2 * count + 1)]  # the axes of the windows: those of the kernel
    order_out = [*range(count + 1), 2 * count + 1]
    # The last axis of places is put next to the channels, so that both can become one axis.
    order = [*range(count), *inside, count, 2 * count + 1]

    def convolve(out: np.ndarray, x: np.ndarray, kernel: np.ndarray) -> None:
        weights = scratch_array("weights", weights_shape, dtype)
        np.copyto(weights, kernel.reshape(*plan.kernel_sizes, 1, filters))
        source = frame.around(np.ascontiguousarray(x))
        view = windows(source, plan)
        for images, rows in parts:
            part = view[frame.place(source, x, images, rows), rows].transpose(order)
            row, result = weights[..., : part.shape[-2], :], out[images, rows]
            if repeated > 1:
                part, row, result = (_last_as_one(array) for array in (part, row, result))
                np.einsum(part, order[:-1], row, order[count:-1], order_out[:-1], out=result)
            else:
                np.einsum(part, order, row, order[count:], order_out, out=result)

    return convolve


def _last_as_one(x: np.ndarray) -> np.ndarray:
    """Return a view in which the last two axes are merged into one."""
    return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])


def convolve_channels_back_into(
    g_shape: Sizes, kernel_shape: Sizes, dtype: np.dtype, plan: ConvolutionPlan, groups: int
) -> Routine:
    """Return a function (out, g, kernel, sizes) for a depthwise convolution's input gradient.

    `g` is the convolution's output gradient. At stride 1 with one filter per channel, the gradient
    is again a convolution, of the output gradient `g` with the flipped kernel. Otherwise each
    element of `g`, times the kernel, is added to the inputs that its output was computed from.
    """
    filters = kernel_shape[-1]
    if max(plan.strides) == 1 and filters == groups:
        convolve = convolve_channels_into(g_shape, kernel_shape, dtype, turned_plan(plan), groups)
        axes = tuple(range(len(plan.sizes)))

        def turn(out: np.ndarray, g: np.ndarray, kernel: np.ndarray, sizes: np.ndarray) -> None:
            convolve(out, g, np.flip(kernel, axes))

        return turn
    parts = list(blocks(g_shape[0], plan, SHARE * dtype.itemsize * filters))
    images_at_once, rows_at_once = largest(parts)
    products_shape = (images_at_once, rows_at_once, *plan.output_sizes[1:], filters)
    totals_shape = (images_at_once, *plan.padded_sizes, filters)

    def send_back(out: np.ndarray, g: np.ndarray, kernel: np.ndarray, sizes: np.ndarray) -> None:
        buffer = scratch_array("product", products_shape, dtype)
        totals = scratch_array("totals", totals_shape, dtype)
        for images, rows in parts:
            part = g[images, rows]
            total, products = totals[: len(part)], buffer[: len(part), : part.shape[1]]
            if rows.start == 0:
                total.fill(0)
            for position in plan.positions():
                place = total[(slice(None), *plan.places(position, rows))]
                np.multiply(part, kernel[position], out=products)
                np.add(place, products, out=place)
            if rows.stop == plan.output_sizes[0]:
                inner = total[inner_part(plan)]
                by_channel = inner.reshape(*inner.shape[:-1], groups, filters // groups)
                np.add.reduce(by_channel, axis=-1, out=out[images])

    return send_back


def turned_plan(plan: ConvolutionPlan) -> ConvolutionPlan:
    """Return the plan for the gradient of a convolution of stride 1 with respect to its input.

    The flipped kernel moves over the output gradient.
    """
    covered = [(k - 1) * d for k, d in zip(plan.kernel_sizes, plan.dilation, strict=True)]
    zeros = tuple(
        (extra - before, extra - behind)
        for extra, (before, behind) in zip(covered, plan.zeros, strict=True)
    )
    return plan._replace(sizes=plan.output_sizes, output_sizes=plan.sizes, zeros=zeros)


def channels_kernel_gradient_into(
    x_shape: Sizes, kernel_shape: Sizes, dtype: np.dtype, plan: ConvolutionPlan, groups: int
) -> Routine:
    """Return a function (out, x, g, sizes) for a depthwise convolution's kernel gradient.

    `g` is the convolution's output gradient.
    """
    filters = kernel_shape[-1]
    parts = list(blocks(x_shape[0], plan, SHARE * dtype.itemsize * filters))
    frame = Frame(parts, plan, groups, dtype, filters // groups)
    axes = list(range(len(x_shape)))

    def add_up(out: np.ndarray, x: np.ndarray, g: np.ndarray, sizes: np.ndarray) -> None:
        total = out.reshape(*plan.kernel_sizes, filters)
        source, came = frame.around(np.ascontiguousarray(x)), np.ascontiguousarray(g)
        out.fill(0)
        for images, rows in parts:
            image, part = source[frame.place(source, x, images, rows)], came[images, rows]
            for position in plan.positions():
                met = image[(slice(None), *plan.places(position, rows))]
                # Summed in two steps, because einsum is fast only if two axes remain.
                total[position] += np.einsum(met, axes, part, axes, axes[-2:]).sum(axis=0)

    return add_up


# --- the gradient of a convolution with respect to its input --------------------------------------
#
# Each number of `g`, times the kernel, is added to the inputs that it was computed from. For one
# position of the kernel this is a product of two matrices, (places, filters) by (filters,
# channels). Its rows are added to the places of the input, all shifted by the same distance:
#
#     total[p + shift] += g[p] @ kernel[position].T      for all p at once
#
# If the rows of `g` are padded with zeros to the width of the input, the shift is the same number
# in each row. Then the sum is one call on two long runs of memory, the fastest way to add. The
# buffer holds a few images at a time, small enough for the second-level cache.
#
# With a stride of 2 the positions of the kernel fall into classes, even and odd. Each class is
# multiplied by every second place of the input only, and for these the shift is again the same.


FEW_CHANNELS = 16  # below this number a product of matrices is too narrow to be fast
ENOUGH_CHANNELS = 128  # from this number on one position of the kernel makes it wide enough


def convolve_back_into(
    g_shape: Sizes, kernel_shape: Sizes, dtype: np.dtype, plan: ConvolutionPlan, groups: int
) -> Routine:
    """Return a function (out, g, kernel, sizes) for a convolution's input gradient.

    `g` is the convolution's output gradient.
    """
    *_, channels, filters = kernel_shape
    parts = group_slices(groups, channels * groups, filters)

    def pointwise(out: np.ndarray, g: np.ndarray, kernel: np.ndarray, sizes: np.ndarray) -> None:
        came, matrix, result = as_rows(g), as_rows(kernel), out.reshape(-1, channels * groups)
        for own, made in parts:
            np.matmul(came[:, made], matrix[:, made].T, out=result[:, own])

    if is_pointwise(plan):
        return pointwise
    way: Any = ShiftedBack if channels >= FEW_CHANNELS else ScatteredBack
    one_group = way(g_shape[0], plan, channels, filters // groups, dtype)

    def send_back(out: np.ndarray, g: np.ndarray, kernel: np.ndarray, sizes: np.ndarray) -> None:
        weights = np.ascontiguousarray(kernel)
        for own, made in parts:
            one_group(out[..., own], g[..., made], weights[..., made])

    return send_back


class Stripe(NamedTuple):
    """Adjacent kernel positions whose products with the output gradient are computed together.

    Attributes
    ----------
    places : tuple of slice
        The kernel positions along each axis. Only the last slice may have several positions.
    shift : int
        Distance, in a flattened `Grid`, from an element of the output gradient to the first element
        to which the product with it is added.
    """

    places: tuple[slice, ...]
    shift: int


class Grid(NamedTuple):
    """The elements of a convolution's input that meet the same kernel positions.

    These kernel positions have equal remainders when divided by the strides. So the elements are as
    far from each other as the strides, and form a grid inside the input.

    Attributes
    ----------
    residue : tuple of int
        The remainder along each axis. Element i of the grid is element i * stride + residue of the
        padded input.
    stripes : list of Stripe
        All kernel positions that meet the grid.
    run : int
        Number of positions in each stripe.
    """

    residue: Sizes
    stripes: list[Stripe]
    run: int


def grid_sizes(plan: ConvolutionPlan) -> Sizes:
    """Return the sizes of a `Grid`: those of the output gradient, plus the largest shift.

    The product of a `Stripe` and the output gradient is added to the grid with a shift. Along each
    axis, the shift is at most (kernel size - 1) * dilation / stride, rounded down.
    """
    axes = zip(plan.output_sizes, plan.kernel_sizes, plan.strides, plan.dilation, strict=True)
    return tuple(o + (k - 1) * d // s for o, k, s, d in axes)


def grids(plan: ConvolutionPlan, channels: int) -> Iterator[Grid]:
    """Yield a `Grid` for each set of kernel positions with equal remainders modulo the strides.

    The kernel positions of a grid form stripes. With few channels, a stripe is a row of adjacent
    kernel positions, because the matrix of a single position would be too narrow for a fast
    product. Otherwise a stripe is a single position.

    Examples
    --------
    >>> from kerascope.backend.ops.convolution_kernels import plan
    >>> [grid] = grids(plan((28, 28), (3, 3), (1, 1), "valid", (1, 1)), channels=32)
    >>> [stripe.shift for stripe in grid.stripes], grid.run
    ([0, 28, 56], 3)
    """
    sizes = grid_sizes(plan)
    steps = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    classes: dict[Sizes, list[tuple[Sizes, int]]] = {}
    for position in plan.positions():
        meets = [i * d for i, d in zip(position, plan.dilation, strict=True)]
        residue = tuple(m % s for m, s in zip(meets, plan.strides, strict=True))
        shifts = [m // s for m, s in zip(meets, plan.strides, strict=True)]
        shift = sum(m * step for m, step in zip(shifts, steps, strict=True))
        classes.setdefault(residue, []).append((position, shift))
    for residue, places in classes.items():
        row = [
            (position, shift) for position, shift in places if position[:-1] == places[0][0][:-1]
        ]
        side_by_side = all(b[1] - a[1] == 1 for a, b in pairwise(row))
        run = len(row) if side_by_side and channels < ENOUGH_CHANNELS else 1
        apart = row[1][0][-1] - row[0][0][-1] if run > 1 else 1
        stripes = [
            Stripe(
                (
                    *(slice(i, i + 1) for i in position[:-1]),
                    slice(position[-1], position[-1] + (run - 1) * apart + 1, apart),
                ),
                shift,
            )
            for position, shift in places[::run]
        ]
        yield Grid(residue, stripes, run)


class ShiftedBack:
    """Computes the gradient of a convolution with respect to inputs of one shape, on `Grid`s.

    A `Grid` contains the elements of the input that meet the same kernel positions; the positions
    form stripes. Each stripe is multiplied by the output gradient. The products are added to the
    grid's total with a shift, and the totals are copied to the input's gradient.

    Parameters
    ----------
    batch : int
    plan : ConvolutionPlan
    channels, filters : int
        Numbers of channels and filters in one group.
    dtype : numpy.dtype
    """

    def __init__(
        self, batch: int, plan: ConvolutionPlan, channels: int, filters: int, dtype: np.dtype
    ) -> None:
        self.plan, self.channels, self.filters = plan, channels, filters
        self.grids = list(grids(plan, channels))
        self.sizes = grid_sizes(plan)
        self.row = prod(self.sizes[1:])  # places of a grid in one step along the first axis
        whole = lcm(*(grid.run for grid in self.grids))
        self.blocks = list(blocks(batch, plan, (channels + filters) * dtype.itemsize))
        images, rows = largest(self.blocks)
        self.places = -(-rows * self.row // whole) * whole  # of a block of one image, on the grid
        self.images, self.dtype = images, dtype
        last = max((part.start for _, part in self.blocks), default=0) * self.row
        furthest = max(stripe.shift for grid in self.grids for stripe in grid.stripes) + whole
        self.length = last + self.places + furthest
        self.covers = self._covers_all()

    def _covers_all(self) -> bool:
        """Return whether each element of the input is on a `Grid`, so that it gets a gradient.

        If not, `__call__` first sets the input's gradient to 0.
        """
        return len(self.grids) == prod(self.plan.strides) and all(
            n * s >= p
            for n, s, p in zip(self.sizes, self.plan.strides, self.plan.padded_sizes, strict=True)
        )

    def __call__(self, out: np.ndarray, g: np.ndarray, kernel: np.ndarray) -> None:
        """Compute the gradient with respect to the input into `out`."""
        matrices = [[self._matrix(kernel, s) for s in grid.stripes] for grid in self.grids]
        size = (len(self.grids), self.images, self.length * self.channels)
        totals = scratch_array("totals", size, self.dtype)
        grads = scratch_array("came", (self.images, self.places, self.filters), self.dtype)
        if not self.covers:
            out.fill(0)
        for images, rows in self.blocks:
            count = images.stop - images.start
            total, came = totals[:, :count], grads[:count]
            if rows.start == 0:
                total.fill(0)
            self._lay_out(g[images, rows], came)
            for grid, part, own in zip(self.grids, total, matrices, strict=True):
                self._add_up(grid, came, own, part[:, rows.start * self.row * self.channels :])
            if rows.stop == self.plan.output_sizes[0]:
                self._hand_out(total, out[images])

    def _matrix(self, kernel: np.ndarray, stripe: Stripe) -> np.ndarray:
        """Return the kernel at the positions of a `Stripe`: (filters, positions * channels)."""
        return kernel[stripe.places].reshape(-1, self.filters).T

    def _lay_out(self, g: np.ndarray, came: np.ndarray) -> None:
        """Copy the output gradient `g` into `came`, padded with zeros to the size of a `Grid`."""
        count, rows = g.shape[:2]
        grid = came[:, : rows * self.row].reshape(count, rows, *self.sizes[1:], self.filters)
        inside = tuple(slice(0, n) for n in g.shape[:-1])
        zero_around(grid, inside)
        grid[inside] = g
        came[:, rows * self.row :] = 0

    def _add_up(
        self, grid: Grid, came: np.ndarray, matrices: list[np.ndarray], total: np.ndarray
    ) -> None:
        """Add the products of the output gradient `came` with each stripe of a grid to `total`.

        A stripe of 3 kernel positions adds to 3 elements of the total for each element of the
        output gradient. So only every third element of the output gradient is processed at a time:
        the results for these elements are adjacent and do not overlap.
        """
        count, run, channels = len(came), grid.run, self.channels
        flat = scratch_array("product", (count, self.places * channels), self.dtype)
        products = flat.reshape(-1, run * channels)
        by_run = came.reshape(-1, run, self.filters)
        for stripe, matrix in zip(grid.stripes, matrices, strict=True):
            for first in range(run):
                np.matmul(by_run[:, first], matrix, out=products)
                begin = (stripe.shift + first) * channels
                place = total[:, begin : begin + self.places * channels]
                np.add(place, flat, out=place)

    def _hand_out(self, totals: np.ndarray, out: np.ndarray) -> None:
        """Copy the total of each `Grid` to its elements of `out`, the gradient of the input."""
        plan, count = self.plan, len(out)
        for grid, total in zip(self.grids, totals, strict=True):
            whole = total[:, : prod(self.sizes) * self.channels]
            laid = whole.reshape(count, *self.sizes, self.channels)
            there, here = [slice(None)], [slice(None)]
            facts = zip(grid.residue, plan.strides, plan.zeros, plan.sizes, self.sizes, strict=True)
            for residue, step, (before, _), size, places in facts:
                first = max(-((residue - before) // step), 0)  # the first after the zeros
                start = first * step + residue - before
                number = max(min(places - first, -(-(size - start) // step)), 0)
                here.append(slice(first, first + number))
                there.append(slice(start, start + number * step, step) if number else slice(0, 0))
            out[tuple(there)] = laid[tuple(here)]


class ScatteredBack:
    """Computes the gradient of a convolution with respect to inputs with few channels.

    Its parameters are those of `ShiftedBack`. The product of kernel and output gradient has one row
    for each position and channel of the kernel, and one column for each place of the output. With
    few channels these are few long rows, which are added faster than many short ones.
    """

    def __init__(
        self, batch: int, plan: ConvolutionPlan, channels: int, filters: int, dtype: np.dtype
    ) -> None:
        self.plan, self.filters = plan, filters
        self.numbers = prod(plan.kernel_sizes) * channels
        self.blocks = list(blocks(batch, plan, self.numbers * dtype.itemsize))
        images, rows = largest(self.blocks)
        places = images * rows * prod(plan.output_sizes[1:])
        self.addendsize, self.dtype = self.numbers * places, dtype
        self.shape = (channels, images, *plan.padded_sizes)

    def __call__(self, out: np.ndarray, g: np.ndarray, kernel: np.ndarray) -> None:
        """Compute the gradient with respect to the input into `out`."""
        plan, channels = self.plan, self.shape[0]
        matrix = as_rows(kernel)
        buffer = scratch_array("product", (self.addendsize,), self.dtype)
        totals = scratch_array("totals", self.shape, self.dtype)
        for images, rows in self.blocks:
            if rows.start == 0:
                totals.fill(0)
            part = as_rows(g[images, rows])
            shape = (-1, channels, images.stop - images.start, rows.stop - rows.start)
            products = buffer[: self.numbers * len(part)].reshape(self.numbers, -1)
            np.matmul(matrix, part.T, out=products)
            parts = products.reshape(*shape, *plan.output_sizes[1:])
            total = totals[:, : shape[2]]
            for number, position in enumerate(plan.positions()):
                place = total[(slice(None), slice(None), *plan.places(position, rows))]
                np.add(place, parts[number], out=place)
            if rows.stop == plan.output_sizes[0]:
                out[images] = np.moveaxis(total, 0, -1)[inner_part(plan)]
