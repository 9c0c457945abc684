"""Fewer than 0 zeros, where the filter is smaller than the stride.

en: expected zeros_around(9, 2, 3, 1, 'same') to be (0, 0, 3), yours is (-1, 0, 3)
zh: zeros_around(9, 2, 3, 1, 'same') 应为 (0, 0, 3)，你的是 (-1, 0, 3)
"""


def zeros_around(size, kernel, stride, dilation, padding):
    covered = (kernel - 1) * dilation + 1
    before = after = 0
    if padding == "same":
        places = -(-size // stride)
        zeros = (places - 1) * stride + covered - size
        before = zeros // 2
        after = zeros - before
    elif padding == "causal":
        before = covered - 1
    return before, after, (size + before + after - covered) // stride + 1
