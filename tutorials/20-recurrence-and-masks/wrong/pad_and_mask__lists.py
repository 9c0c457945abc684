"""The mask is a list of lists, not an array.

en: expected the mask of pad_and_mask([[1, 2, 3], [4]], 'after') to be an array of bools, yours is a list
zh: pad_and_mask([[1, 2, 3], [4]], 'after') 的掩码应为布尔数组，你的是 list
"""

import numpy as np


def pad_and_mask(sequences, side):
    longest = max(len(sequence) for sequence in sequences)
    numbers = np.zeros((len(sequences), longest))
    mask = []
    for row, sequence in enumerate(sequences):
        start = longest - len(sequence) if side == "before" else 0
        numbers[row, start : start + len(sequence)] = sequence
        mask.append([start <= place < start + len(sequence) for place in range(longest)])
    return numbers, mask
