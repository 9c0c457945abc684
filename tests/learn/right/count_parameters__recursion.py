def parameters(sizes):
    if len(sizes) < 2:
        return 0
    return (sizes[0] + 1) * sizes[1] + parameters(sizes[1:])
