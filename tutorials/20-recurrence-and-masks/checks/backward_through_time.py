"""Compares the student's gradients with finite differences of the forward loop."""

import random

import numpy as np

from kerascope import backend as K
from kerascope.learn import Text, check

STEP = 1e-5


def forward(x, mask, start, kernel, recurrent):
    """Return the states before each step and after the last one."""
    states = [start]
    for t in range(x.shape[1]):
        new = np.tanh(x[:, t] @ kernel + states[-1] @ recurrent)
        states.append(np.where(mask[:, t, None], new, states[-1]))
    return np.stack(states, axis=1)


def numbers(rng, *shape):
    return np.array([rng.uniform(-1, 1) for _ in range(int(np.prod(shape)))]).reshape(shape)


def compared(student, rng, mask, features=2, units=2):
    """Require that the three gradients are right for a weighted sum of the last states."""
    backward = student.function("backward")
    mask = np.array(mask, dtype=bool)
    arrays = {
        "x": numbers(rng, *mask.shape, features),
        "kernel": numbers(rng, features, units),
        "recurrent": numbers(rng, units, units),
    }
    start, arriving = numbers(rng, len(mask), units), numbers(rng, len(mask), units)

    def loss():
        last = forward(arrays["x"], mask, start, arrays["kernel"], arrays["recurrent"])[:, -1]
        return np.sum(last * arriving)

    x, kernel, recurrent = arrays.values()
    states = forward(x, mask, start, kernel, recurrent)
    with student.without("backward", K_gradients=K.gradients):
        found = backward(x, mask, states, kernel, recurrent, arriving)
    words = " ".join("".join("01"[int(one)] for one in row) for row in mask)
    gradients = student.listed("backward(...)", found, 3)
    if np.shape(gradients[0]) == x.shape:
        without_effect(student, words, mask, np.asarray(gradients[0]))
    for name, gradient in zip(arrays, gradients, strict=True):
        what = Text(f"d loss / d {name} (mask {words})", f"d loss / d {name}（掩码 {words}）")
        student.close(what, gradient, slopes(loss, arrays[name]))


def without_effect(student, words, mask, to_x):
    """Require that a masked step's input gets 0, and that the steps before it get something."""
    student.require(
        np.allclose(to_x[~mask], 0.0),
        en=f"mask {words}: the input of a masked step changes nothing, so d loss / d x must be 0 "
        "there; yours is not",
        zh=f"掩码 {words}：被遮住的一步，输入什么也改变不了，那里的 d loss / d x 应为 0，你的不是",
    )
    earlier = mask & np.logical_or.accumulate(~mask[:, ::-1], axis=1)[:, ::-1]
    student.require(
        not earlier.any() or np.any(to_x[earlier]),
        en=f"mask {words}: d loss / d x is 0 before the masked step; what arrives at a masked step "
        "goes on, unchanged, to the step before",
        zh=f"掩码 {words}：被遮住的一步之前，d loss / d x 成了 0；到达被遮住的一步的梯度，"
        "要原封不动地传给前一步",
    )


def slopes(loss, array):
    """Return finite differences of the loss; the array is moved and put back."""
    result = np.zeros(array.shape)
    for place in np.ndindex(array.shape):
        before = array[place]
        array[place] = before + STEP
        up = loss()
        array[place] = before - STEP
        result[place] = (up - loss()) / (2 * STEP)
        array[place] = before
    return result


@check
def one_step(student):
    compared(student, random.Random(1), [[1]])


@check
def several_steps(student):
    compared(student, random.Random(2), [[1, 1, 1]])
    compared(student, random.Random(3), [[1, 1, 1, 1]] * 2, 1, 3)


@check
def masked_at_the_end_and_at_the_beginning(student):
    compared(student, random.Random(4), [[1, 1, 0]])
    compared(student, random.Random(5), [[0, 1, 1]])


@check
def masked_in_the_middle_and_everywhere(student):
    compared(student, random.Random(6), [[1, 0, 1]])
    compared(student, random.Random(7), [[0, 0]])


@check
def every_row_has_its_own(student):
    compared(student, random.Random(8), [[1, 0, 1], [0, 1, 1], [1, 1, 0]])


@check
def drawn_by_lot(student):
    for seed in range(12):
        rng = random.Random(seed)
        rows, steps = rng.randint(1, 3), rng.randint(1, 4)
        mask = [[rng.random() < 0.7 for _ in range(steps)] for _ in range(rows)]
        compared(student, rng, mask, rng.randint(1, 3), rng.randint(1, 3))
