"""What the convolution ops must compute, in plain loops over single products.

Every product of a convolution is one (input place, kernel place, output place); `products` lists
them all. The convolution adds them up by output place, its two gradients by input and by kernel.
"""

from itertools import product

import numpy as np


def zeros_in_front(size, kernel, padding, stride, dilation):
    """Return how many zeros go before the input, and the length of the output."""
    covered = (kernel - 1) * dilation + 1
    if padding == "valid":
        return 0, (size - covered) // stride + 1
    if padding == "full":
        return covered - 1, (size + covered - 2) // stride + 1
    outputs = (size + stride - 1) // stride
    if padding == "causal":
        return covered - 1, outputs
    return max((outputs - 1) * stride + covered - size, 0) // 2, outputs


def along_axis(size, kernel, padding, stride, dilation):
    """Return (input, kernel, output) places that meet along one axis, and the output's length."""
    front, outputs = zeros_in_front(size, kernel, padding, stride, dilation)
    met = []
    for o, k in product(range(outputs), range(kernel)):
        i = o * stride + k * dilation - front
        if 0 <= i < size:
            met.append((i, k, o))
    return met, outputs


def products(x_shape, kernel_shape, strides, padding, dilation, groups):
    """Return the list of (input place, kernel place, output place) and the output's shape."""
    batch, *sizes, channels = x_shape
    *kernel_sizes, inside, filters = kernel_shape
    assert channels == inside * groups
    axes = [
        along_axis(n, k, padding, s, d)
        for n, k, s, d in zip(sizes, kernel_sizes, strides, dilation, strict=True)
    ]
    found = []
    for b, f, c in product(range(batch), range(filters), range(inside)):
        channel = f // (filters // groups) * inside + c
        for meeting in product(*(met for met, _ in axes)):
            i, k, o = zip(*meeting, strict=True)
            found.append(((b, *i, channel), (*k, c, f), (b, *o, f)))
    return found, (batch, *(outputs for _, outputs in axes), filters)


def convolve(x, kernel, *how):
    found, shape = products(x.shape, kernel.shape, *how)
    result = np.zeros(shape)
    for i, k, o in found:
        result[o] += x[i] * kernel[k]
    return result


def convolve_back(g, kernel, sizes, *how):
    found, shape = products(tuple(int(n) for n in sizes), kernel.shape, *how)
    assert shape == g.shape
    result = np.zeros(sizes)
    for i, k, o in found:
        result[i] += g[o] * kernel[k]
    return result


def kernel_gradient(x, g, sizes, *how):
    found, shape = products(x.shape, tuple(int(n) for n in sizes), *how)
    assert shape == g.shape
    result = np.zeros(sizes)
    for i, k, o in found:
        result[k] += x[i] * g[o]
    return result
