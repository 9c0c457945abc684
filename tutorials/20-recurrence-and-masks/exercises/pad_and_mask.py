"""Make a rectangle of sequences of different lengths, and its mask.

Write `pad_and_mask(sequences, side)`. sequences is a list of lists of numbers, and side is "before"
or "after": where the zeros go. It returns two arrays of shape (sequences, longest length):

    the numbers, as floats, with zeros at the end or at the beginning of the shorter sequences
    the mask, as bools: True at every number of a sequence, False at the zeros that were put there

A sequence may be empty, and it may contain a 0 of its own, which counts like any other number.
"""

import numpy as np


def pad_and_mask(sequences, side):
    numbers = ...
    mask = ...
    return numbers, mask
