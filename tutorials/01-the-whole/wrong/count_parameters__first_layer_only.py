"""Only the first layer is counted.

en: expected parameters([500, 32, 10]) to be 16,362, yours is 16,032: its first layer has 16,032 = 500 x 32 + 32
zh: parameters([500, 32, 10]) 应为 16,362，你的是 16,032：它的第一层有 16,032 = 500 x 32 + 32 个参数
"""


def parameters(sizes):
    return sizes[0] * sizes[1] + sizes[1]
