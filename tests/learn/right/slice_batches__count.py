from math import ceil


def make_batches(size, batch_size):
    count = ceil(size / batch_size)
    return [(i * batch_size, min((i + 1) * batch_size, size)) for i in range(count)]


def slice_batch(ins, rows):
    return tuple(one[rows] if hasattr(one, "shape") else one for one in ins)
