"""The mask is True at the padding.

en: expected the mask of pad_and_mask([[1, 2, 3], [4]], 'after') to be [[True, True, True], [True, False, False]], yours is [[False, False, False], [False, True, True]]
zh: pad_and_mask([[1, 2, 3], [4]], 'after') 的掩码应为 [[True, True, True], [True, False, False]]，你的是 [[False, False, False], [False, True, True]]
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
    return numbers, ~mask
