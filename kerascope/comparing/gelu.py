"""The two forms of gelu, told apart by their numbers.

x Phi(x) is computed exactly or by a tanh, and the two are at most 0.0005 apart: less than what the
tolerance allows beside large numbers, and about as much as float16 rounds. But as a function of the
result that distance is known, and rounding does not follow it.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from kerascope.comparing.arrays import as_numbers

LOW, HIGH = 0.02, 4.0  # of the results: where the forms are apart, and x can be told from gelu(x)
FEWEST = 8  # numbers that say anything
SIGMAS = 6.0  # how clearly the distance has to stand out of the rounding
NEAR = 0.25  # how far the distance found may be from the one that is known


def told_apart(a: np.ndarray, b: np.ndarray) -> str:
    """Return which of two results is computed in which form; "" if they do not differ in that.

    Parameters
    ----------
    a, b : np.ndarray
        Of one shape.

    Examples
    --------
    >>> x = np.linspace(-3, 3, 50)
    >>> exact = x * np.array([0.5 * math.erfc(-one / 2**0.5) for one in x])
    >>> by_tanh = 0.5 * x * (1 + np.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)))
    >>> told_apart(exact, by_tanh)
    'gelu is computed exactly in a, by a tanh in b'
    >>> told_apart(exact, exact + 1e-7)
    ''
    """
    first, second = as_numbers(a).ravel(), as_numbers(b).ravel()
    middle = (first + second) / 2
    known = (middle > LOW) & (middle < HIGH)  # False of what is no number
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
    """Return results of gelu for growing numbers, and by how much that by a tanh is larger."""
    x = np.linspace(0, HIGH + 1, 1001)
    exact = x * np.array([0.5 * math.erfc(-one / math.sqrt(2)) for one in x.tolist()])
    by_tanh = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return exact, by_tanh - exact
