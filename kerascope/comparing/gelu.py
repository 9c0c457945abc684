"""Find out which form of gelu a model uses from its numbers: exact, or computed with tanh.

Gelu is x Phi(x), where Phi is the normal distribution function. The two forms differ by at most
0.0005. This is less than the tolerance if an array has large numbers, and about the rounding error
of float16. But the difference is a known function of the result, and rounding errors do not follow
it.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from kerascope.comparing.arrays import as_numbers

LOW, HIGH = 0.02, 4.0  # results for which the forms differ, and gelu(x) determines x
FEWEST = 8  # numbers needed for a decision
SIGMAS = 6.0  # how far the difference must exceed the rounding errors
NEAR = 0.25  # largest deviation of the measured from the known difference


def gelu_forms_of(a: np.ndarray, b: np.ndarray) -> str:
    """Return as text which form of gelu each of two results uses; "" if they use the same form.

    Parameters
    ----------
    a, b : np.ndarray
        Two results of gelu, of the same shape.

    Examples
    --------
    >>> x = np.linspace(-3, 3, 50)
    >>> exact = x * np.array([0.5 * math.erfc(-one / 2**0.5) for one in x])
    >>> by_tanh = 0.5 * x * (1 + np.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)))
    >>> gelu_forms_of(exact, by_tanh)
    'gelu is computed exactly in a, by a tanh in b'
    >>> gelu_forms_of(exact, exact + 1e-7)
    ''
    """
    first, second = as_numbers(a).ravel(), as_numbers(b).ravel()
    middle = (first + second) / 2
    known = (middle > LOW) & (middle < HIGH)  # False for NaN
    if np.count_nonzero(known) < FEWEST:
        return ""
    results, distances = _forms()
    expected = np.interp(middle[known], results, distances)
    found = (first - second)[known]
    power = float(expected @ expected)
    share = float(expected @ found) / power
    rest = found - share * expected
    spread = math.sqrt(float(rest @ rest) / (rest.size - 1) / power)
    if abs(abs(share) - 1) > NEAR or abs(share) < SIGMAS * spread:
        return ""
    forms = ("by a tanh in a, exactly in b", "exactly in a, by a tanh in b")
    return f"gelu is computed {forms[share < 0]}"


@lru_cache(1)
def _forms() -> tuple[np.ndarray, np.ndarray]:
    """Return exact values of gelu, and the differences between the tanh form and these values."""
    x = np.linspace(0, HIGH + 1, 1001)
    exact = x * np.array([0.5 * math.erfc(-one / math.sqrt(2)) for one in x.tolist()])
    by_tanh = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return exact, by_tanh - exact
