"""The mask contains 1 and 0 instead of bools.

en: expected the mask of pad_and_mask([[1, 2, 3], [4]], 'after') to be an array of bools, yours has the dtype int64
zh: pad_and_mask([[1, 2, 3], [4]], 'after') 的掩码应为布尔数组，你的 dtype 是 int64
"""

import numpy as np


def pad_and_mask(sequences, side):
    longest = max(len(sequence) for sequence in sequences)
    numbers = np.zeros((len(sequences), longest))
    mask = np.zeros((len(sequences), longest), dtype=int)
    for row, sequence in enumerate(sequences):
        start = longest - len(sequence) if side == "before" else 0
        numbers[row, start : start + len(sequence)] = sequence
        mask[row, start : start + len(sequence)] = 1
    return numbers, mask
