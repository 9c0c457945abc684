import numpy as np


def convolve(x, kernel, stride, dilation, zeros):
    (above, below), (left, right) = zeros
    batch, rows, columns, channels = x.shape
    k_rows, k_columns, _, filters = kernel.shape
    out_rows = (rows + above + below - dilation * (k_rows - 1) - 1) // stride + 1
    out_columns = (columns + left + right - dilation * (k_columns - 1) - 1) // stride + 1
    maps = np.zeros((batch, out_rows, out_columns, filters))
    for i in range(out_rows):
        for j in range(out_columns):
            for a in range(k_rows):
                for c in range(k_columns):
                    row = i * stride + a * dilation - above
                    column = j * stride + c * dilation - left
                    if 0 <= row < rows and 0 <= column < columns:
                        maps[:, i, j] += x[:, row, column] @ kernel[a, c]
    return maps
