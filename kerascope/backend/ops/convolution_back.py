"""What a convolution sends back to its input, into memory that is given.

Each number of `g`, times the kernel, goes back to where it came from. Seen from one place of the
kernel that is a product of two matrices, (places, filters) by (filters, channels), whose rows are
added to the input's places, all shifted by the same distance:

    total[p + shift] += g[p] @ kernel[place].T      for all p at once

If `g` lies on a grid as wide as the input, its rows filled up with zeros, the shift is the same
number in every row: the sum is one call on two long pieces of memory, which is how a processor adds
fastest. The room for it is made for a few images at a time, small enough for the second cache.

With a stride of 2 the places of the kernel fall into classes, even and odd: each meets every second
place of the input only, and among those the shift is again the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import lcm, prod
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.ops.convolution_arrays import Plan, Sizes, blocks, inner_part, largest
from kerascope.backend.ops.convolution_kernels import (
    Routine,
    as_rows,
    group_slices,
    is_pointwise,
)
from kerascope.backend.ops.convolution_room import shared_room, zero_around

FEW_CHANNELS = 16  # below this number a product of matrices is too narrow to be fast
ENOUGH_CHANNELS = 128  # from this number on it is wide enough with one place of the kernel


def convolve_back_into(
    g_shape: Sizes, kernel_shape: Sizes, dtype: np.dtype, plan: Plan, groups: int
) -> Routine:
    """Return the function (out, g, kernel, sizes) for the gradient by the input."""
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
    """Places of the kernel side by side, which go back together.

    Attributes
    ----------
    places : tuple of slice
        Along each axis of the kernel; one place along all but the last.
    shift : int
        From a place of `g` on its grid to the first place that it goes back to.
    """

    places: tuple[slice, ...]
    shift: int


class Grid(NamedTuple):
    """The places of the input that meet one class of the kernel's places.

    Attributes
    ----------
    residue : tuple of int
        Along each axis: place i of the grid is place i * stride + residue of the padded input.
    stripes : list of Stripe
    run : int
        How many places of the kernel each stripe has.
    """

    residue: Sizes
    stripes: list[Stripe]
    run: int


def grid_sizes(plan: Plan) -> Sizes:
    """Return the sizes of the grids: those of `g`, and how far the kernel reaches beyond."""
    axes = zip(plan.output_sizes, plan.kernel_sizes, plan.strides, plan.dilation, strict=True)
    return tuple(o + (k - 1) * d // s for o, k, s, d in axes)


def grids(plan: Plan, channels: int) -> Iterator[Grid]:
    """Yield the classes of the kernel's places, each with its stripes.

    A stripe is a whole row of the kernel if there are few channels, so that the product gets wide
    enough; and a single place otherwise.

    Examples
    --------
    >>> from kerascope.backend.ops.convolution_arrays import plan
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
    """The way back through grids, for inputs of one shape.

    Parameters
    ----------
    batch : int
    plan : Plan
    channels, filters : int
        Of one group.
    dtype : numpy.dtype
    """

    def __init__(
        self, batch: int, plan: Plan, channels: int, filters: int, dtype: np.dtype
    ) -> None:
        self.plan, self.channels, self.filters = plan, channels, filters
        self.grids = list(grids(plan, channels))
        self.sizes = grid_sizes(plan)
        self.row = prod(self.sizes[1:])  # places of a grid in one step along the first axis
        whole = lcm(*(grid.run for grid in self.grids))
        self.blocks = list(blocks(batch, plan, (channels + filters) * dtype.itemsize))
        images, rows = largest(self.blocks)
        self.places = -(-rows * self.row // whole) * whole  # of an image's rows of g, on the grid
        self.images, self.dtype = images, dtype
        last = max((part.start for _, part in self.blocks), default=0) * self.row
        furthest = max(stripe.shift for grid in self.grids for stripe in grid.stripes) + whole
        self.length = last + self.places + furthest
        self.covers = self._covers_all()

    def _covers_all(self) -> bool:
        """Tell whether every place of the input is on some grid."""
        return len(self.grids) == prod(self.plan.strides) and all(
            n * s >= p
            for n, s, p in zip(self.sizes, self.plan.strides, self.plan.padded_sizes, strict=True)
        )

    def __call__(self, out: np.ndarray, g: np.ndarray, kernel: np.ndarray) -> None:
        """Compute the gradient by the input into `out`."""
        matrices = [[self._matrix(kernel, s) for s in grid.stripes] for grid in self.grids]
        size = (len(self.grids), self.images, self.length * self.channels)
        totals = shared_room("totals", size, self.dtype)
        came_room = shared_room("came", (self.images, self.places, self.filters), self.dtype)
        if not self.covers:
            out.fill(0)
        for images, rows in self.blocks:
            count = images.stop - images.start
            total, came = totals[:, :count], came_room[:count]
            if rows.start == 0:
                total.fill(0)
            self._lay_out(g[images, rows], came)
            for grid, part, own in zip(self.grids, total, matrices, strict=True):
                self._add_up(grid, came, own, part[:, rows.start * self.row * self.channels :])
            if rows.stop == self.plan.output_sizes[0]:
                self._hand_out(total, out[images])

    def _matrix(self, kernel: np.ndarray, stripe: Stripe) -> np.ndarray:
        """Return (filters, places of the stripe * channels)."""
        return kernel[stripe.places].reshape(-1, self.filters).T

    def _lay_out(self, g: np.ndarray, came: np.ndarray) -> None:
        """Put rows of g on the grid, with zeros at the end of each row."""
        count, rows = g.shape[:2]
        grid = came[:, : rows * self.row].reshape(count, rows, *self.sizes[1:], self.filters)
        inside = tuple(slice(0, n) for n in g.shape[:-1])
        zero_around(grid, inside)
        grid[inside] = g
        came[:, rows * self.row :] = 0

    def _add_up(
        self, grid: Grid, came: np.ndarray, matrices: list[np.ndarray], total: np.ndarray
    ) -> None:
        """Add the products of every stripe to the total.

        A stripe of 3 places writes 3 places of the total for each place of g. So every third place
        of g is taken at a time: what those write lies side by side and does not overlap.
        """
        count, run, channels = len(came), grid.run, self.channels
        flat = shared_room("product", (count, self.places * channels), self.dtype)
        products = flat.reshape(-1, run * channels)
        by_run = came.reshape(-1, run, self.filters)
        for stripe, matrix in zip(grid.stripes, matrices, strict=True):
            for first in range(run):
                np.matmul(by_run[:, first], matrix, out=products)
                begin = (stripe.shift + first) * channels
                place = total[:, begin : begin + self.places * channels]
                np.add(place, flat, out=place)

    def _hand_out(self, totals: np.ndarray, out: np.ndarray) -> None:
        """Copy what has been added up to the places of the input."""
        plan, count = self.plan, len(out)
        for grid, total in zip(self.grids, totals, strict=True):
            whole = total[:, : prod(self.sizes) * self.channels]
            laid = whole.reshape(count, *self.sizes, self.channels)
            there, here = [slice(None)], [slice(None)]
            facts = zip(grid.residue, plan.strides, plan.zeros, plan.sizes, self.sizes, strict=True)
            for residue, step, (before, _), size, places in facts:
                first = max(-((residue - before) // step), 0)  # the first that is no zero around
                start = first * step + residue - before
                number = max(min(places - first, -(-(size - start) // step)), 0)
                here.append(slice(first, first + number))
                there.append(slice(start, start + number * step, step) if number else slice(0, 0))
            out[tuple(there)] = laid[tuple(here)]


class ScatteredBack:
    """The way back for few channels; the arguments as for `ShiftedBack`.

    The product is (numbers of the kernel, places), and the channels lie in front meanwhile: long
    rows are added faster than many short ones.
    """

    def __init__(
        self, batch: int, plan: Plan, channels: int, filters: int, dtype: np.dtype
    ) -> None:
        self.plan, self.filters = plan, filters
        self.numbers = prod(plan.kernel_sizes) * channels
        self.blocks = list(blocks(batch, plan, self.numbers * dtype.itemsize))
        images, rows = largest(self.blocks)
        places = images * rows * prod(plan.output_sizes[1:])
        self.product_size, self.dtype = self.numbers * places, dtype
        self.shape = (channels, images, *plan.padded_sizes)

    def __call__(self, out: np.ndarray, g: np.ndarray, kernel: np.ndarray) -> None:
        """Compute the gradient by the input into `out`."""
        plan, channels = self.plan, self.shape[0]
        matrix = as_rows(kernel)
        product_room = shared_room("product", (self.product_size,), self.dtype)
        totals = shared_room("totals", self.shape, self.dtype)
        for images, rows in self.blocks:
            if rows.start == 0:
                totals.fill(0)
            part = as_rows(g[images, rows])
            shape = (-1, channels, images.stop - images.start, rows.stop - rows.start)
            products = product_room[: self.numbers * len(part)].reshape(self.numbers, -1)
            np.matmul(matrix, part.T, out=products)
            parts = products.reshape(*shape, *plan.output_sizes[1:])
            total = totals[:, : shape[2]]
            for number, position in enumerate(plan.positions()):
                place = total[(slice(None), slice(None), *plan.places(position, rows))]
                np.add(place, parts[number], out=place)
            if rows.stop == plan.output_sizes[0]:
                out[images] = np.moveaxis(total, 0, -1)[inner_part(plan)]
