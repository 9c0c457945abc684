"""At which line of the engine a stage is paused, and which line of the user made the layer."""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path
from typing import Any

from kerascope.backend.function import Function
from kerascope.callers import frame_outside_the_package
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


def place_in_script(made_at: tuple[str, int] | None) -> Where:
    """Return where the script stands, or has stood in the same calls when it made a layer."""
    innermost = frame = frame_outside_the_package()
    while frame is not None and made_at is not None:
        code = frame.f_code
        if code.co_filename == made_at[0] and made_at[1] in {line for *_, line in code.co_lines()}:
            return Where("", 0, code.co_name, *made_at)
        frame = frame.f_back
    if innermost is None:
        return Where()
    code = innermost.f_code
    return Where("", 0, code.co_name, code.co_filename, innermost.f_lineno)


def place_of_failure(where: Where, error: BaseException | None) -> Where:
    """Return the line of a span's function in which an error went through it."""
    frames = None if error is None else error.__traceback__
    while frames is not None:
        code = frames.tb_frame.f_code
        if (short(code.co_filename), code.co_name) == (where.file, where.function):
            where = where._replace(line=frames.tb_lineno)
        frames = frames.tb_next
    return where


@cache
def short(path: str) -> str:
    """Return a file of this package as "kerascope/engine/network.py", any other as it is."""
    inside = path.startswith(_HOME + "/kerascope")
    return path[len(_HOME) :].replace("\\", "/").lstrip("/") if inside else path


def place_of(function: Any, words: str, made_at: tuple[str, int] | None) -> Where:
    """Return the line of a function of the engine that holds these words."""
    user = made_at or ("", 0)
    code = function.__code__
    line = line_of(words, function)
    return Where(short(code.co_filename), line, code.co_name, *user)


@cache
def line_of(words: str, function: Any = Function._events) -> int:
    """Return the line of a function, that of a call by default, that holds these words."""
    lines, first = inspect.getsourcelines(function)
    return first + next((i for i, line in enumerate(lines) if words in line), 0)
