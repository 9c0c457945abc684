"""The flag is cut like an array.

en: slice_batch(...) stopped at line 13 with TypeError: 'float' object is not subscriptable
zh: slice_batch(...) 中途出错（第 13 行）：TypeError: 'float' object is not subscriptable
"""


def make_batches(size, batch_size):
    return [(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]


def slice_batch(ins, rows):
    return [array[rows] for array in ins]
