"""Zeros come before the sequence, but it is also read backwards.

en: expected the numbers of pad_and_mask([[0, 2], [5, 0, 0]], 'before'), at [0, 1], to be 0, yours is 2
zh: pad_and_mask([[0, 2], [5, 0, 0]], 'before') 的数，[0, 1] 处应为 0，你的是 2
"""

import numpy as np


def pad_and_mask(sequences, side):
    longest = max(len(sequence) for sequence in sequences)
    numbers = np.zeros((len(sequences), longest))
    mask = np.zeros((len(sequences), longest), dtype=bool)
    for row, sequence in enumerate(sequences):
        start = longest - len(sequence) if side == "before" else 0
        numbers[row, start : start + len(sequence)] = sequence[::-1] if start else sequence
        mask[row, start : start + len(sequence)] = True
    return numbers, mask
