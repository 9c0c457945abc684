"""The same number of zeros on both sides, as if the stride did not matter.

en: expected zeros_around(6, 2, 1, 1, 'same') to be (0, 1, 6), yours is (0, 0, 5)
zh: zeros_around(6, 2, 1, 1, 'same') 应为 (0, 1, 6)，你的是 (0, 0, 5)
"""


def zeros_around(size, kernel, stride, dilation, padding):
    covered = (kernel - 1) * dilation + 1
    before = after = 0
    if padding == "same":
        before = after = (covered - 1) // 2
    elif padding == "causal":
        before = covered - 1
    return before, after, (size + before + after - covered) // stride + 1
