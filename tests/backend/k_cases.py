"""What a case of a K function is; the tables of cases stand in the `k_cases_*.py` beside this file.

`test_every_k_function.py` runs them. A function of tensors gets a `Case`: a call, its inputs and
what plain NumPy (or a loop of `reference.py`) says. A function that remembers, makes or asks
something gets a `behaviour`: a small test that calls it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from op_cases import Draw

__all__ = ["BEHAVIOURS", "Behaviour", "Case", "Draw", "behaviour", "case"]


@dataclass(frozen=True)
class Case:
    """A call of one function of K on tensors.

    Attributes
    ----------
    name : str
        The function: `K.<name>`.
    call : callable
        From the input tensors to the result: a tensor or several.
    inputs : callable
        From a `Draw` to the input arrays.
    expected : callable
        From the input arrays to the result, an array or several.
    smooth : sequence of int
        Inputs with a gradient that finite differences confirm at these arrays.
    dtype : str, optional
        Type of the result; by default that of the first input.
    batch : bool
        Axis 0 of the first input is the batch, and the result's: with it unknown every other size
        is still known.
    fixed : sequence of int
        Inputs whose sizes must be known: kernels.
    arrays_too : bool
        Whether plain arrays may come in the place of tensors.
    """

    name: str
    call: Callable[..., Any]
    inputs: Callable[[Draw], Sequence[Any]]
    expected: Callable[..., Any]
    smooth: Sequence[int] = (0,)
    dtype: str | None = None
    batch: bool = True
    fixed: Sequence[int] = ()
    arrays_too: bool = True


def case(name: str, call: Any, shapes: Any, expected: Any, **facts: Any) -> Case:
    """Return a case; `shapes` is a list of shapes of normally distributed inputs, or a callable."""
    if callable(shapes):
        return Case(name, call, shapes, expected, **facts)
    return Case(name, call, lambda d: [d.normal(*shape) for shape in shapes], expected, **facts)


@dataclass(frozen=True)
class Behaviour:
    """A small test of functions that no table of arrays can describe.

    Attributes
    ----------
    names : tuple of str
        The functions of K that it calls.
    check : callable
        Raises AssertionError if they do not behave so.
    """

    names: tuple[str, ...]
    check: Callable[[], None]


BEHAVIOURS: list[Behaviour] = []


def behaviour(*names: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Enter the decorated function as a behaviour of these functions of K."""

    def enter(check: Callable[[], None]) -> Callable[[], None]:
        BEHAVIOURS.append(Behaviour(names, check))
        return check

    return enter
