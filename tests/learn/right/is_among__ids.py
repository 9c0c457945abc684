def is_among(x, inputs):
    return id(x) in {id(one) for one in inputs}
