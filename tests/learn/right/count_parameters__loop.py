def parameters(sizes):
    total = 0
    for place in range(1, len(sizes)):
        weights = sizes[place - 1] * sizes[place]
        biases = sizes[place]
        total += weights + biases
    return total
