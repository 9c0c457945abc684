"""The flag is always 1.0.

en: expected slice_batch of x and the flag 0.0, number 2, to be 0, yours is 1
zh: x 和标志 0.0 的 slice_batch，第 2 个，应为 0，你的是 1
"""


def make_batches(size, batch_size):
    return [(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]


def slice_batch(ins, rows):
    if isinstance(ins[-1], float):
        return [array[rows] for array in ins[:-1]] + [1.0]
    return [array[rows] for array in ins]
