"""The number of places is rounded down.

en: expected zeros_around(5, 3, 2, 1, 'same') to be (1, 1, 3), yours is (0, 0, 2)
zh: zeros_around(5, 3, 2, 1, 'same') 应为 (1, 1, 3)，你的是 (0, 0, 2)
"""


def zeros_around(size, kernel, stride, dilation, padding):
    covered = (kernel - 1) * dilation + 1
    before = after = 0
    if padding == "same":
        places = size // stride
        zeros = max(0, (places - 1) * stride + covered - size)
        before = zeros // 2
        after = zeros - before
    elif padding == "causal":
        before = covered - 1
    return before, after, (size + before + after - covered) // stride + 1
