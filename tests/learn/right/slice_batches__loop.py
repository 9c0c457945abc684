import math


def make_batches(size, batch_size):
    batches, start = [], 0
    while start < size:
        end = min(start + batch_size, size)
        batches.append((start, end))
        start = end
    return batches


def slice_batch(ins, rows):
    batch = []
    for one in ins:
        batch.append(one if isinstance(one, float) else one[rows])
    return batch
