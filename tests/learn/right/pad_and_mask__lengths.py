import numpy as np


def pad_and_mask(sequences, side):
    lengths = np.array([len(one) for one in sequences])[:, None]
    places = np.arange(lengths.max())[None, :]
    mask = places < lengths
    if side == "before":
        mask = mask[:, ::-1]
    numbers = np.zeros(mask.shape)
    numbers[mask] = [number for one in sequences for number in one]
    return numbers, mask
