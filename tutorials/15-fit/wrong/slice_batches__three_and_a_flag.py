"""Assumes that the fourth item is the flag.

en: slice_batch(...) stopped at line 13 with ValueError: not enough values to unpack (expected at least 3, got 2)
zh: slice_batch(...) 中途出错（第 13 行）：ValueError: not enough values to unpack (expected at least 3, got 2)
"""


def make_batches(size, batch_size):
    return [(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]


def slice_batch(ins, rows):
    x, y, weights, *flag = ins
    return [x[rows], y[rows], weights[rows], *flag]
