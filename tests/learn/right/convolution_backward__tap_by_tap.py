import numpy as np


def backward(x, kernel, arriving, stride):
    to_x, to_kernel = 0.0 * x, 0.0 * kernel
    rows, columns = arriving.shape[1:3]
    for a in range(kernel.shape[0]):
        for c in range(kernel.shape[1]):
            read = (
                slice(None),
                slice(a, a + stride * (rows - 1) + 1, stride),
                slice(c, c + stride * (columns - 1) + 1, stride),
            )
            to_kernel[a, c] = np.einsum("bijk,bijf->kf", x[read], arriving)
            to_x[read] += arriving @ kernel[a, c].T
    return to_x, to_kernel
