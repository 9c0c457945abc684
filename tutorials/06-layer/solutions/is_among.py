def is_among(x, inputs):
    return any(x is one for one in inputs)
