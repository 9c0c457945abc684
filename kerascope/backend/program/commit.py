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

from kerascope.backend.atomic import BOUND, LOCKS, Call, at_once, is_missing, still_bound
from kerascope.backend.graph import Variable
from kerascope.errors import ShapeError

Rooms = Sequence[tuple[Variable, np.ndarray]]


class Disturbed(Exception):
    """The handler of a signal has written variables that a call reads or writes.

    What the call has computed is partly of the old numbers, and what it writes in place would be
    added to the new ones.
    """


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


class Writing:
    """What a program calls to write its new values.

    Parameters
    ----------
    calls : list of callable
        See `noted`.
    rooms : list of (Variable, array)
        Where the variables lie that the calls write.
    mark : object
        It is in `BOUND` as long as it is known that the variables lie there.
    call : object
        It is in `LOCKS.undisturbed` until it writes, as long as nobody else writes what it needs.
    """

    def __init__(self, calls: Sequence[Call], rooms: Rooms, mark: object, call: object) -> None:
        self._calls: list[Call] = [
            still_bound(mark),
            partial(LOCKS.undisturbed.pop, call),
            *calls,
        ]
        self._rooms = rooms
        self._ids = frozenset(id(v) for v, _ in rooms)
        self._mark = mark
        self._call = call

    def __call__(self) -> None:
        """Write.

        Raises
        ------
        Disturbed
            Nothing was written.
        """
        with LOCKS.writing:
            LOCKS.note(self._ids, self._call)
            try:
                try:
                    at_once(self._calls)
                except KeyError as error:
                    if not is_missing(self._mark, error):
                        raise
                    self._write_moved()
            except KeyError as error:
                if not is_missing(self._call, error):
                    raise
                raise Disturbed from None

    def _write_moved(self) -> None:
        """Write, and bring home the variables that are elsewhere now."""
        is_bound, is_undisturbed, *calls = self._calls
        while True:
            BOUND[self._mark] = None
            try:
                at_once([is_bound, is_undisturbed, *self._way_home(), *calls])
                return
            except KeyError as error:
                if not is_missing(self._mark, error):
                    raise

    def _way_home(self) -> list[Call]:
        """Return what brings home the variables that were moved during the call.

        An op may do so by calling a function, and the handler of a signal.

        They get what this program computes from their values before that.
        """
        moved = [(v, room) for v, room in self._rooms if v.room is not room]
        return [one for v, room in moved for one in v._calls_to_have(room, is_shared=False)]
