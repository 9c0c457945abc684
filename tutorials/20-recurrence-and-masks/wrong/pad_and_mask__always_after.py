"""The zeros always come at the end.

en: expected the numbers of pad_and_mask([[1, 2, 3], [4]], 'before'), at [1, 0], to be 0, yours is 4
zh: pad_and_mask([[1, 2, 3], [4]], 'before') 的数，[1, 0] 处应为 0，你的是 4
"""

import numpy as np


def pad_and_mask(sequences, side):
    longest = max(len(sequence) for sequence in sequences)
    numbers = np.zeros((len(sequences), longest))
    mask = np.zeros((len(sequences), longest), dtype=bool)
    for row, sequence in enumerate(sequences):
        start = 0
        numbers[row, start : start + len(sequence)] = sequence
        mask[row, start : start + len(sequence)] = True
    return numbers, mask
