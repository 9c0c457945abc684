"""Numbers: when two printed ones are the same, and which ones a lesson's prose may name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from markdown_it.token import Token

from kerascope.lessons.blocks import Block, Lesson, Prose
from kerascope.lessons.lines import lines_of
from kerascope.lessons.parser import markdown

FLOAT = re.compile(
    r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])"
    r"|(?<![\w.])[-+]?\d+[eE][-+]?\d+(?![\w.])"
)
# From so many digits on, the last one may differ by one: another machine rounds otherwise.
LONG = 4

PROSE_NUMBER = re.compile(r"(?<![A-Za-z0-9_.,])\d+(?:,\d{3})*(?:\.\d+)?(?![A-Za-z0-9_])")
FREE = "{.free}"
# What is a name and not a count: lines of the documents, facts, chapters, versions.
NAMES = re.compile(
    r"\bS\d:\d+(?:-\d+)?(?:, ?\d+(?:-\d+)?)*"
    r"|\b[Cc]hapters? \d+(?:(?:, | to | and )\d+)*"
    r"|第 ?\d+(?:[、和到至 ]+\d+)* ?章"
    r"|\b(?:Keras|Python|NumPy|TensorFlow) \d[\d.]*"
)


def same_float(expected: str, got: str) -> bool:
    """Return whether two printed floats are equal within what is shown.

    The digits that are expected count: 0.693 is 0.6931472. Where at least four are shown, the last
    may differ by one. Nothing but zero is zero.

    Examples
    --------
    >>> same_float("0.6931", "0.6932"), same_float("0.6", "0.7"), same_float("0.0", "1e-9")
    (True, False, False)
    """
    one, other = float(expected), float(got)
    if one == other:
        return True
    if one == 0 or other == 0:
        return False
    mantissa, _, exponent = expected.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - decimals)
    digits = len(mantissa.lstrip("-+0.").replace(".", ""))
    allowed = unit if digits >= LONG else unit / 2
    return abs(one - other) <= allowed * (1 + 1e-6)


class ProseNumber(NamedTuple):
    """A number that stands in prose."""

    text: str
    line: int


def numbers_of(text: str) -> set[float]:
    """Return the numbers of an output.

    Examples
    --------
    >>> sorted(numbers_of("dense_1 has 1,344 parameters, 0.50 of all"))
    [0.5, 1344.0]
    """
    found = re.findall(r"(?<![A-Za-z0-9_.])\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?", text)
    return {float(number.replace(",", "")) for number in found}


def prose_numbers(prose: Prose) -> Iterator[ProseNumber]:
    """Yield the numbers of a piece of prose that are not marked `{.free}`.

    A number within a name is none (`dense_1`, `R38`), nor is one in code, unless it is all of it.
    """
    for token in markdown().parse(prose.text):
        if token.type != "inline" or token.map is None:
            continue
        first = prose.line + token.map[0]
        children = list(token.children or [])
        line = first
        for index, child in enumerate(children):
            if child.type in ("softbreak", "hardbreak"):
                line += 1
            text = child.content if child.type in ("text", "code_inline") else ""
            if child.type == "code_inline":
                text = _whole_number(text, children[index + 1 : index + 2])
            text = NAMES.sub(lambda match: "x" * len(match[0]), text)
            for match in PROSE_NUMBER.finditer(text):
                if not text.startswith(FREE, match.end()):
                    yield ProseNumber(match[0], line)


def _whole_number(code: str, following: Iterable[Token]) -> str:
    """Return a piece of code that is nothing but a number, with the mark that may follow it."""
    if not PROSE_NUMBER.fullmatch(code):
        return ""
    after = "".join(token.content for token in following if token.type == "text")
    return code + (FREE if after.startswith(FREE) else "")


def unproved_numbers(lesson: Lesson) -> list[str]:
    """Return a complaint for each number of the prose that no output of the lesson shows."""
    shown: set[float] = set()
    for part in lesson.parts:
        if isinstance(part, Block):
            shown |= numbers_of(part.output.text if part.output else "")
            if part.kind == "pycon":
                shown |= numbers_of(_without_prompts(part.code))
    return [
        f"{lesson.where}:{number.line}: no output of this chapter shows {number.text}. "
        f"Show it, or write {number.text}{FREE}."
        for prose in _all_words(lesson)
        for number in prose_numbers(prose)
        if float(number.text.replace(",", "")) not in shown
    ]


def _all_words(lesson: Lesson) -> Iterator[Prose]:
    """Yield what a lesson says in words: titles, prose, what its pictures show."""
    for section in lesson.sections:
        yield Prose(section.title, section.line)
        for part in section.parts:
            if isinstance(part, Prose):
                yield part
            elif not isinstance(part, Block):
                yield Prose(part.alt, part.line)


def _without_prompts(code: str) -> str:
    lines = lines_of(code)
    return "\n".join(line for line in lines if not line.startswith((">>>", "...")))
