"""The numbers of a convolution, with NumPy: images become columns, and one product does the rest.

A kernel of 3 x 3 places over 64 channels is a vector of 576 numbers for each filter. Lay the part
of the image under each position of the kernel out as a row of 576 numbers ("im2col"), and the whole
convolution is one product of two matrices, the operation that a processor does fastest.

Those rows repeat each number of the image nine times. So they are made block by block, small enough
for the processor's cache: `blocks` says which images and which rows of them come next.

Arrays here are (batch, size of each axis, channels), kernels (size of each axis, channels of a
group, filters).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kerascope.backend.ops.convolution_shapes import conv_output_length, zeros_around
from kerascope.errors import ShapeError

Sizes = tuple[int, ...]

BLOCK_BYTES = 1 << 20  # of columns at a time: about the processor's second cache
FEW_CHANNELS = 16  # below this number a product of matrices is too narrow to be fast


class Plan(NamedTuple):
    """Where the kernel moves over an input: all that the three sums below have in common.

    Attributes
    ----------
    sizes, output_sizes, kernel_sizes : tuple of int
        Of the axes between batch and channels.
    strides, dilation : tuple of int
    zeros : tuple of (int, int)
        Before and behind, along each axis.
    """

    sizes: Sizes
    output_sizes: Sizes
    kernel_sizes: Sizes
    strides: Sizes
    dilation: Sizes
    zeros: tuple[tuple[int, int], ...]

    @property
    def padded_sizes(self) -> Sizes:
        """Sizes of the input with the zeros around it."""
        return tuple(n + sum(z) for n, z in zip(self.sizes, self.zeros, strict=True))

    def places(self, position: Sizes, rows: slice) -> tuple[slice, ...]:
        """Return the places of a padded input that meet one position of the kernel.

        Those for the outputs of `rows` along the first axis, and for all along the others.
        """
        spans = [(rows.start, rows.stop), *((0, n) for n in self.output_sizes[1:])]
        starts = [i * d for i, d in zip(position, self.dilation, strict=True)]
        return tuple(
            slice(start + first * step, start + (last - 1) * step + 1, step)
            for start, (first, last), step in zip(starts, spans, self.strides, strict=True)
        )

    def positions(self) -> Iterator[Sizes]:
        """Yield each position inside the kernel."""
        return product(*(range(k) for k in self.kernel_sizes))


def plan(sizes: Sizes, kernel_sizes: Sizes, strides: Sizes, padding: str, dilation: Sizes) -> Plan:
    """Work out where a kernel moves.

    Raises
    ------
    ShapeError
        The kernel is larger than the input, or the input has no places at all.
    """
    if min(sizes) < 1:
        raise ShapeError(
            f"convolution: an input of sizes {sizes}; expected at least 1 along each axis."
        )
    axes = list(zip(sizes, kernel_sizes, strides, dilation, strict=True))
    output = [conv_output_length(n, k, padding, s, d) or 0 for n, k, s, d in axes]
    if min(output) < 1:
        raise ShapeError(
            f"convolution: a kernel of sizes {kernel_sizes} (dilation {dilation}) is larger than "
            f"an input of sizes {sizes}. Use a larger input, or padding='same'."
        )
    zeros = tuple(zeros_around(n, k, padding, s, d) for n, k, s, d in axes)
    return Plan(sizes, tuple(output), kernel_sizes, strides, dilation, zeros)


def padded(x: np.ndarray, plan: Plan) -> np.ndarray:
    """Return `x` with zeros around it; `x` itself if there are none."""
    if plan.padded_sizes == plan.sizes:
        return np.ascontiguousarray(x)
    result = np.zeros((len(x), *plan.padded_sizes, x.shape[-1]), x.dtype)
    result[inner_part(plan)] = x
    return result


def inner_part(plan: Plan) -> tuple[slice, ...]:
    """Return where the input lies among the zeros."""
    axes = zip(plan.sizes, plan.zeros, strict=True)
    return (slice(None), *(slice(before, before + n) for n, (before, _) in axes))


def blocks(batch: int, plan: Plan, bytes_per_place: int) -> Iterator[tuple[slice, slice]]:
    """Yield (images, rows of their output): whole images as long as they fit a block."""
    rows = plan.output_sizes[0]
    bytes_per_row = max(1, bytes_per_place * prod(plan.output_sizes[1:]))
    at_a_time = max(1, BLOCK_BYTES // bytes_per_row)
    if at_a_time >= rows:
        images = max(1, at_a_time // max(1, rows))
        for start in range(0, batch, images):
            yield slice(start, min(start + images, batch)), slice(0, rows)
        return
    for image in range(batch):
        for start in range(0, rows, at_a_time):
            yield slice(image, image + 1), slice(start, min(start + at_a_time, rows))


def windows(x: np.ndarray, plan: Plan) -> np.ndarray:
    """Return a padded input as (batch, output sizes, kernel sizes, channels), without copying."""
    count = len(plan.sizes)
    axes = range(1, count + 1)
    covered = [(k - 1) * d + 1 for k, d in zip(plan.kernel_sizes, plan.dilation, strict=True)]
    view = sliding_window_view(x, covered, tuple(axes))
    steps = [slice(None, None, step) for step in (*plan.strides, 1, *plan.dilation)]
    view = view[(slice(None), *steps)]
    return view.transpose(0, *axes, *range(count + 2, 2 * count + 2), count + 1)


def columns_of(view: np.ndarray, groups: int) -> np.ndarray:
    """Return windows as rows of numbers, (places, numbers); of groups (groups, places, numbers)."""
    count = (view.ndim - 2) // 2
    places, inside = prod(view.shape[: 1 + count]), prod(view.shape[1 + count : -1])
    channels = view.shape[-1]
    if groups == 1:
        return view.reshape(places, inside * channels)
    parts = view.reshape(places, inside, groups, channels // groups)
    return parts.transpose(2, 0, 1, 3).reshape(groups, places, inside * (channels // groups))


def kernel_matrix(kernel: np.ndarray, groups: int) -> np.ndarray:
    """Return a kernel as (numbers, filters), of groups as (groups, numbers, filters of one)."""
    matrix = kernel.reshape(-1, kernel.shape[-1])
    if groups == 1:
        return matrix
    return matrix.reshape(len(matrix), groups, -1).transpose(1, 0, 2)


def by_group(rows: np.ndarray, groups: int) -> np.ndarray:
    """Return (places, channels), of groups as (groups, places, channels of one)."""
    flat = rows.reshape(-1, rows.shape[-1])
    return flat if groups == 1 else flat.reshape(len(flat), groups, -1).transpose(1, 0, 2)


def convolve(x: np.ndarray, kernel: np.ndarray, plan: Plan, groups: int) -> np.ndarray:
    """Return the convolution: for each place the products with the kernel, summed."""
    result = np.empty((len(x), *plan.output_sizes, kernel.shape[-1]), x.dtype)
    view, matrix = windows(padded(x, plan), plan), kernel_matrix(kernel, groups)
    for images, rows in blocks(len(x), plan, x.itemsize * prod(view.shape[-len(plan.sizes) - 1 :])):
        part, columns = result[images, rows], columns_of(view[images, rows], groups)
        if groups == 1:
            np.matmul(columns, matrix, out=part.reshape(-1, kernel.shape[-1]))
        else:
            part[...] = (columns @ matrix).transpose(1, 0, 2).reshape(part.shape)
    return result


def convolve_back(g: np.ndarray, kernel: np.ndarray, plan: Plan, groups: int) -> np.ndarray:
    """Return the gradient by the input: each number of `g`, times the kernel, where it came from.

    At stride 1 that is again a convolution, of `g` with the kernel turned round. It is the faster
    way unless it would end in a handful of channels, or the kernel is larger than the image.
    """
    *_, channels, filters = kernel.shape
    places = len(g) * prod(plan.output_sizes)
    can_turn = groups == 1 and max(plan.strides) == 1
    if can_turn and channels >= FEW_CHANNELS and places >= 2 * filters:
        turned = np.flip(kernel, tuple(range(len(plan.sizes)))).swapaxes(-1, -2)
        return convolve(g, np.ascontiguousarray(turned), turned_plan(plan), 1)
    return _scattered_back(g, kernel, plan, groups)


def turned_plan(plan: Plan) -> Plan:
    """Return how the turned kernel moves over the output of a convolution with stride 1."""
    covered = [(k - 1) * d for k, d in zip(plan.kernel_sizes, plan.dilation, strict=True)]
    zeros = tuple(
        (extra - before, extra - behind)
        for extra, (before, behind) in zip(covered, plan.zeros, strict=True)
    )
    return plan._replace(sizes=plan.output_sizes, output_sizes=plan.sizes, zeros=zeros)


def _scattered_back(g: np.ndarray, kernel: np.ndarray, plan: Plan, groups: int) -> np.ndarray:
    """Return the gradient by the input, added up one position of the kernel after the other.

    The channels lie in front meanwhile: long rows are added faster than many short ones.
    """
    inside = kernel.shape[-2]
    total = np.zeros((groups, inside, len(g), *plan.padded_sizes), g.dtype)
    matrix = kernel_matrix(kernel, groups)
    for images, rows in blocks(len(g), plan, g.itemsize * matrix[..., 0].size):
        part = g[images, rows]
        products = matrix @ np.swapaxes(by_group(part, groups), -1, -2)
        products = products.reshape(groups, -1, inside, *part.shape[:-1])
        for number, position in enumerate(plan.positions()):
            place = (slice(None), slice(None), images, *plan.places(position, rows))
            total[place] += products[:, number]
    last = np.moveaxis(total.reshape(groups * inside, *total.shape[2:]), 0, -1)
    return np.ascontiguousarray(last[inner_part(plan)])


def kernel_gradient(
    x: np.ndarray, g: np.ndarray, shape: Sizes, plan: Plan, groups: int
) -> np.ndarray:
    """Return the gradient by the kernel, in its shape: the columns' numbers times those of `g`."""
    numbers = prod(shape[:-1])
    parts = (numbers, shape[-1]) if groups == 1 else (groups, numbers, shape[-1] // groups)
    total = np.zeros(parts, x.dtype)
    view = windows(padded(x, plan), plan)
    for images, rows in blocks(len(x), plan, x.itemsize * numbers * groups):
        columns = columns_of(view[images, rows], groups)
        total += np.swapaxes(columns, -1, -2) @ by_group(g[images, rows], groups)
    return (total if groups == 1 else total.transpose(1, 0, 2)).reshape(shape)


# --- every channel for itself ---------------------------------------------------------------------
#
# If a group is a single channel there is no sum over channels, so a product of matrices would be
# all overhead. Plain multiplications take its place, one for each position of the kernel.


def convolve_channels(x: np.ndarray, kernel: np.ndarray, plan: Plan, groups: int) -> np.ndarray:
    """Return the convolution of each channel with its own filters."""
    view = windows(padded(_for_each_filter(x, kernel.shape), plan), plan)
    axes, count = list(range(view.ndim)), len(plan.sizes)
    inside = axes[count + 1 :]  # the places of the kernel, and the channels
    return np.einsum(view, axes, kernel[..., 0, :], inside, [*axes[: count + 1], axes[-1]])


def convolve_channels_back(
    g: np.ndarray, kernel: np.ndarray, plan: Plan, groups: int
) -> np.ndarray:
    """Return the gradient by the input of a convolution of each channel."""
    total = np.zeros((len(g), *plan.padded_sizes, kernel.shape[-1]), g.dtype)
    filters = kernel[..., 0, :]
    for images, rows in blocks(len(g), plan, 4 * g.itemsize * kernel.shape[-1]):
        part = g[images, rows]
        for position in plan.positions():
            total[(images, *plan.places(position, rows))] += part * filters[position]
    inner = total[inner_part(plan)]
    return inner.reshape(*inner.shape[:-1], groups, inner.shape[-1] // groups).sum(axis=-1)


def channels_kernel_gradient(
    x: np.ndarray, g: np.ndarray, shape: Sizes, plan: Plan, groups: int
) -> np.ndarray:
    """Return the gradient by the kernel of a convolution of each channel."""
    total = np.zeros((*plan.kernel_sizes, shape[-1]), x.dtype)
    source = padded(_for_each_filter(x, shape), plan)
    axes = list(range(x.ndim))
    for images, rows in blocks(len(x), plan, 4 * x.itemsize * shape[-1]):
        part = g[images, rows]
        for position in plan.positions():
            met = source[(images, *plan.places(position, rows))]
            # Summed in two steps: einsum is fast as long as two axes are left.
            total[position] += np.einsum(met, axes, part, axes, axes[-2:]).sum(axis=0)
    return total.reshape(shape)


def _for_each_filter(x: np.ndarray, kernel_shape: Sizes) -> np.ndarray:
    """Return `x` with each channel as often as it has filters."""
    times = kernel_shape[-1] // x.shape[-1]
    return x if times == 1 else np.repeat(x, times, axis=-1)
