"""The number is printed, not returned.

en: expected parameters([20, 64]) to be 1,344, yours is None: its first layer has 1,344 = 20 x 64 + 64; parameters(...) printed 1344 but returned nothing: `return` hands an answer back, `print` only shows it
zh: parameters([20, 64]) 应为 1,344，你的是 None：它的第一层有 1,344 = 20 x 64 + 64 个参数；parameters(...) 打印了 1344，却没有返回值：`return` 才把答案交出去，`print` 只是显示它
"""

from itertools import pairwise


def parameters(sizes):
    print(sum(size * units + units for size, units in pairwise(sizes)))
