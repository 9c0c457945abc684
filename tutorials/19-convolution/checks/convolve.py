"""Compares the student's convolution with seven plain loops."""

import random
from itertools import product

import numpy as np

from kerascope import backend as K
from kerascope.learn import Text, check

NONE = ((0, 0), (0, 0))


def loops(x, kernel, stride, dilation, zeros):
    """Return the convolution, number by number."""
    x = np.pad(x, ((0, 0), *zeros, (0, 0)))
    sizes = [
        (n - (k - 1) * dilation - 1) // stride + 1
        for n, k in zip(x.shape[1:3], kernel.shape, strict=False)
    ]
    maps = np.zeros((len(x), *sizes, kernel.shape[3]))
    for b, i, j, f in np.ndindex(maps.shape):
        for a, c, channel in product(*map(range, kernel.shape[:3])):
            pixel = x[b, i * stride + a * dilation, j * stride + c * dilation, channel]
            maps[b, i, j, f] += pixel * kernel[a, c, channel, f]
    return maps


def compared(student, x, kernel, stride=1, dilation=1, zeros=NONE):
    """Require that the student's maps are right."""
    convolve = student.function("convolve")
    with student.without("convolve", K_conv2d=K.conv2d):
        found = convolve(x, kernel, stride, dilation, zeros)
    options = [
        f"{name} {value}"
        for name, value in (("stride", stride), ("dilation", dilation), ("zeros", zeros))
        if value not in (1, NONE)
    ]
    case = [f"x {x.shape}", f"kernel {kernel.shape}", *options]
    what = Text(f"the maps ({', '.join(case)})", f"特征图（{'，'.join(case)}）")
    expected = loops(x, kernel, stride, dilation, zeros)
    turned = loops(x, kernel[::-1, ::-1], stride, dilation, zeros)
    is_turned = np.shape(found) == turned.shape and np.allclose(found, turned)
    student.require(
        not is_turned or np.allclose(turned, expected),
        en=f"{what.en}: your filter is turned around; expected its first number to meet the pixel "
        "at the top left",
        zh=f"{what.zh}：你的滤波器转了半圈；它的第一个数应当遇到左上角的像素",
    )
    student.close(what, found, expected)


def numbers(rng, *shape):
    """Return small whole numbers, so that each sum is exact."""
    return np.array([rng.randint(-3, 4) for _ in range(int(np.prod(shape)))], float).reshape(shape)


@check
def one_map(student):
    rng = random.Random(1)
    compared(student, numbers(rng, 1, 4, 4, 1), numbers(rng, 3, 3, 1, 1))


@check
def channels_and_filters(student):
    rng = random.Random(2)
    compared(student, numbers(rng, 1, 4, 4, 2), numbers(rng, 3, 3, 2, 1))
    compared(student, numbers(rng, 1, 4, 4, 2), numbers(rng, 3, 3, 2, 3))
    compared(student, numbers(rng, 2, 4, 4, 1), numbers(rng, 3, 3, 1, 2))


@check
def not_square(student):
    rng = random.Random(3)
    compared(student, numbers(rng, 1, 4, 6, 1), numbers(rng, 2, 3, 1, 1))
    compared(student, numbers(rng, 1, 5, 3, 1), numbers(rng, 4, 1, 1, 1))


@check
def strides(student):
    rng = random.Random(4)
    compared(student, numbers(rng, 1, 6, 7, 1), numbers(rng, 3, 3, 1, 1), stride=2)
    compared(student, numbers(rng, 1, 8, 5, 1), numbers(rng, 2, 2, 1, 1), stride=3)


@check
def dilation(student):
    rng = random.Random(5)
    compared(student, numbers(rng, 1, 6, 7, 1), numbers(rng, 3, 3, 1, 1), dilation=2)


@check
def zeros(student):
    rng = random.Random(6)
    x, kernel = numbers(rng, 1, 3, 3, 1), numbers(rng, 3, 3, 1, 1)
    compared(student, x, kernel, zeros=((1, 1), (1, 1)))
    compared(student, x, kernel, zeros=((0, 2), (1, 0)))


@check
def drawn_by_lot(student):
    for seed in range(25):
        rng = random.Random(seed)
        dilation = rng.randint(1, 2)
        kernel = numbers(rng, *(rng.randint(1, 3) for _ in range(4)))
        around = tuple((rng.randint(0, 2), rng.randint(0, 2)) for _ in range(2))
        sizes = [(k - 1) * dilation + rng.randint(1, 4) for k in kernel.shape[:2]]
        x = numbers(rng, rng.randint(1, 3), *sizes, kernel.shape[2])
        compared(student, x, kernel, rng.randint(1, 3), dilation, around)
