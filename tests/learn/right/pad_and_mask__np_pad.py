import numpy as np


def pad_and_mask(sequences, side):
    size = max(len(sequence) for sequence in sequences)

    def filled(values):
        gap = size - len(values)
        return np.pad(values, (gap, 0) if side == "before" else (0, gap))

    numbers = np.stack([filled(np.array(sequence, float)) for sequence in sequences])
    mask = np.stack([filled(np.full(len(sequence), True)) for sequence in sequences])
    return [numbers, mask]
