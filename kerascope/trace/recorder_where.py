"""At which line of the engine a stage is paused, and which line of the user made the layer."""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path

from kerascope.backend.function import Function
from kerascope.stage import Stage
from kerascope.trace.events import Where

FILE = "kerascope/backend/function.py"  # where a function's call is walked through
_HOME = str(Path(__file__).parents[2])


def where_of(stage: Stage, made_at: tuple[str, int] | None = None) -> Where:
    """Return where a stage is paused; nothing of it if it has ended."""
    frame = stage.frame
    user = made_at or ("", 0)
    if frame is None:
        return Where(user_file=user[0], user_line=user[1])
    return Where(short(frame.f_code.co_filename), frame.f_lineno, frame.f_code.co_name, *user)


@cache
def short(path: str) -> str:
    """Return a file of this package as "kerascope/engine/network.py", any other as it is."""
    inside = path.startswith(_HOME + "/kerascope")
    return path[len(_HOME) :].replace("\\", "/").lstrip("/") if inside else path


@cache
def line_of(words: str) -> int:
    """Return the line of `Function._events` that holds these words."""
    lines, first = inspect.getsourcelines(Function._events)
    return first + next((i for i, line in enumerate(lines) if words in line), 0)
