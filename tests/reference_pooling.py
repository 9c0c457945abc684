"""Pooling, padding, resizing and local connections, number by number.

Axes of places are those from `axis` on; everything is a loop over single places.
"""

import math

import numpy as np
from reference import all_places


def windows(lengths, sizes, strides, padding):
    """Yield (window, its places in the input row by row, without those outside)."""
    counts, starts = [], []
    for length, size, stride in zip(lengths, sizes, strides, strict=True):
        if padding == "same":
            count = math.ceil(length / stride)
            missing = max((count - 1) * stride + size - length, 0)
            counts.append(count)
            starts.append(-(missing // 2))
        else:
            counts.append(len([i for i in range(0, length, stride) if i + size <= length]))
            starts.append(0)
    for window in all_places(counts):
        inside = []
        for cell in all_places(sizes):
            place = tuple(
                start + w * stride + c
                for start, w, stride, c in zip(starts, window, strides, cell, strict=True)
            )
            if all(0 <= i < n for i, n in zip(place, lengths, strict=True)):
                inside.append(place)
        yield window, inside


def samples(x, axis, count):
    """Yield (place before the axes of places, place after them)."""
    for before in all_places(x.shape[:axis]):
        for after in all_places(x.shape[axis + count :]):
            yield before, after


def output_of(x, op, found):
    """Return an empty array with one number for each window."""
    counts = np.array([window for window, _ in found]).max(axis=0) + 1
    end = op.axis + len(op.pool_size)
    return np.zeros((*x.shape[: op.axis], *counts, *x.shape[end:]))


def listed_windows(x, op):
    lengths = x.shape[op.axis : op.axis + len(op.pool_size)]
    return list(windows(lengths, op.pool_size, op.strides, op.padding))


def each_window(x, op):
    """Yield (place of a window in the output, places of its cells in the input)."""
    for before, after in samples(x, op.axis, len(op.pool_size)):
        for window, inside in listed_windows(x, op):
            yield (*before, *window, *after), [(*before, *place, *after) for place in inside]


def max_pool(x, op):
    y = output_of(x, op, listed_windows(x, op))
    for place, cells in each_window(x, op):
        y[place] = max(x[cell] for cell in cells)
    return y


def average_pool(x, op):
    y = output_of(x, op, listed_windows(x, op))
    for place, cells in each_window(x, op):
        y[place] = sum(x[cell] for cell in cells) / len(cells)
    return y


def put_at_maximum(g, x, y, op):
    result = np.zeros(x.shape)
    for place, cells in each_window(x, op):
        best = cells[0]
        for cell in cells:
            if x[cell] > x[best]:
                best = cell
        result[best] += g[place]
    return result


def take_at_maximum(g, x, y, op):
    result = np.zeros(y.shape)
    for place, cells in each_window(x, op):
        result[place] = g[max(cells, key=lambda cell: x[cell])]  # of equal ones the first
    return result


def spread_average(g, like, op):
    result = np.zeros(like.shape)
    for place, cells in each_window(like, op):
        for cell in cells:
            result[cell] += g[place] / len(cells)
    return result


def pad(x, padding):
    sizes = [before + n + after for n, (before, after) in zip(x.shape, padding, strict=True)]
    result = np.zeros(sizes)
    for place in all_places(x.shape):
        there = tuple(i + before for i, (before, _) in zip(place, padding, strict=True))
        result[there] = x[place]
    return result


def interpolate(x, factor, axis):
    """Row i lies at (i + 0.5) / factor - 0.5 of the rows of x, which go on at the edges."""
    size = x.shape[axis]
    shape = list(x.shape)
    shape[axis] = size * factor
    y = np.zeros(shape)
    for place in all_places(shape):
        position = (place[axis] + 0.5) / factor - 0.5
        low = math.floor(position)
        for neighbour, share in ((low, low + 1 - position), (low + 1, position - low)):
            inside = min(max(neighbour, 0), size - 1)
            y[place] += share * x[(*place[:axis], inside, *place[axis + 1 :])]
    return y


def sum_interpolated(x, factor, axis):
    """Turn `interpolate` round: probe with a 1 at each place of the smaller tensor."""
    shape = list(x.shape)
    shape[axis] //= factor
    result = np.zeros(shape)
    for place in all_places(shape):
        probe = np.zeros(shape)
        probe[place] = 1
        result[place] = (interpolate(probe, factor, axis) * x).sum()
    return result


def patches(x, kernel_size, strides):
    found = list(windows(x.shape[1:-1], kernel_size, strides, "valid"))
    counts = np.array([window for window, _ in found]).max(axis=0) + 1
    result = np.zeros((len(x), *counts, math.prod(kernel_size), x.shape[-1]))
    for sample in range(len(x)):
        for window, cells in found:
            for number, cell in enumerate(cells):
                result[(sample, *window, number)] = x[(sample, *cell)]
    return result


def sum_patches(rows, like, kernel_size, strides):
    result = np.zeros(like.shape)
    for sample in range(len(like)):
        for window, cells in windows(like.shape[1:-1], kernel_size, strides, "valid"):
            for number, cell in enumerate(cells):
                result[(sample, *cell)] += rows[(sample, *window, number)]
    return result


def local(x, kernel, kernel_size, strides):
    """Local connections of x (batch, places..., channels)."""
    found = list(windows(x.shape[1:-1], kernel_size, strides, "valid"))
    counts = np.array([window for window, _ in found]).max(axis=0) + 1
    result = np.zeros((len(x), *counts, kernel.shape[-1]))
    for sample in range(len(x)):
        for number, (window, cells) in enumerate(found):
            numbers = [x[(sample, *cell, c)] for cell in cells for c in range(x.shape[-1])]
            for f in range(kernel.shape[-1]):
                weights = kernel[number, :, f]
                result[(sample, *window, f)] = sum(
                    a * b for a, b in zip(numbers, weights, strict=True)
                )
    return result
