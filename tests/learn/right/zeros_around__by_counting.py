def zeros_around(size, kernel, stride, dilation, padding):
    reach = [tap * dilation for tap in range(kernel)]
    starts = list(range(0, size, stride))
    if padding == "causal":
        before, after = reach[-1], 0
    elif padding == "same":
        outside = [place + reach[-1] - (size - 1) for place in starts]
        missing = max(0, outside[-1])
        before, after = divmod(missing, 2)[0], missing - missing // 2
    else:
        before = after = 0
        starts = [place for place in starts if place + reach[-1] < size]
    return [before, after, len(starts)]
