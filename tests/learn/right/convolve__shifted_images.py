import numpy as np


def convolve(x, kernel, stride, dilation, zeros):
    x = np.pad(x, ((0, 0),) + tuple(zeros) + ((0, 0),))
    k_rows, k_columns = kernel.shape[:2]
    stop_row = x.shape[1] - (k_rows - 1) * dilation
    stop_column = x.shape[2] - (k_columns - 1) * dilation
    return sum(
        x[:, a * dilation :, c * dilation :][:, :stop_row:stride, :stop_column:stride]
        @ kernel[a, c]
        for a in range(k_rows)
        for c in range(k_columns)
    )
