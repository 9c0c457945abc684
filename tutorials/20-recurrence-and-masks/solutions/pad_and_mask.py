import numpy as np


def pad_and_mask(sequences, side):
    longest = max(len(sequence) for sequence in sequences)
    numbers = np.zeros((len(sequences), longest))
    mask = np.zeros((len(sequences), longest), dtype=bool)
    for row, sequence in enumerate(sequences):
        start = longest - len(sequence) if side == "before" else 0
        numbers[row, start : start + len(sequence)] = sequence
        mask[row, start : start + len(sequence)] = True
    return numbers, mask
