from operator import is_


def is_among(x, inputs):
    return sum(is_(x, one) for one in inputs) > 0
