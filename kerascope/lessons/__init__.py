"""The tools of the course: they run the code of each chapter and compare every printed line.

A chapter is a folder of `tutorials/` with one Markdown file for each language. `parser.py` reads
it, and `runner.py` runs its blocks in a separate process (`child.py`). `comparison.py` compares
stored outputs with new outputs. `checking.py` collects all complaints about a chapter and rewrites
outputs that have changed. `render_html.py` makes pages, `notebook.py` notebooks, and `reading.py`
text for the terminal::

    from kerascope.lessons.reading import chapter_text

The command is `kerascope lessons check|build|html|notebook` (`commands.py`).

How to write a chapter:

1. Make `tutorials/NN-topic/lesson.en.md`. `parser.py` describes its syntax. Write the blocks
   without outputs. A block that makes a picture saves it as `out/NAME.svg`.
2. `kerascope lessons build --accept NN` runs the blocks and writes the outputs and the pictures.
   A player (`player/__init__.py`) is saved as `out/NAME.html` and stored in the same way.
   Read all of them. You can cut a long output: a line `...` matches any number of lines.
3. Write `lesson.zh.md`: the same sections, blocks and pictures, with prose in Chinese. Both files
   use the terms of `glossary.toml`.
   `chapter.toml` says in both languages what the chapter is about (`introduction.py`).
4. Each number in the prose must occur in an output. Mark other numbers: `1983{.free}`.
5. The last section is called `documents`: a table of what the documents say. From chapter 19 on it
   quotes papers and manuals. Its last column names the blocks that show each fact (`checking.py`).
6. `kerascope lessons build --accept --translated both NN` stores in each section the hash of its
   translation. If one language changes later, `check` complains until the other is updated.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from kerascope.errors import ArgumentError, UnavailableError

__all__: list[str] = []  # no public names

# --- where the course and its examples are --------------------------------------------------------
# An installed kerascope contains these folders in its package; a checkout has them at its root.


def package_folder() -> Path:
    """Return the folder `kerascope` with the modules of the package."""
    return Path(str(resources.files("kerascope")))


def tutorials_folder(own: str | Path | None = None) -> Path:
    """Return the folder that contains the chapters and `glossary.toml`.

    Parameters
    ----------
    own : str or Path, optional
        The folder of a course of your own, from the option `--tutorials`, which is returned.

    Raises
    ------
    ArgumentError
        `own` is not a folder.
    UnavailableError
        The folder is neither installed nor part of a checkout.

    Examples
    --------
    >>> (tutorials_folder() / "glossary.toml").is_file()
    True
    """
    if own is None:
        return _found("tutorials", package_folder() / "tutorials", "glossary.toml")
    if not Path(own).is_dir():
        raise ArgumentError(f"--tutorials needs a folder, got {str(own)!r}.")
    return Path(own)


def examples_folder() -> Path:
    """Return the folder that contains `example.py`.

    Raises
    ------
    UnavailableError
        The folder is neither installed nor part of a checkout.
    """
    return _found("examples", package_folder() / "tutorials" / "examples", "example.py")


# The sections of the appendix about the documents S0 to S4, which the chapters quote.
DOCUMENTS = ("s0", "s1", "s2", "s3", "s4")


def is_appendix(source: str) -> bool:
    """Return whether the text of a lesson has a section for each document."""
    return all(re.search(rf"(?m)^## .*\{{#{name}\b", source) for name in DOCUMENTS)


def appendix_number(tutorials: Path) -> str:
    """Return the number or letter of a course's appendix; "" for a course without one.

    Examples
    --------
    >>> appendix_number(tutorials_folder())
    'A'
    """
    for path in sorted(tutorials.glob("*/lesson.*.md"), reverse=True):
        if is_appendix(path.read_text(encoding="utf-8")):
            return shown_number(path.parent.name)
    return ""


def shown_number(folder_name: str) -> str:
    """Return the number or letter of a chapter as readers write it, without leading zeros.

    Examples
    --------
    >>> shown_number("00-tools"), shown_number("07-dense"), shown_number("A-documents")
    ('0', '7', 'A')
    """
    return folder_name.partition("-")[0].lstrip("0") or "0"


def _found(name: str, installed: Path, member: str) -> Path:
    for folder in (installed, package_folder().parent / name):
        if (folder / member).is_file():
            return folder
    raise UnavailableError(
        f"The {name} of kerascope are not in {str(installed)!r}. "
        f"Install kerascope from its wheel, or work in a checkout."
    )
