"""The end of a program: new values are written into their variables by a single call into C.

The text of a program has a second function, `new_values`, with the NumPy calls that write the new
values into arrays at fixed addresses. It runs once, when the program is compiled, with a
replacement for `np` that records each call instead of making it. At its end the program calls
`write`, which makes all recorded calls at once.
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
    """Copy a new value into the array from which the variable will be written.

    Raises
    ------
    ShapeError
        The value has another shape, which a custom op may return.
    """
    if np.shape(value) != room.shape:
        raise ShapeError(
            f"update: expected a new value of shape {room.shape}, got {np.shape(value)}. "
            f"No variable was changed."
        )
    np.copyto(room, value)


def recorded_calls(function: Callable[[], None], scope: Mapping[str, Any]) -> list[Call]:
    """Return the NumPy calls that a program's `new_values` would make, as a list of callables.

    Examples
    --------
    >>> x = np.ones(2)
    >>> scope = {"x": x}
    >>> exec("def new_values(): np.add(x, 1, x)", scope)
    >>> calls = recorded_calls(scope["new_values"], scope)
    >>> x.tolist()
    [1.0, 1.0]
    >>> at_once(calls)
    >>> x.tolist()
    [2.0, 2.0]
    """
    recorder = _CallRecorder()
    FunctionType(function.__code__, {**scope, "np": recorder})()  # type: ignore[attr-defined]
    return recorder.calls


class _CallRecorder:
    """A replacement for `np` that records calls instead of making them."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        ufunc = getattr(np, name)
        assert isinstance(ufunc, np.ufunc), f"{name} may run Python code"

        def note(*operands: Any, **options: Any) -> None:
            self.calls.append(partial(ufunc, *operands, **options))

        return note

    def copyto(self, target: np.ndarray, source: np.ndarray) -> None:
        """Record an assignment instead of `np.copyto`, because `np.copyto` runs Python code."""
        self.calls.append(partial(setitem, target, ..., source))


class State:
    """The state that a program shares with the callable that writes its new values.

    Attributes
    ----------
    moves : object
        The value that `LOCKS.moves` had when the variables last had the program's arrays.
        `LOCKS.moves` changes whenever a variable gets another array or lends its array.
    has_written : bool
        Whether the last call may have written new values, even if it ended with an error.
    """

    moves: object = None
    has_written = False


class VariableWrites:
    """The callable with which a program writes its new values into the variables.

    Parameters
    ----------
    calls : list of callable
        The recorded calls: see `recorded_calls`.
    rooms : list of (Variable, array)
        The variables that the calls write, with their arrays.
    state : State
        What this callable shares with its program.
    """

    def __init__(self, calls: Sequence[Call], rooms: Rooms, state: State) -> None:
        self._calls: list[Call] = [*calls, partial(setattr, state, "has_written", True)]
        self._state = state
        self._rooms = rooms
        self._ids = frozenset(id(v) for v, _ in rooms)

    def __call__(self) -> None:
        """Write the new values into the program's arrays of the variables.

        If an op gave a variable another array, the program's array is restored first.
        """
        with LOCKS.writing:
            LOCKS.note(self._ids)
            home: list[Call] = []
            if LOCKS.moves != self._state.moves:
                moved = [(v, room) for v, room in self._rooms if v.room is not room]
                home = [one for v, room in moved for one in v._calls_to_have(room, is_shared=False)]
            at_once([*home, *self._calls] if home else self._calls)
