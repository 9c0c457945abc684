def make_batches(size, batch_size):
    return [(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]


def slice_batch(ins, rows):
    if isinstance(ins[-1], float):
        return [array[rows] for array in ins[:-1]] + [ins[-1]]
    return [array[rows] for array in ins]
