"""Read what a chapter is about, from the file `chapter.toml` in its folder.

The file says in each language, in one or two sentences, what the reader sees and can do
afterwards, and for whom the chapter is. It also says how long the chapter takes::

    minutes = 40
    explains = ["Node", "engine.InputLayer"]

    [en]
    about = "You see that a Node is one call of one layer. Afterwards you can walk ..."
    for_whom = "For readers who share layers."

    [zh]
    about = "看清 Node 就是层的一次调用。读完之后……"
    for_whom = "适合用过共享层的读者。"

`Chapter.introduction` contains it, and `Chapter.introduction_text` returns it as Markdown for the
page, the index, the notebook and the terminal. A chapter without this file has no such lines.
`explains` is optional: public names of kerascope whose pages in the documentation link to the
chapter.

The minutes are those of a reader who reads the prose (130 words in a minute), follows each block
and its output (0.8 minutes), makes each prediction (one minute) and plays each player (three
minutes), to the nearest five. Exercises are not included.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from kerascope.lessons.lesson import LANGUAGES, Chapter, Introduction, LessonError

FILE = "chapter.toml"
TEXTS = ("about", "for_whom")


def read_introduction(folder: Path) -> Introduction | None:
    """Return the content of `chapter.toml` in a chapter's folder; None without this file.

    Raises
    ------
    LessonError
        The file is invalid. The message names its line or its key.
    """
    path = folder / FILE
    where = f"{folder.name}/{FILE}"
    if not path.is_file():
        return None
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LessonError(f"{where}: {error}.") from None
    minutes = content.pop("minutes", None)
    if not isinstance(minutes, int) or isinstance(minutes, bool) or minutes < 1:
        raise LessonError(f"{where}: minutes: expected a whole number from 1, got {minutes!r}.")
    explains = content.pop("explains", [])
    if not isinstance(explains, list) or not all(isinstance(name, str) for name in explains):
        raise LessonError(f"{where}: explains: expected a list of names, got {explains!r}.")
    for language, texts in content.items():
        if language not in LANGUAGES:
            known = ", ".join(f"[{name}]" for name in LANGUAGES)
            raise LessonError(f"{where}: unknown {language!r}. Use: minutes, explains, {known}.")
        for name in TEXTS:
            text = texts.get(name) if isinstance(texts, dict) else None
            if not isinstance(text, str) or not text.strip():
                raise LessonError(
                    f"{where}: [{language}] {name}: expected one or two sentences, got {text!r}."
                )
    about, for_whom = ({one: texts[name] for one, texts in content.items()} for name in TEXTS)
    return Introduction(minutes, about, for_whom, tuple(explains))


def introduction_complaints(chapter: Chapter) -> list[str]:
    """Return a complaint for each language of a chapter that its `chapter.toml` lacks."""
    if chapter.introduction is None:
        return []
    return [
        f"{chapter.name}/{FILE}: no [{language}]. Add it, with {' and '.join(TEXTS)}: the chapter "
        f"has {lesson.path.name}."
        for language, lesson in chapter.lessons.items()
        if language not in chapter.introduction.about
    ]
