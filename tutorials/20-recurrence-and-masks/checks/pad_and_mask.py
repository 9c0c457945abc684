"""Compares the student's rectangle and mask with those built number by number."""

import random

import numpy as np

from kerascope.learn import Text, check


def expected(sequences, side):
    longest = max((len(one) for one in sequences), default=0)
    numbers = np.zeros((len(sequences), longest))
    mask = np.zeros(numbers.shape, bool)
    for row, sequence in enumerate(sequences):
        for place, number in enumerate(sequence):
            column = place + (longest - len(sequence)) * (side == "before")
            numbers[row, column], mask[row, column] = number, True
    return numbers, mask


def compared(student, sequences, side):
    pad_and_mask = student.function("pad_and_mask")
    call = f"pad_and_mask({sequences}, {side!r})"
    numbers, mask = student.listed(call, pad_and_mask([*map(list, sequences)], side), 2)
    wanted_numbers, wanted_mask = expected(sequences, side)
    student.close(Text(f"the numbers of {call}", f"{call} 的数"), numbers, wanted_numbers)
    kind = getattr(mask, "dtype", None)
    own = Text(f"has the dtype {kind}", f" dtype 是 {kind}")
    if kind is None:
        own = Text(f"is a {type(mask).__name__}", f"是 {type(mask).__name__}")
    student.require(
        str(kind) == "bool",
        en=f"expected the mask of {call} to be an array of bools, yours {own.en}",
        zh=f"{call} 的掩码应为布尔数组，你的{own.zh}",
    )
    found, wanted = np.asarray(mask).tolist(), wanted_mask.tolist()
    why = ""
    if found == (wanted_numbers != 0).tolist() != wanted:
        why = Text("a 0 of the sequence counts", "序列自己的 0 要算数")
    student.same(Text(f"the mask of {call}", f"{call} 的掩码"), found, wanted, why)


@check
def small_ones(student):
    for side in ("after", "before"):
        compared(student, [[1, 2, 3], [4]], side)


@check
def a_zero_that_counts(student):
    for side in ("after", "before"):
        compared(student, [[0, 2], [5, 0, 0]], side)


@check
def an_empty_one(student):
    for side in ("after", "before"):
        compared(student, [[], [7, 8]], side)
        compared(student, [[2.5]], side)


@check
def drawn_by_lot(student):
    for seed in range(12):
        rng = random.Random(seed)
        lengths = [rng.randint(0, 4) for _ in range(rng.randint(1, 4))]
        sequences = [[rng.randint(0, 3) for _ in range(length)] for length in lengths]
        compared(student, sequences, rng.choice(("after", "before")))
