"""Where a kernel moves over arrays: the plan of a convolution, its windows, and its blocks.

A processor adds and multiplies many times faster than main memory delivers numbers. So what a
convolution makes on its way is made block by block, small enough for the processor's cache:
`blocks` says which images and which rows of them come next.

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

from kerascope.backend.ops.convolution_room import shared_room, zero_around
from kerascope.backend.ops.convolution_shapes import conv_output_length, zeros_around
from kerascope.errors import ShapeError

Sizes = tuple[int, ...]
Blocks = list[tuple[slice, slice]]

BLOCK_BYTES = 1 << 20  # of columns at a time: about the processor's second cache
LEAST_PLACES = 128  # in a block, if there are so many: with fewer a product of matrices is slow


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


def inner_part(plan: Plan) -> tuple[slice, ...]:
    """Return where the input lies among the zeros."""
    axes = zip(plan.sizes, plan.zeros, strict=True)
    return (slice(None), *(slice(before, before + n) for n, (before, _) in axes))


def blocks(batch: int, plan: Plan, bytes_per_place: int) -> Iterator[tuple[slice, slice]]:
    """Yield (images, rows of their output): whole images as long as they fit a block."""
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
    """Yield slices of at most so many, and of about the same length.

    Examples
    --------
    >>> list(equal_parts(10, 8))
    [slice(0, 5, None), slice(5, 10, None)]
    """
    count = -(-length // most)
    ends = [length * number // count for number in range(1, count + 1)] if count else []
    for start, end in zip([0, *ends], ends, strict=False):
        yield slice(start, end)


def windows(x: np.ndarray, plan: Plan) -> np.ndarray:
    """Return a padded input as (batch, output sizes, kernel sizes, channels), without copying."""
    count = len(plan.sizes)
    axes = range(1, count + 1)
    covered = [(k - 1) * d + 1 for k, d in zip(plan.kernel_sizes, plan.dilation, strict=True)]
    view = sliding_window_view(x, covered, tuple(axes))
    steps = [slice(None, None, step) for step in (*plan.strides, 1, *plan.dilation)]
    view = view[(slice(None), *steps)]
    return view.transpose(0, *axes, *range(count + 2, 2 * count + 2), count + 1)


class Frame:
    """Zeros around the inputs of a block, in room that is used again for the next block.

    Parameters
    ----------
    blocks : list of (slice, slice)
        What `blocks` gives.
    plan : Plan
    channels : int
    dtype : numpy.dtype
    times : int
        Each channel is repeated so often.
    """

    def __init__(
        self, blocks: Blocks, plan: Plan, channels: int, dtype: np.dtype, times: int = 1
    ) -> None:
        self.inside, self.times, self.dtype = inner_part(plan), times, dtype
        self.is_needed = plan.padded_sizes != plan.sizes or times > 1
        self.shape = (largest(blocks)[0], *plan.padded_sizes, channels * times)

    def around(self, x: np.ndarray) -> np.ndarray:
        """Return where the images of `x` will be found: in the room, or `x` needs none."""
        return shared_room("frame", self.shape, self.dtype) if self.is_needed else x

    def place(self, room: np.ndarray, x: np.ndarray, images: slice, rows: slice) -> slice:
        """Bring the images of a block into the room, and return which images they are there."""
        if not self.is_needed:
            return images
        here = slice(0, images.stop - images.start)
        if rows.start == 0:
            framed = room[here]
            zero_around(framed, self.inside)
            inner = framed[self.inside]
            each = inner.reshape(*inner.shape[:-1], -1, self.times)
            np.copyto(each, x[images][..., np.newaxis])
        return here


def largest(blocks: Blocks) -> tuple[int, int]:
    """Return the greatest number of images, and that of rows, in a block."""
    images = max((images.stop - images.start for images, _ in blocks), default=0)
    return images, max((rows.stop - rows.start for _, rows in blocks), default=0)
