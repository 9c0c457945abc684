"""The course's words: one for each thing in each language, and those that are not to be used.

`tutorials/glossary.toml` holds rows such as

    [[term]]
    en = "placeholder"
    zh = "占位符"
    not_en = ["input slot"]
    not_zh = ["占位子"]

A chapter that uses the one word in one language uses the other word in the other; a word under
`not_` is used nowhere. Code is not looked at.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it.token import Token

from kerascope.lessons.blocks import Chapter, Lesson, LessonError, Prose
from kerascope.lessons.parser import markdown

KEYS = {"en", "zh", "not_en", "not_zh", "free"}


class Term(NamedTuple):
    """A thing and its words.

    Attributes
    ----------
    words : dict of str to str
        The word of each language.
    forbidden : dict of str to tuple of str
        Words of each language that are not to be used for it.
    free : bool
        Whether one language may do without it: a word that has other meanings too.
    """

    words: dict[str, str]
    forbidden: dict[str, tuple[str, ...]]
    free: bool


def read_glossary(path: Path) -> list[Term]:
    """Read `glossary.toml`.

    Raises
    ------
    LessonError
        A row lacks a word, or has a key that nobody reads, or a word is there twice.
    """
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8")).get("term", [])
    except tomllib.TOMLDecodeError as error:
        raise LessonError(f"{path.name}: {error}.") from error
    terms = []
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        where = f"{path.name}: term {number}"
        if not row.get("en") or not row.get("zh"):
            raise LessonError(f"{where} has no word for one of the languages; expected en and zh.")
        unknown = ", ".join(sorted(row.keys() - KEYS))
        if unknown:
            raise LessonError(f"{where}: unknown {unknown}; expected {', '.join(sorted(KEYS))}.")
        if row["en"].lower() in seen:
            raise LessonError(f"{where}: {row['en']!r} stands there twice.")
        seen.add(row["en"].lower())
        forbidden = {name: tuple(row.get(f"not_{name}", ())) for name in ("en", "zh")}
        terms.append(Term({"en": row["en"], "zh": row["zh"]}, forbidden, bool(row.get("free"))))
    return terms


def glossary_complaints(chapter: Chapter, terms: list[Term]) -> list[str]:
    """Return a complaint for each forbidden word, and for each word without its twin."""
    complaints: list[str] = []
    texts = {name: list(prose_lines(lesson)) for name, lesson in chapter.lessons.items()}
    for term in terms:
        for language, lines in texts.items():
            lesson = chapter.lessons[language]
            complaints += _forbidden(term, language, lesson, lines)
        if not term.free and len(texts) > 1:
            complaints += _without_twin(term, chapter, texts)
    return complaints


def prose_lines(lesson: Lesson) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of the words of a lesson: headings, prose, tables; no code."""
    for section in lesson.sections:
        yield section.line, section.title
        for part in section.parts:
            if not isinstance(part, Prose):
                continue
            for token in markdown().parse(part.text):
                if token.type == "inline" and token.map is not None:
                    yield part.line + token.map[0], _words(token.children or [], lesson.language)


def _words(children: Iterable[Token], language: str) -> str:
    """Return the words of a paragraph on one line; code is one sign that is no word."""
    line_end = "" if language == "zh" else " "
    pieces = {"softbreak": line_end, "hardbreak": line_end, "code_inline": "\N{WHITE SQUARE}"}
    return "".join(
        child.content if child.type == "text" else pieces.get(child.type, "") for child in children
    )


def _forbidden(
    term: Term, language: str, lesson: Lesson, lines: list[tuple[int, str]]
) -> Iterator[str]:
    for word in term.forbidden[language]:
        for line, text in lines:
            if _uses(text, word, language):
                yield f"{lesson.where}:{line}: {word!r}; the course says {term.words[language]!r}."


def _without_twin(
    term: Term, chapter: Chapter, texts: dict[str, list[tuple[int, str]]]
) -> Iterator[str]:
    places = {
        name: next((line for line, text in lines if _uses(text, term.words[name], name)), None)
        for name, lines in texts.items()
    }
    for language, line in places.items():
        for other, its_line in places.items():
            if line is not None and its_line is None:
                yield (
                    f"{chapter.lessons[language].where}:{line}: {term.words[language]!r} is used "
                    f"here; expected {term.words[other]!r} in {chapter.lessons[other].path.name}."
                )


def _uses(text: str, word: str, language: str) -> bool:
    """Return whether a text uses a word: in English the word or its plural, in Chinese the signs.

    Examples
    --------
    >>> _uses("Two Tensors.", "tensor", "en"), _uses("tensorflow", "tensor", "en")
    (True, False)
    >>> _uses("两个张量", "张量", "zh")
    True
    """
    if language == "zh":
        return word in text
    pattern = rf"(?<![\w-]){re.escape(word)}(?:s|es)?(?![\w-])"
    return re.search(pattern, text, re.IGNORECASE) is not None
