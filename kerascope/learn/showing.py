"""How messages show a value, and when two values count as equal.

A value is shown on one short line, the same in every process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope import backend as K
from kerascope.backend import Tensor, Variable
from kerascope.import_hook import OWN_ENGINE
from kerascope.learn.verdicts import NOTHING, Text, Unmet

LONGEST = 90
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def shown(value: Any, language: str = "en") -> str:
    """Return a value as text for a message in one language.

    Examples
    --------
    >>> shown(16362), shown(0.1 + 0.2), shown([1, 2]), shown(np.zeros((2, 3)))
    ('16,362', '0.3', '[1, 2]', 'an array (2, 3) float64')
    >>> shown(np.zeros((2, 3)), "zh")
    '数组 (2, 3) float64'
    """
    if value is Ellipsis:
        return "`...`"
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}"
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.6g}"
    if isinstance(value, np.ndarray) and value.ndim:
        words = Text("an array", "数组").within(language)
        return f"{words} {value.shape} {value.dtype}"
    if isinstance(value, np.ndarray):
        return shown(value[()], language)
    if isinstance(value, Tensor):
        return f"{Text('the tensor', '张量').within(language)} '{value.name}'"
    if _is_of_own_engine(value):
        name = type(value).__name__
        return Text(f"a {name}", f"{name} 对象").within(language)
    if isinstance(value, (list, tuple)) and any(map(_is_of_own_engine, value)):
        return f"[{', '.join(shown(one, language) for one in value)}]"
    if isinstance(value, dict) and any(map(_is_of_own_engine, value)):
        pairs = (f"{shown(key, language)}: {shown(one, language)}" for key, one in value.items())
        return _shortened(f"{{{', '.join(pairs)}}}")
    return _shortened(_ADDRESS.sub("", " ".join(repr(value).split())))


def _shortened(words: str) -> str:
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 3]}..."


def _is_of_own_engine(value: Any) -> bool:
    """Return whether the student's engine defines the class of an object."""
    return type(value).__module__.partition(".")[0] == OWN_ENGINE


def is_same(found: Any, expected: Any) -> bool:
    """Return whether two values are equal. Both can be arrays or tensors.

    Unlike in Python, a bool never equals a number, a float never equals an expected int, and a
    tensor equals only itself.

    Examples
    --------
    >>> is_same(np.ones(2), [1, 1]), is_same(True, 1), is_same((1, 2), [1, 2]), is_same(1.0, 1)
    (True, False, True, False)
    """
    if isinstance(found, Tensor) or isinstance(expected, Tensor):
        return found is expected
    if isinstance(expected, (list, tuple)) and isinstance(found, (list, tuple)):
        return len(found) == len(expected) and all(map(is_same, found, expected))
    booleans = (bool, np.bool_)
    if isinstance(found, booleans) != isinstance(expected, booleans):
        return False
    if is_whole_number_as_float(found, expected):
        return False
    try:
        if isinstance(found, np.ndarray) or isinstance(expected, np.ndarray):
            return bool(np.array_equal(found, expected))
        return bool(found == expected)
    except Exception:
        return False


def is_whole_number_as_float(found: Any, expected: Any) -> bool:
    """Return whether a value is a float that equals the expected int.

    Examples
    --------
    >>> is_whole_number_as_float(3.0, 3), is_whole_number_as_float(3, 3.0)
    (True, False)
    """
    whole = isinstance(expected, (int, np.integer)) and not isinstance(expected, bool)
    return whole and isinstance(found, (float, np.floating)) and bool(found == expected)


def change_detector(value: Any) -> Callable[[], tuple[Any, Any] | None]:
    """Return a function that detects later changes of a list, dict, set or array.

    The returned function returns the pair (old value, new value) after a change, otherwise None.
    It compares only direct entries, such as the elements of a list, not their contents. Floats
    may differ by rounding.

    Examples
    --------
    >>> numbers = [3, 1]
    >>> look = change_detector(numbers)
    >>> look()
    >>> numbers.sort()
    >>> look()
    ([3, 1], [1, 3])
    """
    if type(value) not in (list, dict, set, np.ndarray):
        return lambda: None
    before = value.copy()

    def look() -> tuple[Any, Any] | None:
        return None if _holds_the_same(before, value) else (before, value)

    return look


def _holds_the_same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        if one.dtype.kind in "fc":
            return bool(np.allclose(one, other, rtol=1e-9, atol=1e-9, equal_nan=True))
        return bool(np.array_equal(one, other))
    if isinstance(one, dict):
        return _holds_the_same(list(one), list(other)) and all(
            value is other[key] for key, value in one.items()
        )
    if len(one) != len(other):
        return False
    if isinstance(one, set):
        return one == other
    return all(old is new for old, new in zip(one, other, strict=True))


def first_difference(found: Any, expected: Any) -> int | None:
    """Return the index of the first difference between two sequences, or None if they are equal.

    Examples
    --------
    >>> first_difference("abc", "abd"), first_difference("ab", "abc"), first_difference("", "")
    (2, 2, None)
    """
    for place, (one, other) in enumerate(zip(found, expected, strict=False)):
        if not is_same(one, other):
            return place
    return None if len(found) == len(expected) else min(len(found), len(expected))


def first_change(before: Any, after: Any) -> tuple[Any, Any, Text]:
    """Return the old value, the new value, and a text that names the index of the change.

    For arrays of the same shape, these describe the first element that differs. For other values,
    the text is empty.

    Examples
    --------
    >>> first_change(np.array([1.0, 2.0]), np.array([1.0, 3.0]))[2].en
    ' at [1] of an array (2,) float64'
    """
    if not isinstance(before, np.ndarray) or before.shape != after.shape or not before.ndim:
        return before, after, NOTHING
    differs = before != after
    if before.dtype.kind in "fc":
        differs = ~np.isclose(before, after, rtol=1e-9, atol=1e-9, equal_nan=True)
    place = tuple(int(i) for i in np.argwhere(differs)[0])
    where = list(place)
    at = Text(f" at {where} of {shown(before)}", f"（{shown(before, 'zh')} 的 {where} 处）")
    return before[place], after[place], at


def as_numbers(value: Any) -> np.ndarray | None:
    """Return a value as a float64 array; None if NumPy cannot convert the value."""
    if value is None or isinstance(value, str):  # NumPy would make a number of them
        return None
    try:
        return np.asarray(value, dtype="float64")
    except (TypeError, ValueError):
        return None


# --- finite differences: the reference for a gradient ---------------------------------------------


STEP = 1e-6
TOLERANCE = 1e-5


class Difference(NamedTuple):
    """The element at which a gradient differs most from finite differences.

    Attributes
    ----------
    number : int
        The index of the input.
    place : tuple of int
        The index of the element in this input.
    exact, approximate : float
        The element of the gradient, and its value by finite differences.
    largest : float
        The absolute difference between `exact` and `approximate`.
    """

    number: int
    place: tuple[int, ...]
    exact: float
    approximate: float
    largest: float

    @property
    def is_small(self) -> bool:
        """Whether `largest` is within the tolerance, which is relative for values above 1."""
        return bool(self.largest <= TOLERANCE * max(1.0, abs(self.approximate)))


def difference_of_gradients(function: Callable[..., Tensor], arrays: Sequence[Any]) -> Difference:
    """Compare a symbolic gradient with finite differences; return the largest difference.

    The loss is a weighted sum of the outputs. The weights differ, also in sign, so that a gradient
    that ignores the output gradient is detected. Weights of 1 would not detect it.

    Raises
    ------
    Unmet
        The shape of a gradient differs from that of its input.

    Examples
    --------
    >>> difference_of_gradients(lambda x, y: x * K.exp(y), [[1.0, 2.0], [0.5, 3.0]]).is_small
    True
    """
    variables = [K.variable(np.asarray(array, "float64"), dtype="float64") for array in arrays]
    outputs = function(*variables)
    shape = np.shape(K.eval(outputs))
    weights = 0.5 + np.arange(1, 1 + int(np.prod(shape)), dtype="float64").reshape(shape)
    weights.flat[1::2] *= -1
    loss = K.sum(outputs * K.variable(weights, dtype="float64"))
    slopes = K.gradients(loss, variables)
    exact = [
        np.zeros(np.shape(K.get_value(v))) if slope is None else np.asarray(K.eval(slope))
        for v, slope in zip(variables, slopes, strict=True)
    ]
    _check_shapes(variables, exact)
    measure = K.function([], [loss])
    worst = Difference(0, (), 0.0, 0.0, -1.0)
    for number, variable in enumerate(variables):
        worst = max(worst, _worst_of(number, variable, exact[number], measure), key=_largest)
    return worst


def _check_shapes(variables: list[Variable], exact: list[Any]) -> None:
    for number, (variable, slope) in enumerate(zip(variables, exact, strict=True)):
        wanted, found = np.shape(K.get_value(variable)), slope.shape
        if found != wanted:
            raise Unmet(
                Text(
                    en=f"expected the gradient for input {number} to have its shape {wanted}, "
                    f"yours has {found}",
                    zh=f"第 {number} 个输入的梯度应与它同形 {wanted}，你的是 {found}",
                )
            )


def _largest(difference: Difference) -> float:
    return difference.largest


def _worst_of(number: int, variable: Variable, exact: Any, measure: Any) -> Difference:
    start = np.array(K.get_value(variable))
    worst = Difference(number, (), 0.0, 0.0, -1.0)
    for place in np.ndindex(start.shape):
        losses = []
        for sign in (1, -1):
            moved = start.copy()
            moved[place] += sign * STEP
            K.set_value(variable, moved)
            losses.append(float(measure([])[0]))
        slope = (losses[0] - losses[1]) / (2 * STEP)
        gap = abs(float(exact[place]) - slope)
        found = Difference(number, place, float(exact[place]), slope, gap if gap == gap else np.inf)
        worst = max(worst, found, key=_largest)
    K.set_value(variable, start)
    return worst
