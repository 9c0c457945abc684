"""`K.einsum` in plain loops over single numbers."""

import math

import numpy as np
from reference import all_places


def einsum(operands, result, *arrays):
    """Return for each place of the result the sum over all values of the other letters."""
    sizes = {}
    for letters, array in zip(operands, arrays, strict=True):
        sizes.update(zip(letters, array.shape, strict=True))
    summed = [letter for letter in sizes if letter not in result]
    answer = np.zeros([sizes[letter] for letter in result])
    for place in all_places(answer.shape):
        numbers = dict(zip(result, place, strict=True))
        for inner in all_places([sizes[letter] for letter in summed]):
            numbers.update(zip(summed, inner, strict=True))
            answer[place] += math.prod(
                array[tuple(numbers[letter] for letter in letters)].item()
                for letters, array in zip(operands, arrays, strict=True)
            )
    return answer
