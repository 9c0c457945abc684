"""Nothing passes a masked step.

en: mask 110: d loss / d x is 0 before the masked step; what arrives at a masked step goes on, unchanged, to the step before
zh: 掩码 110：被遮住的一步之前，d loss / d x 成了 0；到达被遮住的一步的梯度，要原封不动地传给前一步
"""

import numpy as np


def backward(x, mask, states, kernel, recurrent, arriving):
    to_x = np.zeros(x.shape)
    to_kernel = np.zeros(kernel.shape)
    to_recurrent = np.zeros(recurrent.shape)
    for t in reversed(range(x.shape[1])):
        counts = mask[:, t, None]
        inside = np.where(counts, arriving * (1 - states[:, t + 1] ** 2), 0.0)
        to_x[:, t] = inside @ kernel.T
        to_kernel += x[:, t].T @ inside
        to_recurrent += states[:, t].T @ inside
        arriving = inside @ recurrent.T
    return to_x, to_kernel, to_recurrent
