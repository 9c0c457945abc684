from math import ceil, floor


def zeros_around(size, kernel, stride, dilation, padding):
    wide = 1 + dilation * (kernel - 1)
    if padding == "valid":
        return 0, 0, ceil((size - wide + 1) / stride)
    places = ceil(size / stride)
    if padding == "causal":
        return wide - 1, 0, places
    need = (places - 1) * stride + wide
    short = need - size if need > size else 0
    return floor(short / 2), ceil(short / 2), places
