"""Layers of the same size are counted once, because they are in a set.

en: expected parameters([8, 8, 8, 8]) to be 216, yours is 72: its first layer has 72 = 8 x 8 + 8
zh: parameters([8, 8, 8, 8]) 应为 216，你的是 72：它的第一层有 72 = 8 x 8 + 8 个参数
"""

from itertools import pairwise


def parameters(sizes):
    return sum(size * units + units for size, units in set(pairwise(sizes)))
