import numpy as np


def pad_and_mask(sequences, side):
    longest = max(map(len, sequences))
    rows, marks = [], []
    for one in sequences:
        gap = longest - len(one)
        row, mark = list(one), [True] * len(one)
        rows.append([0] * gap + row if side == "before" else row + [0] * gap)
        marks.append([False] * gap + mark if side == "before" else mark + [False] * gap)
    return np.array(rows, dtype=float), np.array(marks, dtype=bool)
