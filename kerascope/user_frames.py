"""Finds the user's code in a call stack: the owner of each frame's code, and the frame's line.

Warnings point at the innermost caller outside kerascope, and every layer stores the line that
created it. Ops and calls of layers store all of the user's frames that led to them, up to the
function that entered the engine (`boundary`). Only the code object and the instruction's position
are stored. This is cheap and keeps no frame, and so no array, alive. Lines and columns are computed
when they are needed.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeVar

from kerascope.errors import KerascopeWarning
from kerascope.printable import printable_lines

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep

# --- whose code it is -----------------------------------------------------------------------------


OURS, BOUNDARY, LIBRARY, USER = range(4)

# Without sysconfig, whose import takes as long as thirty modules of ours.
_PYTHON = os.path.join(os.path.dirname(warnings.__file__), "")
_INSTALLED = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
_owners: dict[str, int] = {}
_ours: set[str] = set()
_boundaries: set[str] = set()

SomeFunction = TypeVar("SomeFunction", bound=Callable[..., Any])


def boundary(function: SomeFunction) -> SomeFunction:
    """Mark a function that enters the engine by calling a layer, a loss or an optimizer.

    Frames that called this function are not stored for an op, because they belong to an outer call.
    """
    file = function.__code__.co_filename
    _owners[file] = BOUNDARY
    _boundaries.add(file)
    return function


def owner_of_file(file: str) -> int:
    """Return the owner of a code file: OURS (kerascope), BOUNDARY, LIBRARY or USER.

    A BOUNDARY is a file with a function that `boundary` marks. Python's own files count as a
    library. Code without a file, from a notebook cell or a prompt, is the user's.

    Examples
    --------
    >>> owner_of_file(os.__file__) == LIBRARY, owner_of_file("/home/me/train.py") == USER
    (True, True)
    """
    owner = _owners.get(file)
    if owner is None:
        owner = _owners[file] = _owner_of_file(file)
        if owner == OURS:
            _ours.add(file)
    return owner


def _owner_of_file(file: str) -> int:
    if file.startswith((_PACKAGE, "<kerascope ", "<frozen ")):
        return OURS  # frozen modules have no lines to show
    is_library = file.startswith((_PYTHON, "<__array_function__ "))
    return LIBRARY if is_library or any(part in file for part in _INSTALLED) else USER


# --- a stack of frames ----------------------------------------------------------------------------


MOST_FRAMES = 32  # stored frames of a stack; more outer frames add no information


class Line(NamedTuple):
    """A line in source code: its file, number and function, and the columns of an expression.

    Attributes
    ----------
    file : str
    line : int
    function : str
        The name of the function; "<module>" for top-level code.
    column, end_column : int or None
        Columns of the expression, if it ends on the same line; None if Python does not store them.
    """

    file: str
    line: int
    function: str
    column: int | None = None
    end_column: int | None = None


class Frames(tuple[Any, ...]):
    """The user's frames that led to an op or a call, the innermost first.

    Each frame is stored as its code and a position in the code. Pickles contain lines instead.
    """

    __slots__ = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """The line of each frame, the innermost first."""
        return tuple(
            code if isinstance(code, Line) else line_at(code, place)
            for code, place in zip(self[::2], self[1::2], strict=True)
        )

    @property
    def first(self) -> Line | None:
        """The line of the innermost frame, or None."""
        return Frames(self[:2]).lines[0] if self else None

    def __deepcopy__(self, memo: Any) -> Frames:
        return self

    def __reduce__(self) -> Any:
        return _frames_at, (self.lines,)


def _frames_at(lines: Iterable[Line]) -> Frames:
    return Frames([part for line in lines for part in (Line(*line), -1)])


NO_FRAMES = Frames()


@lru_cache(maxsize=4096)
def line_at(code: CodeType, place: int) -> Line:
    """Return the line of the instruction at a byte offset of a code object."""
    span = next(islice(code.co_positions(), place // 2, None), (None,) * 4)
    line, end_line, column, end_column = span
    if line is None:
        return Line(code.co_filename, code.co_firstlineno, code.co_name)
    columns = (column, end_column) if line == end_line else (None, None)
    return Line(code.co_filename, line, code.co_name, *columns)


def users_frames(depth: int = 1) -> Frames:
    """Return the user's frames around the caller, up to the function that entered the engine.

    Without a user's frame, return only the innermost frame of a library, if there is one.

    Parameters
    ----------
    depth : int
        The number of frames to skip. A boundary directly after them is skipped, too.
    """
    frame: FrameType | None = sys._getframe(depth + 1)
    while frame is not None and frame.f_code.co_filename in _boundaries:
        frame = frame.f_back
    return frames_up_from(frame)


def frames_up_from(frame: FrameType | None) -> Frames:
    """Return the user's frames among `frame` and its callers, chosen as by `users_frames`."""
    try:  # skip our own frames fast: they are the majority, and this runs for every new op
        while frame.f_code.co_filename in _ours:  # type: ignore[union-attr]
            frame = frame.f_back  # type: ignore[union-attr]
    except AttributeError:
        return NO_FRAMES
    found: list[Any] = []
    library: list[Any] = []
    while frame is not None:
        code = frame.f_code
        owner = owner_of_file(code.co_filename)
        if owner == USER:
            found += (code, frame.f_lasti)
            if len(found) >= 2 * MOST_FRAMES:
                break
        elif owner == BOUNDARY:
            break
        elif owner == LIBRARY and not library:
            library = [code, frame.f_lasti]
        frame = frame.f_back
    return NO_FRAMES if not found and not library else Frames(found or library)


# --- one line -------------------------------------------------------------------------------------


def line_outside_the_package() -> tuple[str, int] | None:
    """Return file and line of the user's innermost frame.

    Without a user's frame, return those of the innermost frame of a library. Frames of kerascope
    are skipped.
    """
    line = users_line(sys._getframe(1))
    return None if line is None else (line.file, line.line)


def users_line(frame: FrameType | None) -> Line | None:
    """Return the line of the frame that `users_frame` returns, or None."""
    frame = users_frame(frame)
    code = None if frame is None else frame.f_code
    if frame is None or code is None:
        return None
    return Line(code.co_filename, frame.f_lineno, code.co_name)


def users_frame(frame: FrameType | None) -> FrameType | None:
    """Return the user's innermost frame, starting at `frame` and going outwards.

    Without a user's frame, return the innermost frame of a library, or None.
    """
    library = None
    while frame is not None:
        owner = owner_of_file(frame.f_code.co_filename)
        if owner == USER:
            return frame
        if owner == LIBRARY and library is None:
            library = frame
        frame = frame.f_back
    return library


def frame_outside_the_package() -> FrameType | None:
    """Return the innermost caller outside kerascope."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((_PACKAGE, "<frozen")):
        frame = frame.f_back
    return frame


def warn(message: str, category: type[Warning] = KerascopeWarning) -> None:
    """Issue a warning that points at the user's line."""
    frame = users_frame(sys._getframe(1)) or sys._getframe(1)
    names = frame.f_globals
    seen = names.setdefault("__warningregistry__", {})
    place = (frame.f_code.co_filename, frame.f_lineno, names.get("__name__", "<string>"), seen)
    warnings.warn_explicit(printable_lines(message), category, *place)
