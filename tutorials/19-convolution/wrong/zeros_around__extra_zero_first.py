"""The zero that is left over comes before the row, not after it.

en: expected zeros_around(6, 2, 1, 1, 'same') to be (0, 1, 6), yours is (1, 0, 6)
zh: zeros_around(6, 2, 1, 1, 'same') 应为 (0, 1, 6)，你的是 (1, 0, 6)
"""


def zeros_around(size, kernel, stride, dilation, padding):
    covered = (kernel - 1) * dilation + 1
    before = after = 0
    if padding == "same":
        places = -(-size // stride)
        zeros = max(0, (places - 1) * stride + covered - size)
        after = zeros // 2
        before = zeros - after
    elif padding == "causal":
        before = covered - 1
    return before, after, (size + before + after - covered) // stride + 1
