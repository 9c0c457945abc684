import numpy as np


def make_batches(size, batch_size):
    bounds = np.append(np.arange(0, size, batch_size), size).tolist()
    return list(zip(bounds[:-1], bounds[1:]))


def slice_batch(ins, rows):
    *arrays, last = ins
    flag = [last] if type(last) is float else [np.take(last, rows, axis=0)]
    return [np.take(array, rows, axis=0) for array in arrays] + flag
