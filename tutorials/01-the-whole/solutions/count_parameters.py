from itertools import pairwise


def parameters(sizes):
    return sum(size * units + units for size, units in pairwise(sizes))
