r"""Make a Jupyter notebook from a lesson: prose, and a cell for each block with its output.

The notebook is JSON of nbformat 4.5 and runs from top to bottom. Its first cell makes the folder
that the lesson needs. A cell that should fail is tagged, so that the run continues after it. A
debugger has no prompt in a notebook, so the cell contains its commands, one on each line, and
prints the whole session::

    prepare()
    kscope("example.py", commands="b dense_2\nc\n")
"""

from __future__ import annotations

import doctest
import json
import os
import random
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.lessons.comparison import FREE
from kerascope.lessons.lesson import SESSIONS, Block, Chapter, Picture, Prose, lines_with_ends
from kerascope.lessons.runner import clean, prepare_folder
from kerascope.lessons.sessions import (
    PACKAGE_PARENT,
    WORKBOOK_VARIABLE,
    fixed_environment,
    live_session,
    run_session,
    start_session,
)
from kerascope.lessons.stops import number_places

Cell = dict[str, Any]
FIRST = {
    "en": "Run this cell first: it makes an empty folder with the examples in it.",
    "zh": "请先运行这一格：它新建一个文件夹，放入本章要用的例子。",
}
PREPARE = "from kerascope.lessons.notebook import kscope, pdb, prepare\n\nprepare()"
PLAY = (
    "from kerascope.player.player import ShownPlayer\n\n"
    "ShownPlayer({path!r}, {title!r}, {language!r})"
)
SHOW = "from IPython.display import SVG\n\nSVG({path!r})"


def notebook_text(chapter: Chapter, language: str) -> str:
    """Return the notebook of a chapter in one language, as JSON."""
    notebook = {
        "cells": _cells(chapter, language),
        "metadata": {
            "kernelspec": {
                "display_name": "Python 3", "language": "python", "name": "python3"
            },
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _cells(chapter: Chapter, language: str) -> list[Cell]:
    lesson = chapter.lessons[language]
    cells: list[Cell] = []
    for section in lesson.sections:
        heading = f"{'#' * section.level} {section.title}"
        prose = [heading]
        if section.level == 1 and chapter.introduction_text(language):
            prose.append(chapter.introduction_text(language).strip())
        for part in section.parts:
            if isinstance(part, Prose):
                prose.append(part.text.replace(FREE, "").strip())
                continue
            cells += _prose_cells(section.id, prose, len(cells))
            prose = [f"*{part.alt}*"] if isinstance(part, Picture) else []
            cells += (
                _picture_cells(part, language) if isinstance(part, Picture) else _block_cells(part)
            )
        cells += _prose_cells(section.id, prose, len(cells))
    first = [_markdown("setup-words", FIRST[language]), _code("setup", PREPARE, "")]
    return _with_unique_ids([cells[0], *first, *cells[1:]])


def _with_unique_ids(cells: list[Cell]) -> list[Cell]:
    """Return the cells with unique ids. Code cells keep their ids; other ids may be changed."""
    seen: set[str] = set()
    for cell in sorted(cells, key=lambda one: one["cell_type"]):
        while cell["id"] in seen:
            cell["id"] = f"{cell['id'][:60]}-x"
        seen.add(cell["id"])
    return cells


def _prose_cells(section: str, prose: list[str], place: int) -> list[Cell]:
    text = "\n\n".join(prose)
    return [_markdown(f"{section}-{place}", text)] if text else []


def _picture_cells(picture: Picture, language: str) -> list[Cell]:
    name = "".join(letter if letter.isalnum() else "-" for letter in picture.path)
    source = PLAY if picture.is_player else SHOW
    words = {"path": picture.path, "title": picture.alt, "language": language}
    return [_code(f"show-{name}", source.format(**words), "")]


def _block_cells(block: Block) -> list[Cell]:
    output = number_places(block.output.text) if block.output else ""
    if block.kind == "pycon":
        return _doctest_cells(block)
    if block.kind in SESSIONS:
        words = ", ".join(map(repr, block.words))
        source = f'{block.kind}({words}, commands="""\n{_quoted(block.code)}""")'
        return [_code(block.id, source, output)]
    if block.kind == "raises":
        cell = _code(block.id, block.code, "")
        cell["metadata"]["tags"] = ["raises-exception"]
        return [cell]
    return [_code(block.id, block.code, output)]


def _doctest_cells(block: Block) -> list[Cell]:
    """Return a cell for each example of a doctest, because a cell shows only its last value."""
    cells = []
    for number, example in enumerate(doctest.DocTestParser().get_examples(block.code)):
        cell = _code(f"{block.id}-{number}", example.source, "")
        if example.exc_msg is not None:
            cell["metadata"]["tags"] = ["raises-exception"]
        cells.append(cell)
    return cells


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _markdown(name: str, text: str) -> Cell:
    return {
        "cell_type": "markdown",
        "id": name[:64],
        "metadata": {},
        "source": lines_with_ends(text),
    }


def _code(name: str, source: str, output: str) -> Cell:
    stream = {"name": "stdout", "output_type": "stream", "text": lines_with_ends(output)}
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": name[:64],
        "metadata": {},
        "outputs": [stream] if output else [],
        "source": lines_with_ends(source.rstrip("\n")),
    }


# --- functions that cells call --------------------------------------------------------------------


def prepare() -> None:
    """Change to a new temporary folder with the examples; seed random numbers as the lesson does.

    Your own files are not touched.
    """
    folder = Path(tempfile.mkdtemp(prefix="kerascope-notebook-")) / "work"
    prepare_folder(folder)
    os.environ.setdefault(WORKBOOK_VARIABLE, os.getcwd())
    os.chdir(folder)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 (the generator that scripts use)


def pdb(*words: str, commands: str | None = None) -> None:
    """Print a session of Python's debugger: `python3 -m pdb WORDS` and its commands.

    Parameters
    ----------
    *words : str
        The script and its arguments.
    commands : str, optional
        The debugger commands, one on each line. Without them, you type them at the prompt.

    Raises
    ------
    ArgumentError
        A command was never read, because the program had ended before.
    """
    _session("pdb", words, commands)


def kscope(*words: str, commands: str | None = None) -> None:
    """Print a session of the model debugger: `kerascope debug WORDS` and its commands.

    Parameters
    ----------
    *words : str
        Options, the script and its arguments.
    commands : str, optional
        The debugger commands, one on each line. Without them, you type them at the prompt.

    Raises
    ------
    ArgumentError
        A command was never read, because the program had ended before.
    """
    _session("kscope", words, commands)


def _session(kind: str, words: tuple[str, ...], commands: str | None) -> None:
    with tempfile.TemporaryDirectory() as home:
        workbook = os.environ.get(WORKBOOK_VARIABLE, os.getcwd())
        environment = fixed_environment(Path(home)) | {WORKBOOK_VARIABLE: workbook}
        if commands is None:
            if not live_session(kind, words, environment):
                raise ArgumentError(f"{kind} {' '.join(words)}: ended before its first prompt.")
            return
        start = partial(start_session, environment=environment)
        transcript = run_session(kind, words, commands, start)
    print(clean(transcript.text, (str(Path.cwd()), str(PACKAGE_PARENT))), end="")
    if transcript.problem:
        raise ArgumentError(f"{kind} {' '.join(words)}: {transcript.problem}.")
