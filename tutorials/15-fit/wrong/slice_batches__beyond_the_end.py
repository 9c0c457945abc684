"""The end of the last batch is beyond the last row.

en: expected make_batches(50, 32) to be [(0, 32), (32, 50)], yours is [(0, 32), (32, 64)]
zh: make_batches(50, 32) 应为 [(0, 32), (32, 50)]，你的是 [(0, 32), (32, 64)]
"""


def make_batches(size, batch_size):
    return [(start, start + batch_size) for start in range(0, size, batch_size)]


def slice_batch(ins, rows):
    if isinstance(ins[-1], float):
        return [array[rows] for array in ins[:-1]] + [ins[-1]]
    return [array[rows] for array in ins]
