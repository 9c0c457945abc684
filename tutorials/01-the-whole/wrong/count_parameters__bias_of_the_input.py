"""The input is also given biases.

en: expected parameters([20, 64]) to be 1,344, yours is 1,364: its first layer has 1,344 = 20 x 64 + 64
zh: parameters([20, 64]) 应为 1,344，你的是 1,364：它的第一层有 1,344 = 20 x 64 + 64 个参数
"""

from itertools import pairwise


def parameters(sizes):
    weights = sum(size * units for size, units in pairwise(sizes))
    return weights + sum(sizes)
