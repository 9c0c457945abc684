"""The flag is recognised by the number of arrays.

en: slice_batch(...) stopped at line 15 with TypeError: 'float' object is not subscriptable
zh: slice_batch(...) 中途出错（第 15 行）：TypeError: 'float' object is not subscriptable
"""


def make_batches(size, batch_size):
    return [(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]


def slice_batch(ins, rows):
    if len(ins) == 4:
        return [array[rows] for array in ins[:3]] + [ins[3]]
    return [array[rows] for array in ins]
