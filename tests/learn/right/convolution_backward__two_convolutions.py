import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def backward(x, kernel, arriving, stride):
    k_rows, k_columns = kernel.shape[:2]
    apart = np.zeros((len(x), x.shape[1] - k_rows + 1, x.shape[2] - k_columns + 1, kernel.shape[3]))
    rows, columns = arriving.shape[1:3]
    apart[:, : rows * stride : stride, : columns * stride : stride] = arriving
    patches = sliding_window_view(x, apart.shape[1:3], axis=(1, 2))
    to_kernel = np.einsum("baekij,bijf->aekf", patches, apart)
    frame = (k_rows - 1,) * 2, (k_columns - 1,) * 2
    around = np.pad(apart, ((0, 0), *frame, (0, 0)))
    votes = sliding_window_view(around, (k_rows, k_columns), axis=(1, 2))
    to_x = np.einsum("bijfae,aekf->bijk", votes, kernel[::-1, ::-1])
    return [to_x, to_kernel]
