"""Numbers in the text of a call, as arrays that are made once.

NumPy has to make an array of every number that it is given, and to find out its type, at each call
again. So a kernel's text says "{number:0.5}" for a number of the result's type, "{ones:32}" for a
vector of 32 ones, and "{full:0.5}" for a number that may as well be an array of the result's shape;
in the program a name stands there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kerascope.backend.program.memory import aligned
from kerascope.backend.program.names import Names

FEWEST_FULL, MOST_FULL = 1 << 8, 1 << 15  # fewer gain nothing, more would be too much memory


def is_better_full(ufunc: np.ufunc | None, size: int) -> bool:
    """Tell whether an array of one number is a better operand than the number.

    Of two arrays, maximum and minimum take half the time that they take of an array and a number.

    Parameters
    ----------
    ufunc : np.ufunc or None
    size : int
        How many numbers the result has.
    """
    return ufunc in (np.maximum, np.minimum) and FEWEST_FULL <= size <= MOST_FULL


class _Place:
    """What `format` asks for the name of one array."""

    def __init__(
        self, literals: Literals, kind: str, dtype: np.dtype, shape: tuple[int, ...]
    ) -> None:
        self._literals = literals
        self._kind = kind
        self._dtype = dtype
        self._shape = shape

    def __format__(self, text: str) -> str:
        return self._literals.name(self._kind, text, self._dtype, self._shape)


class Literals:
    """Names the arrays of a program's numbers.

    Parameters
    ----------
    names : Names
    scope : dict
        What the names of the program stand for; filled.

    Examples
    --------
    >>> scope = {}
    >>> literals = Literals(Names(), scope)
    >>> "np.maximum(x, {number:0.5}, out=x)".format(**literals.words(np.dtype("float32")))
    'np.maximum(x, c_0_5, out=x)'
    >>> scope
    {'c_0_5': array(0.5, dtype=float32)}
    """

    def __init__(self, names: Names, scope: dict[str, Any]) -> None:
        self._names = names
        self._scope = scope
        self._known: dict[Any, str] = {}

    def words(self, dtype: np.dtype, shape: tuple[int, ...] = ()) -> dict[str, Any]:
        """Return what stands for `number`, `full` and `ones` in a text, by its result."""
        return {kind: _Place(self, kind, dtype, shape) for kind in ("number", "full", "ones")}

    def name(self, kind: str, text: str, dtype: np.dtype, shape: tuple[int, ...] = ()) -> str:
        """Return the name of what a text asks for."""
        if kind == "ones":
            return self.name_of(np.ones(int(text), dtype), f"ones_{text}", (text, dtype))
        number = np.array(float(text), dtype)
        if kind == "full" and is_better_full(np.maximum, math.prod(shape)):
            return self.name_of_full(number, shape)
        return self.name_of(number)

    def name_of_full(self, number: np.ndarray, shape: tuple[int, ...]) -> str:
        """Return the name of an array that is filled with a number."""
        wanted = "_".join([number_name(number), "x".join(map(str, shape))])
        key = ("full", number.tobytes(), number.dtype, shape)
        if key in self._known:
            return self._known[key]
        array = aligned(number.itemsize * math.prod(shape)).view(number.dtype).reshape(shape)
        array[...] = number
        return self.name_of(array, wanted, key)

    def name_of(self, array: np.ndarray, wanted: str | None = None, key: Any = None) -> str:
        """Return the name of an array that never changes; equal small ones have one name."""
        if key is None:
            is_small = array.nbytes <= 64
            key = (array.dtype, array.shape, array.tobytes()) if is_small else id(array)
        if key not in self._known:
            name = self._known[key] = self._names.free(wanted or number_name(array))
            self._scope[name] = array
        return self._known[key]


def number_name(array: np.ndarray) -> str:
    """Return a name for a constant: `c_0_5` for 0.5.

    Examples
    --------
    >>> number_name(np.array(-0.5)), number_name(np.zeros((2, 3))), number_name(np.array(1e-7))
    ('c_minus_0_5', 'c_2x3', 'c_1e_minus_7')
    """
    if array.ndim:
        return "c_" + "x".join(map(str, array.shape))
    text = str(array.item()) if array.dtype.kind != "f" else _shortest(array)
    return "c_" + text.replace("+", "").replace("-", "minus_").replace(".", "_")


def _shortest(array: np.ndarray) -> str:
    """Return the fewest digits that tell a number of its type from all others."""
    size = abs(float(array))
    if size == 0 or 1e-4 <= size < 1e6:
        return np.format_float_positional(array.flat[0], trim="-")
    text = np.format_float_scientific(array.flat[0], trim="-", exp_digits=1)
    digits, _, power = text.partition("e")
    return f"{digits}e_{power}" if power else digits
