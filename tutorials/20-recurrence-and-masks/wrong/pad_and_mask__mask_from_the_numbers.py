"""The mask is False at each 0, also at those of the sequences.

en: expected the mask of pad_and_mask([[0, 2], [5, 0, 0]], 'after') to be [[True, True, False], [True, True, True]], yours is [[False, True, False], [True, False, False]]: a 0 of the sequence counts
zh: pad_and_mask([[0, 2], [5, 0, 0]], 'after') 的掩码应为 [[True, True, False], [True, True, True]]，你的是 [[False, True, False], [True, False, False]]：序列自己的 0 要算数
"""

import numpy as np


def pad_and_mask(sequences, side):
    longest = max(len(sequence) for sequence in sequences)
    numbers = np.zeros((len(sequences), longest))
    mask = np.zeros((len(sequences), longest), dtype=bool)
    for row, sequence in enumerate(sequences):
        start = longest - len(sequence) if side == "before" else 0
        numbers[row, start : start + len(sequence)] = sequence
        mask[row, start : start + len(sequence)] = True
    return numbers, numbers != 0
