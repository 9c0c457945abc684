"""The flag 0.0 is taken for a missing flag.

en: expected slice_batch of x and the flag 0.0 to have 2 items, yours has 1
zh: x 和标志 0.0 的 slice_batch 应有 2 项，你的有 1 项
"""


def make_batches(size, batch_size):
    return [(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]


def slice_batch(ins, rows):
    if isinstance(ins[-1], float) and ins[-1]:
        return [array[rows] for array in ins[:-1]] + [ins[-1]]
    return [array[rows] for array in ins if not isinstance(array, float)]
