"""The filter covers dilation times its numbers.

en: expected zeros_around(9, 3, 1, 2, 'valid') to be (0, 0, 5), yours is (0, 0, 4)
zh: zeros_around(9, 3, 1, 2, 'valid') 应为 (0, 0, 5)，你的是 (0, 0, 4)
"""


def zeros_around(size, kernel, stride, dilation, padding):
    covered = kernel * dilation
    before = after = 0
    if padding == "same":
        places = -(-size // stride)
        zeros = max(0, (places - 1) * stride + covered - size)
        before = zeros // 2
        after = zeros - before
    elif padding == "causal":
        before = covered - 1
    return before, after, (size + before + after - covered) // stride + 1
