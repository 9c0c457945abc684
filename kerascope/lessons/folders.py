"""Where the tutorials and the examples are, and which chapters there are.

An installed kerascope carries them inside its package; a checkout has them at its root.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from kerascope.errors import UnavailableError, UnknownNameError
from kerascope.lessons.blocks import LANGUAGES, Chapter
from kerascope.lessons.parser import read_lesson
from kerascope.registry import did_you_mean


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


def chapter_folders(tutorials: Path | None = None) -> list[Path]:
    """Return the folders of all chapters in their order: numbers first, then letters."""
    tutorials = tutorials or tutorials_folder()
    return sorted(path for path in tutorials.iterdir() if list(path.glob("lesson.*.md")))


def read_chapter(folder: Path) -> Chapter:
    """Read a chapter in all its languages.

    Raises
    ------
    LessonError
        One of its files is not a lesson.
    """
    paths = ((language, folder / f"lesson.{language}.md") for language in LANGUAGES)
    return Chapter(folder, {name: read_lesson(path) for name, path in paths if path.is_file()})


def find_chapter(name: str | int, tutorials: Path | None = None) -> Path:
    """Return the folder of the chapter that a word means: `7`, `07`, `A`, `tools`, `00-tools`.

    One word of a longer name will do, if no other chapter has it: `whole` is `01-the-whole`.

    Raises
    ------
    UnknownNameError
        There is none, or several; the message lists those that are there.
    """
    folders = chapter_folders(tutorials)
    word = str(name).strip("/").lower()
    for folder in folders:
        number, _, topic = folder.name.lower().partition("-")
        if word in (folder.name.lower(), number, topic, number.lstrip("0") or "0"):
            return folder
    names = [folder.name for folder in folders]
    words = {} if word.isdigit() else {one: one.name.lower().split("-")[1:] for one in folders}
    having = [one for one, its_words in words.items() if word in its_words]
    if len(having) == 1:
        return having[0]
    if having:
        several = ", ".join(one.name for one in having)
        raise UnknownNameError(f"{str(name)!r} is in several chapters: {several}. Say which.")
    hint = did_you_mean(word, names)
    raise UnknownNameError(f"no chapter {str(name)!r}. {hint}Chapters: {', '.join(names)}.")
