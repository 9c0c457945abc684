"""Measure a gradient with finite differences.

Before you trust a formula, you need a check without a formula. Move one element of x up and down
by a small step and see how much f changes:

    d f / d x[i]  is nearly  (f(x + step at i) - f(x - step at i)) / (2 * step)

Write `slopes(f, x)`: an array of the shape of x. f takes an array of floats and returns a number.
Use a step of 1e-5. At the end, x itself must be unchanged.
"""

import numpy as np


def slopes(f, x):
    return ...
