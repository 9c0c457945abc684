"""Templates of NumPy calls that write into a given array; `Op.kernel` may return one.

A template is a line of Python with fields: {0}, {1}, ... are the inputs, and {out} is the result, a
C-contiguous array. {number:0.5} is a number of the result's dtype, {full:0.5} is such a number or
an array filled with it, and {ones:32} is a vector of ones. A compiled function consists of such
lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

COPY = "np.copyto({out}, {0})"


def number(value: float) -> str:
    """Return the template field for a number of the result's dtype.

    Examples
    --------
    >>> number(0.5), number(float("-inf"))
    ('{number:0.5}', '{number:-inf}')
    """
    return f"{{number:{float(value)!r}}}"


def full(value: float) -> str:
    """Return the template field for a number that is an operand of `np.maximum` or `np.minimum`.

    With two arrays these functions take half the time they take with an array and a number.

    Examples
    --------
    >>> full(0)
    '{full:0.0}'
    """
    return f"{{full:{float(value)!r}}}"


def reduction(ufunc: str, axes: Iterable[int], keepdims: bool = False, x: str = "{0}") -> str:
    """Return the template of a NumPy call that reduces `x` over axes with a ufunc.

    Examples
    --------
    >>> reduction("np.add", (0,))
    'np.add.reduce({0}, (0,), None, {out})'
    """
    kept = ", True" if keepdims else ""
    return f"{ufunc}.reduce({x}, {tuple(axes)}, None, {{out}}{kept})"


def sum_of_rows(*shape: int) -> str:
    """Return the template of a NumPy call that sums an array over all axes except the last.

    For a matrix, the number of rows is enough, because the template does not depend on the number
    of columns.

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
    """Return code that transposes the array `x` by a pattern, then reshapes it to `new_shape`.

    `shape` is the shape of `x`. A transposition or reshape that would change
    nothing is omitted.

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
