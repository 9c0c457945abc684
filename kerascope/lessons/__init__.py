"""The course's machinery: chapters whose every printed line is compared with what runs.

A chapter is a folder of `tutorials/` with one Markdown file for each language. `parser.py` reads
it, `runner.py` runs its blocks in a process of their own (`child.py`), `comparison.py` says whether
a stored output still holds, `checking.py` gathers all that is wrong with a chapter and writes
anew what has changed. `render_html.py` and `notebook.py` make pages and notebooks of
it, `reading.py` a text for the terminal.

    from kerascope.lessons.reading import chapter_text

The command is `kerascope lessons check|build|html|notebook` (`commands.py`).

How to write a chapter:

1. Make `tutorials/NN-topic/lesson.en.md`. `parser.py` says what may stand in it. Write the blocks
   without their outputs; a block that makes a picture saves it as `out/NAME.svg`.
2. `kerascope lessons build --accept NN` runs the blocks and writes the outputs and the pictures.
   A player (`player/__init__.py`) is saved as `out/NAME.html` and stored in the same way.
   Read them. An output that is too long may be cut: a line `...` stands for any number of lines.
3. Write `lesson.zh.md`: the same sections, blocks and pictures, with words of its own. Words of
   `glossary.toml` are used in both.
4. Prose names no number that no output shows; one that needs no proof is marked: `1983{.free}`.
5. The last section is called `documents`: a table whose last column names the blocks that show each
   fact (`checking.py`).
6. `kerascope lessons build --accept --translated both NN` stores in each section the hash of its
   twin. When one is changed later, `check` says so until the other is brought up to date.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from kerascope.errors import UnavailableError

__all__: list[str] = []  # what follows is for the house itself

# --- where the course and its examples are --------------------------------------------------------
# An installed kerascope carries them inside its package; a checkout has them at its root.


def package_folder() -> Path:
    """Return the folder of the package kerascope."""
    return Path(str(resources.files("kerascope")))


def tutorials_folder() -> Path:
    """Return the folder that holds the chapters and `glossary.toml`.

    Raises
    ------
    UnavailableError
        It was not installed and this is no checkout.

    Examples
    --------
    >>> (tutorials_folder() / "glossary.toml").is_file()
    True
    """
    return _found("tutorials", package_folder() / "tutorials", "glossary.toml")


def examples_folder() -> Path:
    """Return the folder that holds `example.py`.

    Raises
    ------
    UnavailableError
        It was not installed and this is no checkout.
    """
    return _found("examples", package_folder() / "tutorials" / "examples", "example.py")


def _found(name: str, installed: Path, member: str) -> Path:
    for folder in (installed, package_folder().parent / name):
        if (folder / member).is_file():
            return folder
    raise UnavailableError(
        f"the {name} of kerascope are not here; expected them in {str(installed)!r}. "
        f"Install kerascope from its wheel, or work in a checkout."
    )
