"""Compares the student's zeros with a convolution that shows which pixels it reads."""

import random

import numpy as np

from kerascope import backend as K
from kerascope.learn import check


def read_by(size, kernel, stride, dilation, padding):
    """Return the pixels under the filter at each of its places; 0 is a zero of the padding."""
    pixels = np.arange(1.0, size + 1).reshape(1, size, 1)
    taps = np.eye(kernel).reshape(kernel, 1, kernel)
    read = K.conv1d(pixels, taps, strides=stride, padding=padding, dilation_rate=dilation)
    return K.eval(read)[0].astype(int)


def expected(size, kernel, stride, dilation, padding):
    """Return what `zeros_around` returns, from the pixels that are read."""
    read = read_by(size, kernel, stride, dilation, padding)
    end = (len(read) - 1) * stride + (kernel - 1) * dilation + 1
    if padding == "same":
        total = max(0, end - size)
        return total // 2, total - total // 2, len(read)
    before = (kernel - 1) * dilation if padding == "causal" else 0
    return before, 0, len(read)


def compared(student, *case):
    zeros_around = student.function("zeros_around")
    what = f"zeros_around{case}"
    found = tuple(student.listed(what, zeros_around(*case), 3))
    student.same(what, found, expected(*case))


@check
def without_strides(student):
    for padding in ("valid", "same", "causal"):
        for kernel in (1, 2, 3, 4):
            compared(student, 6, kernel, 1, 1, padding)


@check
def with_strides(student):
    for padding in ("valid", "same", "causal"):
        for size in (5, 6, 7, 8):
            compared(student, size, 3, 2, 1, padding)


@check
def with_dilation(student):
    for padding in ("valid", "same", "causal"):
        for dilation in (2, 3):
            compared(student, 9, 3, 1, dilation, padding)


@check
def a_filter_that_is_smaller_than_the_stride(student):
    compared(student, 9, 2, 3, 1, "same")
    compared(student, 8, 1, 3, 1, "same")


@check
def drawn_by_lot(student):
    for seed in range(80):
        rng = random.Random(seed)
        kernel, dilation = rng.randint(1, 5), rng.randint(1, 3)
        size = (kernel - 1) * dilation + rng.randint(1, 9)
        stride = rng.randint(1, 4) if dilation == 1 else 1
        compared(student, size, kernel, stride, dilation, rng.choice(("valid", "same", "causal")))
