"""Where a program failed, as Python knows it: the frames of its exception.

The tape has no frames; they are there for as long as the exception is kept.
"""

from __future__ import annotations

import os
import sysconfig
from types import FrameType, TracebackType
from typing import Any

from kerascope.debugger.places import HOME, where_of
from kerascope.debugger.session import Session
from kerascope.trace.events import Where

_LIBRARIES = tuple(
    {path + os.sep for path in map(sysconfig.get_path, ("stdlib", "purelib", "platlib")) if path}
)
_OURS = str(HOME / "kerascope") + os.sep
_COMMANDS = _OURS + "cli" + os.sep


def frames_of_failure(session: Session) -> TracebackType | None:
    """Return the frames of what ended the program, from the script's first on; else None."""
    error = session.error if session.has_failed else None
    whole = None if error is None else error.__traceback__
    frames = whole
    while frames is not None and frames.tb_frame.f_code.co_filename != str(session.script):
        frames = frames.tb_next
    return whole if frames is None else frames


def places_of_failure(session: Session) -> tuple[list[Where], list[Where]]:
    """Return the user's lines in which the program failed, the outermost first.

    The first list holds those that led to the engine, the second those that the engine called: of a
    callback, of a layer's `call`.
    """
    callers: list[Where] = []
    called: list[Where] = []
    frames, is_in_engine = frames_of_failure(session), False
    while frames is not None:
        frame = frames.tb_frame
        if _is_of_the_user(frame):
            place = where_of(frame)._replace(line=frames.tb_lineno)
            (called if is_in_engine else callers).append(place)
        is_in_engine = is_in_engine or frame.f_code.co_filename.startswith(_OURS)
        frames = frames.tb_next
    return callers, called


def names_of_failure(session: Session) -> dict[str, Any]:
    """Return the local variables of the innermost frame of the user's in which the program failed.

    In the `call` of a layer these are its `self` and its inputs.
    """
    frames = frames_of_failure(session)
    found: dict[str, Any] = {}
    while frames is not None:
        if _is_of_the_user(frames.tb_frame):
            found = frames.tb_frame.f_locals
        frames = frames.tb_next
    return {name: value for name, value in found.items() if not name.startswith("__")}


def frames_of_program(session: Session, frame: FrameType | None) -> list[FrameType]:
    """Return the program's own frames that lead to a frame, the outermost first.

    They begin with the script's first, which may itself be run by one of our commands, and end
    where the program calls the engine.
    """
    if session.script is None and not session.began_inside:
        return []
    script = None if session.script is None else str(session.script)
    stack: list[FrameType] = []
    while frame is not None:
        stack.insert(0, frame)
        frame = frame.f_back
    found: list[FrameType] = []
    for each in stack:
        is_first = script is None or each.f_code.co_filename == script
        if _is_of_the_user(each) and (found or is_first):
            found.append(each)
        elif each.f_code.co_filename.startswith(_COMMANDS):
            found.clear()  # what has started us is none of the program
        elif found and each.f_code.co_filename.startswith(_OURS):
            break
    return found


def _is_of_the_user(frame: FrameType) -> bool:
    return not frame.f_code.co_filename.startswith((_OURS, "<frozen", *_LIBRARIES))
