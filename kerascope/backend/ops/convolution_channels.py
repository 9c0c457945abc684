"""The numbers of a convolution in which every channel is for itself, into memory that is given.

If a group is a single channel there is no sum over channels, so a product of matrices would be all
overhead. Products number by number take its place:

    out = sum over the positions of the kernel of x[where they lie] * kernel[position]

Three numbers are fetched for one product, so memory sets the pace. Blocks are small enough for the
processor's cache. And where neighbouring columns of an image are used, their channels lie side by
side in memory: a whole row is one piece for NumPy, the kernel's numbers repeated along it, instead
of a short piece for each column.

The functions are like those of `convolution_kernels.py`. Kernels are (size of each axis, 1,
filters), and a channel has filters // groups filters.
"""

from __future__ import annotations

import numpy as np

from kerascope.backend.ops.convolution_arrays import (
    Frame,
    Plan,
    Sizes,
    blocks,
    inner_part,
    largest,
    windows,
)
from kerascope.backend.ops.convolution_kernels import Routine
from kerascope.backend.ops.convolution_room import shared_room

SHARE = 4  # a block is this part of the usual size: several arrays of its size are used at a time


def convolve_channels_into(
    x_shape: Sizes, kernel_shape: Sizes, dtype: np.dtype, plan: Plan, groups: int
) -> Routine:
    """Return the function (out, x, kernel) that convolves each channel with its own filters."""
    filters, columns = kernel_shape[-1], plan.output_sizes[-1]
    parts = list(blocks(x_shape[0], plan, SHARE * dtype.itemsize * filters))
    frame = Frame(parts, plan, groups, dtype, filters // groups)
    repeated = columns if plan.strides[-1] == 1 else 1
    weights_shape = (*plan.kernel_sizes, repeated, filters)
    count = len(plan.sizes)
    inside = [*range(count + 1, 2 * count + 1)]  # the axes of the windows: those of the kernel
    order_out = [*range(count + 1), 2 * count + 1]
    # The last axis of places goes to the channels, with which it is one piece if it can be.
    order = [*range(count), *inside, count, 2 * count + 1]

    def convolve(out: np.ndarray, x: np.ndarray, kernel: np.ndarray) -> None:
        weights = shared_room("weights", weights_shape, dtype)
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
    """Return a view in which the last two axes are one."""
    return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])


def convolve_channels_back_into(
    g_shape: Sizes, kernel_shape: Sizes, dtype: np.dtype, plan: Plan, groups: int
) -> Routine:
    """Return the function (out, g, kernel, sizes) for the gradient by the input.

    At stride 1 that is again a convolution, of `g` with the kernel turned round. Otherwise each
    number of `g`, times the kernel, is added where it came from.
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
    room_shape = (images_at_once, rows_at_once, *plan.output_sizes[1:], filters)
    totals_shape = (images_at_once, *plan.padded_sizes, filters)

    def send_back(out: np.ndarray, g: np.ndarray, kernel: np.ndarray, sizes: np.ndarray) -> None:
        room = shared_room("product", room_shape, dtype)
        totals = shared_room("totals", totals_shape, dtype)
        for images, rows in parts:
            part = g[images, rows]
            total, products = totals[: len(part)], room[: len(part), : part.shape[1]]
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


def turned_plan(plan: Plan) -> Plan:
    """Return how the turned kernel moves over the output of a convolution with stride 1."""
    covered = [(k - 1) * d for k, d in zip(plan.kernel_sizes, plan.dilation, strict=True)]
    zeros = tuple(
        (extra - before, extra - behind)
        for extra, (before, behind) in zip(covered, plan.zeros, strict=True)
    )
    return plan._replace(sizes=plan.output_sizes, output_sizes=plan.sizes, zeros=zeros)


def channels_kernel_gradient_into(
    x_shape: Sizes, kernel_shape: Sizes, dtype: np.dtype, plan: Plan, groups: int
) -> Routine:
    """Return the function (out, x, g, sizes) for the gradient by the kernel."""
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
                # Summed in two steps: einsum is fast as long as two axes are left.
                total[position] += np.einsum(met, axes, part, axes, axes[-2:]).sum(axis=0)

    return add_up
