"""The rows that do not fill a whole batch are left out.

en: expected make_batches(50, 32) to be [(0, 32), (32, 50)], yours is [(0, 32)]
zh: make_batches(50, 32) 应为 [(0, 32), (32, 50)]，你的是 [(0, 32)]
"""


def make_batches(size, batch_size):
    return [(n * batch_size, (n + 1) * batch_size) for n in range(size // batch_size)]


def slice_batch(ins, rows):
    if isinstance(ins[-1], float):
        return [array[rows] for array in ins[:-1]] + [ins[-1]]
    return [array[rows] for array in ins]
