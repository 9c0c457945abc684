"""Takes a slice from the smallest row number, as if rows were always in order.

en: expected x of rows [4, 0, 3], at [0, 0], to be 8, yours is 0
zh: 第 [4, 0, 3] 行的 x，[0, 0] 处应为 8，你的是 0
"""


def make_batches(size, batch_size):
    return [(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]


def slice_batch(ins, rows):
    start, end = min(rows), min(rows) + len(rows)
    return [array if isinstance(array, float) else array[start:end] for array in ins]
