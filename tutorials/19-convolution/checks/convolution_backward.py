"""Compares the student's gradients with finite differences of a convolution in plain loops."""

import random

import numpy as np

from kerascope import backend as K
from kerascope.learn import Text, check


def forward(x, kernel, stride):
    """Return the maps, place by place."""
    high, wide = kernel.shape[:2]
    rows = (x.shape[1] - high) // stride + 1
    columns = (x.shape[2] - wide) // stride + 1
    maps = np.zeros((len(x), rows, columns, kernel.shape[3]))
    for b, i, j, f in np.ndindex(maps.shape):
        top, left = i * stride, j * stride
        patch = x[b, top : top + high, left : left + wide, :]
        maps[b, i, j, f] = np.sum(patch * kernel[..., f])
    return maps


def slopes(loss, array):
    """Return finite differences. The loss is linear in the array, so a large step is exact."""
    result = np.zeros(array.shape)
    for place in np.ndindex(array.shape):
        up, down = array.copy(), array.copy()
        up[place] += 1.0
        down[place] -= 1.0
        result[place] = (loss(up) - loss(down)) / 2
    return result


def compared(student, x, kernel, rng, stride=1):
    """Require that both gradients are those of a weighted sum of the maps."""
    backward = student.function("backward")
    arriving = numbers(rng, *forward(x, kernel, stride).shape)
    with student.without("backward", K_gradients=K.gradients, K_conv2d=K.conv2d):
        found = student.listed("backward(...)", backward(x, kernel, arriving, stride), 2)
    case = [f"x {x.shape}", f"kernel {kernel.shape}", *([f"stride {stride}"] * (stride > 1))]
    wanted = (
        slopes(lambda one: np.sum(forward(one, kernel, stride) * arriving), x),
        slopes(lambda one: np.sum(forward(x, one, stride) * arriving), kernel),
    )
    turned = slopes(lambda one: np.sum(forward(one, kernel[::-1, ::-1], stride) * arriving), x)
    is_turned = np.shape(found[0]) == x.shape and np.allclose(found[0], turned)
    student.require(
        not is_turned or np.allclose(turned, wanted[0]),
        en=f"d loss / d x ({', '.join(case)}): your kernel is turned around; expected each pixel "
        "to get the number of the kernel that has read it",
        zh=f"d loss / d x（{'，'.join(case)}）：你的 kernel 转了半圈；每个像素得到的，"
        "应当是 kernel 里读过它的那个数",
    )
    for name, gradient, expected in zip(("x", "kernel"), found, wanted, strict=True):
        slope = f"d loss / d {name}"
        what = Text(f"{slope} ({', '.join(case)})", f"{slope}（{'，'.join(case)}）")
        student.close(what, gradient, expected)


def numbers(rng, *shape):
    """Return small whole numbers, so that each sum is exact."""
    return np.array([rng.randint(-3, 4) for _ in range(int(np.prod(shape)))], float).reshape(shape)


@check
def one_patch(student):
    rng = random.Random(1)
    compared(student, numbers(rng, 1, 2, 2, 1), numbers(rng, 2, 2, 1, 1), rng)


@check
def patches_that_overlap(student):
    rng = random.Random(2)
    compared(student, numbers(rng, 1, 4, 4, 1), numbers(rng, 3, 3, 1, 1), rng)
    compared(student, numbers(rng, 1, 4, 3, 1), numbers(rng, 2, 3, 1, 1), rng)


@check
def channels_filters_and_a_batch(student):
    rng = random.Random(3)
    compared(student, numbers(rng, 1, 3, 3, 2), numbers(rng, 2, 2, 2, 1), rng)
    compared(student, numbers(rng, 1, 3, 3, 1), numbers(rng, 2, 2, 1, 2), rng)
    compared(student, numbers(rng, 3, 3, 3, 2), numbers(rng, 2, 2, 2, 3), rng)


@check
def strides(student):
    rng = random.Random(4)
    compared(student, numbers(rng, 1, 5, 5, 1), numbers(rng, 3, 3, 1, 1), rng, stride=2)
    compared(student, numbers(rng, 1, 6, 6, 1), numbers(rng, 3, 3, 1, 1), rng, stride=2)
    compared(student, numbers(rng, 1, 7, 5, 1), numbers(rng, 2, 1, 1, 1), rng, stride=3)


@check
def drawn_by_lot(student):
    for seed in range(15):
        rng = random.Random(seed)
        kernel = numbers(rng, *(rng.randint(1, 3) for _ in range(4)))
        sizes = [k + rng.randint(0, 3) for k in kernel.shape[:2]]
        x = numbers(rng, rng.randint(1, 2), *sizes, kernel.shape[2])
        compared(student, x, kernel, rng, rng.randint(1, 3))
