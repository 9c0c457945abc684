"""Lines in the source (`Where`): file names as shown, source text, and pdb's two lines for a stop.

The last functions find where a program failed.
"""

from __future__ import annotations

import ast
import linecache
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from kerascope.debugger.session import Session
from kerascope.trace.events import Made, Where
from kerascope.trace.selectors import is_file
from kerascope.user_frames import USER, owner_of_file

HOME = Path(__file__).resolve().parents[2]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
CELLS: list[Callable[[str], str | None]] = []  # functions that name a notebook's cells


def path_of(file: str) -> str:
    """Return the full path of the file that a `Where` names."""
    return str(HOME / file) if file.startswith("kerascope/") else file


def where_of(frame: FrameType) -> Where:
    """Return a `Where` with the line that a Python frame is executing."""
    return Where(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def shown_file(file: str) -> str:
    """Return the text that is shown for a user's file.

    For a file in the working directory, this is the relative path. For other files, it is the name
    of the file, and for a notebook's cell its number, as "In[3]".
    """
    for name_of in CELLS:
        name = name_of(file)
        if name:
            return name
    inside = os.path.relpath(file) if os.path.isabs(file) else file
    return os.path.basename(file) if inside.startswith("..") else inside


def source_line(file: str, line: int) -> str:
    """Return a line of source without its indentation; "" if the file or line does not exist."""
    return linecache.getline(path_of(file), line).strip() if line else ""


def file_meant(name: str, script: Path | None) -> str:
    """Return the path of the file that a typed name refers to; "" if the file does not exist.

    The name may be the end of the script's path, or the path of any existing file.
    """
    if script is not None and is_file(str(script), name):
        return str(script)
    return name if os.path.isfile(path_of(name)) else ""


def first_line(script: Path) -> int:
    """Return the line number of a script's first statement, at which pdb stops first."""
    body = _statements_of(script)
    return body[0].lineno if body else 1


def functions_in(script: Path | None) -> dict[str, int]:
    """Return the number of the first line of each top-level function of a script, by its name."""
    body = _statements_of(script) if script is not None else []
    return {node.name: node.lineno for node in body if isinstance(node, FUNCTIONS)}


def _statements_of(script: Path) -> list[ast.stmt]:
    try:
        return ast.parse(script.read_bytes()).body
    except (SyntaxError, ValueError, OSError):
        return []


def function_around(text: str, line: int) -> tuple[int, int] | None:
    """Return the first and last line of the innermost function around a line, or None."""
    spans = _spans_of_functions(text)
    return max((span for span in spans if span[0] <= line <= span[1]), default=None)


@lru_cache(maxsize=32)
def _spans_of_functions(text: str) -> list[tuple[int, int]]:
    """Return the first and last line of each function in a source; [] if it is not Python."""
    try:
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, FUNCTIONS)]
    except SyntaxError:
        return []
    return [(node.lineno, node.end_lineno or node.lineno) for node in nodes]


def shown_place(where: Where) -> Where:
    """Return a `Where` with the line that `list` shows: the engine's, or without one, the script's.

    For an op, return the user's line that made the op, because the engine's line is in the loop
    that runs all ops.
    """
    if is_of_an_op(where):
        return users_place(where)
    if where.file or not where.user_line:
        return where
    return Where(where.user_file, where.user_line, where.function)


def is_of_an_op(where: Where) -> bool:
    """Return whether `where` belongs to an op that a line of the user's code made."""
    made = where.made
    return made is not None and bool(made.code[0]) and bool(made.made_by or where.user_line)


def users_line(where: Where) -> str:
    """Return one line of text about the user's line that made an op: file, number, role and source.

    Return "" if `where` does not belong to an op that a user's line made.
    """
    if not is_of_an_op(where) or where.made is None:
        return ""
    place = users_place(where)
    inside = f" in {place.function}" if where.made.made_by and place.function != "<module>" else ""
    words = f" ({where.made.words})" if where.made.words and not where.made.made_by else ""
    source = source_line(place.file, place.line)
    return f"{shown_file(place.file)}:{place.line}{inside}{words}  {source}"


def with_code(where: Where) -> Where:
    """Return `where` with the op's or layer's own code in place of the loop that runs all ops.

    If `where` does not belong to an op or a layer, return it unchanged.
    """
    if where.made is None or not where.made.code[0]:
        return where
    file, line, function = where.made.code
    user = users_place(where)
    own = where._replace(user_file=user.file, user_line=user.line)
    return own._replace(file=file, line=line, function=function)


def users_place(where: Where) -> Where:
    """Return a `Where` with the user's line that made an op or a layer.

    For an op of a user's function, this is the innermost line of the user's functions.
    """
    made = where.made or Made()
    if made.made_by:
        return Where(*made.made_by[0])
    return Where(where.user_file, where.user_line, made.function)


def pdb_lines(where: Where, kind: str) -> list[str]:
    """Return the two lines that pdb prints for a `Where`: file and function, then the source.

    `kind` replaces the function's name if the `Where` has no file.
    """
    where = shown_place(where)
    if not where.file:
        return [f"> <{kind}>(0){kind}()", "-> (no line of source)"]
    source = source_line(where.file, where.line)
    return [f"> {shown_file(where.file)}({where.line}){where.function}()", f"-> {source}"]


# --- where a program failed: the frames of its exception ------------------------------------------
# The tape has no frames; they exist as long as the exception is kept.


_OURS = str(HOME / "kerascope") + os.sep
_COMMANDS = _OURS + "cli" + os.sep


def frames_of_failure(session: Session) -> TracebackType | None:
    """Return the traceback of the program's failure, from the script's first frame on.

    Return None if the program did not fail.
    """
    error = session.error if session.has_failed else None
    whole = None if error is None else error.__traceback__
    frames = whole
    while frames is not None and frames.tb_frame.f_code.co_filename != str(session.script):
        frames = frames.tb_next
    return whole if frames is None else frames


def places_of_failure(session: Session) -> tuple[list[Where], list[Where]]:
    """Return the lines in the user's code where the program failed, as two lists of `Where`s.

    The first list has the lines that led to the engine, the second the lines that the engine
    called, as in a callback or in a layer's `call`. In each, the outermost line comes first.
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
    """Return the local variables of the user's innermost frame in which the program failed.

    If the frame is a layer's `call`, these include `self` and the inputs.
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

    The first frame is the script's, which a command of kerascope may have started. The last one
    is where the program calls the engine.
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
            found.clear()  # frames before the command do not belong to the program
        elif found and each.f_code.co_filename.startswith(_OURS):
            break
    return found


def _is_of_the_user(frame: FrameType) -> bool:
    return owner_of_file(frame.f_code.co_filename) == USER
