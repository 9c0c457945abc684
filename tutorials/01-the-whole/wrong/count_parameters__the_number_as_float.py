"""Returns the right number, but as a float.

en: expected parameters([20, 64]) to be the int 1,344, yours is the float 1344.0
zh: parameters([20, 64]) 应为整数（int）1,344，你的是浮点数（float）1344.0
"""

import numpy as np


def parameters(sizes):
    sizes = np.array(sizes, dtype=float)
    return float(np.sum((sizes[:-1] + 1) * sizes[1:]))
