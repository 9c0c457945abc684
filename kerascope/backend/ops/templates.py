"""Texts of NumPy calls that compute into given memory: what `Op.kernel` returns.

In such a text {0}, {1}, ... stand for the inputs and {out} for the memory of the result, whose
numbers lie row by row as C has them; {number:0.5} for a number of its type, {full:0.5} for such a
number or as many of them as the result has, and {ones:32} for a vector of ones. The compiled
program of a function consists of such lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

COPY = "np.copyto({out}, {0})"


def number(value: float) -> str:
    """Return what stands in a text for a number of the result's type.

    Examples
    --------
    >>> number(0.5), number(float("-inf"))
    ('{number:0.5}', '{number:-inf}')
    """
    return f"{{number:{float(value)!r}}}"


def full(value: float) -> str:
    """Return what stands for a number among the operands of a maximum or minimum.

    Of two arrays these take half the time that they take of an array and a number.

    Examples
    --------
    >>> full(0)
    '{full:0.0}'
    """
    return f"{{full:{float(value)!r}}}"


def reduction(ufunc: str, axes: Iterable[int], keepdims: bool = False, x: str = "{0}") -> str:
    """Return the reduction of `x` over axes by a ufunc.

    Examples
    --------
    >>> reduction("np.add", (0,))
    'np.add.reduce({0}, (0,), None, {out})'
    """
    kept = ", True" if keepdims else ""
    return f"{ufunc}.reduce({x}, {tuple(axes)}, None, {{out}}{kept})"


def sum_of_rows(*shape: int) -> str:
    """Return the sum of all rows of an array, of whose shape the first axes say how many.

    The number of columns is needed only where the rows lie in more than one axis.

    Examples
    --------
    >>> sum_of_rows(32), sum_of_rows(32, 10)
    ('np.dot({ones:32}, {0}, {out})', 'np.dot({ones:32}, {0}, {out})')
    >>> sum_of_rows(50, 32, 10)
    'np.dot({ones:1600}, {0}.reshape(1600, 10), {out})'
    """
    rows = math.prod(shape[:-1] or shape)
    x = "{0}" if len(shape) < 3 else f"{{0}}.reshape({rows}, {shape[-1]})"
    return f"np.dot({{ones:{rows}}}, {x}, {{out}})"


def turned(x: str, shape: Sequence[int], pattern: Sequence[int], new_shape: Sequence[int]) -> str:
    """Return `x`, an array of this shape, transposed and then reshaped; neither if it need not be.

    Examples
    --------
    >>> turned("{0}", (2, 3, 4), (0, 1, 2), (6, 4))
    '{0}.reshape(6, 4)'
    """
    if tuple(pattern) != tuple(range(len(shape))):
        x += f".transpose({', '.join(map(str, pattern))})"
    if tuple(shape[axis] for axis in pattern) != tuple(new_shape):
        x += f".reshape({', '.join(map(str, new_shape))})"
    return x
