def zeros_around(size, kernel, stride, dilation, padding):
    extra = dilation * (kernel - 1)
    last = (size - 1) // stride * stride
    lacking = max(last + extra + 1 - size, 0)
    zeros = {
        "valid": (0, 0),
        "same": (lacking >> 1, (lacking + 1) >> 1),
        "causal": (extra, 0),
    }[padding]
    return (*zeros, len(range(0, size + sum(zeros) - extra, stride)))
