import numpy as np


def backward(x, kernel, arriving, stride):
    to_x = np.zeros_like(x, dtype=float)
    to_kernel = np.zeros_like(kernel, dtype=float)
    for b, i, j, f in np.ndindex(*arriving.shape):
        for a, c, channel in np.ndindex(*kernel.shape[:3]):
            pixel = b, i * stride + a, j * stride + c, channel
            to_x[pixel] += arriving[b, i, j, f] * kernel[a, c, channel, f]
            to_kernel[a, c, channel, f] += arriving[b, i, j, f] * x[pixel]
    return to_x, to_kernel
