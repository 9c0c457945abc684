"""The end of a program: new values are written into their variables, all by one call into C.

The text of a program has a second function, `new_values`, that says what is written: NumPy calls on
arrays that always lie at the same place. It runs once, when the program is made, and with another
`np`, which notes each call in place of making it. What the program calls at its end is `write`: it
makes all that was noted at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import setitem
from types import FunctionType
from typing import Any

import numpy as np

from kerascope.backend.atomic import LOCKS, Call, at_once
from kerascope.backend.variables import Variable
from kerascope.errors import ShapeError

Rooms = Sequence[tuple[Variable, np.ndarray]]


def fill(room: np.ndarray, value: Any) -> None:
    """Copy into `room` what will be read when variables change.

    Raises
    ------
    ShapeError
        The value has another shape: an op of somebody else's may return what it likes.
    """
    if np.shape(value) != room.shape:
        raise ShapeError(
            f"update: a new value has shape {np.shape(value)}; expected {room.shape}. "
            f"No variable was changed."
        )
    np.copyto(room, value)


def noted(function: Callable[[], None], scope: Mapping[str, Any]) -> list[Call]:
    """Return the NumPy calls that a function of a program would make, ready to be made at once.

    Examples
    --------
    >>> x = np.ones(2)
    >>> scope = {"x": x}
    >>> exec("def new_values(): np.add(x, 1, x)", scope)
    >>> calls = noted(scope["new_values"], scope)
    >>> x.tolist()
    [1.0, 1.0]
    >>> at_once(calls)
    >>> x.tolist()
    [2.0, 2.0]
    """
    notebook = _Notebook()
    FunctionType(function.__code__, {**scope, "np": notebook})()  # type: ignore[attr-defined]
    return notebook.calls


class _Notebook:
    """Stands for `np`: notes the calls that are made of it."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        ufunc = getattr(np, name)
        assert isinstance(ufunc, np.ufunc), f"{name} may run Python code"

        def note(*operands: Any, **options: Any) -> None:
            self.calls.append(partial(ufunc, *operands, **options))

        return note

    def copyto(self, target: np.ndarray, source: np.ndarray) -> None:
        """Note a copy; NumPy's own `copyto` asks a function in Python first."""
        self.calls.append(partial(setitem, target, ..., source))


class State:
    """What a program and its writing know of each other.

    Attributes
    ----------
    moves : int
        How many moves there were when the variables lay where the program writes.
    has_written : bool
        Whether they may have new values by the last call, also if that was left by an error.
    """

    moves = -1
    has_written = False


class VariableWrites:
    """What a program calls to write its new values.

    Parameters
    ----------
    calls : list of callable
        See `noted`.
    rooms : list of (Variable, array)
        Where the variables lie that the calls write.
    state : State
    """

    def __init__(self, calls: Sequence[Call], rooms: Rooms, state: State) -> None:
        self._calls: list[Call] = [*calls, partial(setattr, state, "has_written", True)]
        self._state = state
        self._rooms = rooms
        self._ids = frozenset(id(v) for v, _ in rooms)

    def __call__(self) -> None:
        """Write; variables that an op has moved meanwhile get their arrays back."""
        with LOCKS.writing:
            LOCKS.note(self._ids)
            home: list[Call] = []
            if LOCKS.moves != self._state.moves:
                moved = [(v, room) for v, room in self._rooms if v.room is not room]
                home = [one for v, room in moved for one in v._calls_to_have(room, is_shared=False)]
            at_once([*home, *self._calls] if home else self._calls)
