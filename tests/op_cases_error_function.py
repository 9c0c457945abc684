"""Rows of `Erf` for tests/backend/test_ops.py; the reference is the integral, by Simpson's rule."""

import math

import numpy as np
from op_cases import unary
from reference import each

from kerascope.backend.ops.elementwise import Erf


def erf(x, steps=2000):
    points = np.linspace(0.0, x, steps + 1)
    heights = np.exp(-(points**2))
    heights[1:-1:2] *= 4
    heights[2:-1:2] *= 2
    return float(heights.sum() * x / steps / 3 * 2 / math.sqrt(math.pi))


CASES = unary(Erf(), lambda x: each(erf, x))
