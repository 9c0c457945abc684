"""Places in source: their files as they are shown, their lines, and pdb's two lines of a stop."""

from __future__ import annotations

import ast
import linecache
import os
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from kerascope.trace.events import Where
from kerascope.trace.selectors import is_file

HOME = Path(__file__).resolve().parents[2]
CELLS: list[Callable[[str], str | None]] = []  # a notebook puts here what names its cells


def path_of(file: str) -> str:
    """Return where a file of a `Where` lies."""
    return str(HOME / file) if file.startswith("kerascope/") else file


def where_of(frame: FrameType) -> Where:
    """Return the line at which a frame of Python stands."""
    return Where(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def shown_file(file: str) -> str:
    """Return a user's file as it is shown: from the working directory on, if it is in there.

    A cell of a notebook is shown by its number: "In[3]".
    """
    for name_of in CELLS:
        name = name_of(file)
        if name:
            return name
    inside = os.path.relpath(file) if os.path.isabs(file) else file
    return os.path.basename(file) if inside.startswith("..") else inside


def source_line(file: str, line: int) -> str:
    """Return a line of source without its indentation; "" if there is none."""
    return linecache.getline(path_of(file), line).strip() if line else ""


def file_meant(name: str, script: Path | None) -> str:
    """Return the file that a name means: the script, or one that is there; "" if none is."""
    if script is not None and is_file(str(script), name):
        return str(script)
    return name if os.path.isfile(path_of(name)) else ""


def first_line(script: Path) -> int:
    """Return the line at which pdb would stop first in a script."""
    try:
        body = ast.parse(script.read_bytes()).body
    except (SyntaxError, ValueError, OSError):
        return 1
    return body[0].lineno if body else 1


def functions_in(script: Path | None) -> dict[str, int]:
    """Return the functions of a script's own, and at which line each begins."""
    try:
        body = ast.parse(script.read_bytes()).body if script is not None else []
    except (SyntaxError, ValueError, OSError):
        return {}
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name: node.lineno for node in body if isinstance(node, kinds)}


def walked(where: Where) -> Where:
    """Return the line that is walked through: the engine's, or else the script's own."""
    if where.file or not where.user_line:
        return where
    return Where(where.user_file, where.user_line, where.function)


def pdb_lines(where: Where, kind: str) -> list[str]:
    """Return the two lines with which pdb shows a place; `kind` stands where there is none."""
    where = walked(where)
    if not where.file:
        return [f"> <{kind}>(0){kind}()", "-> (no line of source)"]
    source = source_line(where.file, where.line)
    return [f"> {shown_file(where.file)}({where.line}){where.function}()", f"-> {source}"]
