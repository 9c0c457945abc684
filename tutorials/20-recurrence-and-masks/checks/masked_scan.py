"""Compares the student's loop with a loop over the rows that skips the masked steps."""

import random

import numpy as np

from kerascope.learn import Text, check


def recurrent(rng, features, units, out):
    """Return the function of one step, with fixed weights; its output is not its state."""
    kernel, own, head = (
        numbers(rng, *s) for s in ((features, units), (units, units), (units, out))
    )

    def step(x_t, state):
        new_state = np.tanh(x_t @ kernel + state @ own + 0.5)
        return new_state @ head + 1.0, new_state

    return step


def numbers(rng, *shape):
    return np.array([rng.uniform(-1, 1) for _ in range(int(np.prod(shape)))]).reshape(shape)


def row_by_row(step, x, mask, state):
    """Return outputs and states; each row is its own loop, which skips the masked steps."""
    outputs, states = [], []
    for row in range(len(x)):
        now, own = state[row : row + 1], []
        for t in range(x.shape[1]):
            if mask[row, t]:
                output, now = step(x[row : row + 1, t], now)
                own.append(output[0])
            else:
                own.append(own[-1] if own else None)
        outputs.append(own)
        states.append(now[0])
    size = step(x[:1, 0], state[:1])[0].shape[1]
    filled = [[np.zeros(size) if one is None else one for one in own] for own in outputs]
    return np.array(filled), np.array(states)


def compared(student, rng, mask, sizes=(2, 3, 2)):
    """Require that the outputs and the states of a batch with this mask are right."""
    scan = student.function("scan")
    mask = np.array(mask, dtype=bool)
    step = recurrent(rng, *sizes)
    x, state = numbers(rng, *mask.shape, sizes[0]), numbers(rng, len(mask), sizes[1])
    outputs, last = student.listed("scan(...)", scan(step, x, mask, state), 2)
    wanted, wanted_last = row_by_row(step, x, mask, state)
    words = " ".join("".join("01"[int(one)] for one in row) for row in mask)
    plain, _ = row_by_row(step, x, np.ones_like(mask), state)
    student.require(
        mask.all() or np.shape(outputs) != plain.shape or not np.allclose(outputs, plain),
        en=f"mask {words}: your outputs are those of a loop without a mask",
        zh=f"掩码 {words}：你的输出与不带掩码的循环相同",
    )
    student.close(Text(f"the outputs (mask {words})", f"输出（掩码 {words}）"), outputs, wanted)
    student.close(
        Text(f"the last state (mask {words})", f"最后的状态（掩码 {words}）"), last, wanted_last
    )


@check
def everything_counts(student):
    compared(student, random.Random(1), [[1, 1, 1]])
    compared(student, random.Random(2), [[1, 1, 1]] * 2, (1, 2, 4))


@check
def zeros_at_the_end(student):
    compared(student, random.Random(3), [[1, 1, 0, 0]])


@check
def zeros_in_the_middle_and_at_the_beginning(student):
    compared(student, random.Random(4), [[1, 0, 1]])
    compared(student, random.Random(5), [[0, 0, 1, 0]])


@check
def nothing_counts(student):
    compared(student, random.Random(6), [[0, 0]])


@check
def every_row_has_its_own(student):
    compared(student, random.Random(7), [[1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 0, 0]])


@check
def drawn_by_lot(student):
    for seed in range(15):
        rng = random.Random(seed)
        rows, steps = rng.randint(1, 4), rng.randint(1, 5)
        mask = [[rng.random() < 0.6 for _ in range(steps)] for _ in range(rows)]
        compared(student, rng, mask, tuple(rng.randint(1, 3) for _ in range(3)))
