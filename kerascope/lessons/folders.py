"""Which chapters there are."""

from __future__ import annotations

from pathlib import Path

from kerascope.errors import UnknownNameError
from kerascope.lessons.blocks import LANGUAGES, Chapter
from kerascope.lessons.parser import read_lesson
from kerascope.lessons.places import tutorials_folder
from kerascope.registry import did_you_mean


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
