"""Many writes as one: what belongs together changes together, or not at all.

Ctrl-C, any other signal's handler and an exception that another thread raises here all come between
two steps of Python's own machine, never inside a call of C. So the writes that belong together are
prepared one by one, as calls that run no Python code, and then made by a single call into C. What
is raised before it finds nothing written, what is raised after it finds all. Of other threads see
`locks.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from operator import call
from typing import Any, Protocol

import numpy as np

from kerascope.backend.locks import LOCKS

Call = Callable[[], object]

_take_all: Callable[[Iterable[object]], None] = deque[object](maxlen=0).extend


class Writable(Protocol):
    """What `set_values` and `take_over` ask of a variable."""

    def _checked(self, value: Any) -> np.ndarray:
        """Return a value as an array that fits, or raise."""

    def _calls_to_set(self, array: np.ndarray) -> list[Call]:
        """Return the calls by which an array's numbers become those of the variable."""

    def _calls_to_have(self, array: np.ndarray, *, is_shared: bool) -> list[Call]:
        """Return the calls by which the array itself becomes that of the variable."""


def at_once(calls: Iterable[Call]) -> None:
    """Make calls one after the other, with nothing in between.

    Parameters
    ----------
    calls : iterable of callable
        Each runs no Python code: `functools.partial` of a ufunc, `setattr`, `operator.setitem`.
        The iterable too: a list, or what `itertools` makes of lists.

    Examples
    --------
    >>> from functools import partial
    >>> x, y = np.zeros(2), np.ones(2)
    >>> at_once([partial(np.add, x, y, x), partial(np.add, x, y, x)])
    >>> x.tolist()
    [2.0, 2.0]
    """
    _take_all(map(call, calls))


def write(calls: Iterable[Call], ids: frozenset[int]) -> None:
    """Make the calls that write variables, whose ids are given, while no other thread looks."""
    with LOCKS.writing:
        LOCKS.note(ids)
        at_once(calls)


def set_values(pairs: Iterable[tuple[Writable, Any]]) -> None:
    """Give variables new numbers: all of them, or none if a value does not fit.

    Parameters
    ----------
    pairs : iterable of (Variable, array_like)
        If a variable comes twice, its last value counts.
    """
    checked = [(variable, variable._checked(value)) for variable, value in pairs]
    with LOCKS.steps:
        calls = [one for variable, array in checked for one in variable._calls_to_set(array)]
        write(calls, frozenset(id(variable) for variable, _ in checked))


def reset_together(things: Iterable[Any], *methods: str) -> None:
    """Reset several things that keep a state, all of them at once.

    One says by `_resets()` which variable becomes what, or by `_resets_inside()` what there is to
    reset inside of it. Where a subclass writes one of the methods anew, that is called instead.

    Parameters
    ----------
    things : iterable
    *methods : str
        The names of the method that resets; the first is called.
    """
    set_values(list(_resets_of(things, methods)))


def _resets_of(
    things: Iterable[Any], methods: tuple[str, ...]
) -> Iterator[tuple[Writable, np.ndarray]]:
    wanted = ("_resets", "_resets_inside", *methods)
    for thing in things:
        said = next(name for kind in type(thing).__mro__ for name in wanted if name in vars(kind))
        if said == "_resets":
            yield from thing._resets()
        elif said == "_resets_inside":
            yield from _resets_of(thing._resets_inside(), methods)
        else:
            getattr(thing, methods[0])()


def take_over(pairs: Iterable[tuple[Writable, np.ndarray]]) -> None:
    """Let arrays of the right shapes and types be those of variables: all of them at once."""
    pairs = [(variable, np.require(array, requirements="C")) for variable, array in pairs]
    with LOCKS.steps:
        calls = [one for v, array in pairs for one in v._calls_to_have(array, is_shared=True)]
        write(calls, frozenset(id(variable) for variable, _ in pairs))
