r"""What the cells of a lesson's notebook call: `prepare`, `pdb`, `kscope`.

A debugger asks at a prompt; in a notebook nobody answers it. So its commands stand in the cell, one
on each line, and the cell prints the whole session::

    prepare()
    kscope("example.py", commands="b dense_2\nc\n")
"""

from __future__ import annotations

import os
import random
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.lessons.runner import clean, prepare_folder
from kerascope.lessons.sessions import (
    PACKAGE_PARENT,
    calm_environment,
    run_session,
    start_session,
)


def prepare() -> None:
    """Go to a new folder that holds the examples; seed the random numbers as the lesson does.

    Nothing of yours is touched: the folder is a temporary one.
    """
    folder = Path(tempfile.mkdtemp(prefix="kerascope-notebook-")) / "work"
    prepare_folder(folder)
    os.chdir(folder)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 (what scripts draw from)


def pdb(*words: str, commands: str) -> None:
    """Print a session of Python's debugger: `python3 -m pdb WORDS` and what is typed into it.

    Parameters
    ----------
    *words : str
        The script and its arguments.
    commands : str
        One on each line.

    Raises
    ------
    ArgumentError
        A command was never read: the program was over before.
    """
    _session("pdb", words, commands)


def kscope(*words: str, commands: str) -> None:
    """Print a session of the model debugger: `kerascope debug WORDS` and what is typed into it.

    Parameters
    ----------
    *words : str
        Options, the script and its arguments.
    commands : str
        One on each line.

    Raises
    ------
    ArgumentError
        A command was never read: the program was over before.
    """
    _session("kscope", words, commands)


def _session(kind: str, words: tuple[str, ...], commands: str) -> None:
    with tempfile.TemporaryDirectory() as home:
        start = partial(start_session, environment=calm_environment(Path(home)))
        transcript = run_session(kind, words, commands, start)
    print(clean(transcript.text, (str(Path.cwd()), str(PACKAGE_PARENT))), end="")
    if transcript.problem:
        raise ArgumentError(f"{kind} {' '.join(words)}: {transcript.problem}.")
