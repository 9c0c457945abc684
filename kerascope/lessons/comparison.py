"""Whether a stored output still holds, and what differs if it does not.

Both texts are clean (`runner.clean`). Then a line holds if it is the same, letter for letter, but
for three rules:

- `...` in a stored line stands for any text, and alone on a line for any number of lines: so an
  author cuts a long output;
- floats are equal within what is shown (`same_float`);
- spaces at the end of a line do not count, nor does how many stand beside a float whose width has
  changed.

Where a line stands in a file of kerascope is not in the texts (`stops.py`): what stands there is.
Numbers in a lesson's prose are compared too: each has to stand in an output, or to be marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from functools import cache
from math import isinf
from typing import NamedTuple

from markdown_it.token import Token

from kerascope.lessons.lesson import Block, Lesson, Prose, lines_of
from kerascope.lessons.parser import paragraphs

# --- numbers --------------------------------------------------------------------------------------


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
    >>> same_float("5e555", "0.5")  # a color, say, that reads as a number beyond all
    False
    """
    one, other = float(expected), float(got)
    if one == other:
        return True
    if one == 0 or other == 0 or isinf(one) or isinf(other):
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
    for line, children in paragraphs(prose):
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


# --- texts ----------------------------------------------------------------------------------------


ELLIPSIS = "..."
NO_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


class Difference(NamedTuple):
    """Where and how two outputs differ.

    Attributes
    ----------
    line : int
        Place of the first stored line that does not hold, counted from 0.
    text : str
        Lines with - (stored) and + (printed now).
    """

    line: int
    text: str


def compare(stored: str, printed: str) -> Difference | None:
    r"""Return what differs, None if the stored output still holds.

    Examples
    --------
    >>> compare("loss: 0.6931\n...\nend\n", "loss: 0.6932\none\ntwo\nend\n") is None
    True
    >>> print(compare("a\nb\n", "a\nc\n").text)
      a
    - b
    + c
    """
    expected, got = _lines(stored), _lines(printed)
    reached = _matched(expected, got)
    if reached is None:
        return None
    return Difference(reached, _diff(expected, got))


def compare_whole(stored: str, printed: str) -> Difference | None:
    r"""Return what differs between two files that no author cuts: dots in them are only dots.

    Examples
    --------
    >>> compare_whole("f(...a)\n", "f(...a)\n") is None, compare_whole("f(...)\n", "f(a)\n").line
    (True, 0)
    """
    one, other = (text.replace(ELLIPSIS, NO_ELLIPSIS) for text in (stored, printed))
    return compare(one, other)


def same_line(expected: str, got: str) -> bool:
    """Return whether a printed line is what a stored one says.

    Examples
    --------
    >>> same_line("<Dense at ...>", "<Dense at 0x7f>"), same_line("a 1", "a 2")
    (True, False)
    """
    if expected == got:
        return True
    if ELLIPSIS in expected and re.fullmatch(_pattern(expected), got):
        return True
    return _same_but_for_floats(expected, got)


@cache
def _pattern(expected: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, expected.split(ELLIPSIS))))


def _same_but_for_floats(expected: str, got: str) -> bool:
    """Compare the floats by value and what stands between them letter for letter."""
    ours, theirs = FLOAT.findall(expected), FLOAT.findall(got)
    if not ours or len(ours) != len(theirs):
        return False
    if not all(same_float(one, other) for one, other in zip(ours, theirs, strict=True)):
        return False
    pieces = zip(FLOAT.split(expected), FLOAT.split(got), strict=True)
    widths_agree = [len(one) == len(other) for one, other in zip(ours, theirs, strict=True)]
    for index, (one, other) in enumerate(pieces):
        if one == other:
            continue
        beside = widths_agree[max(index - 1, 0) : index + 1]
        if all(beside) or one.split() != other.split():
            return False
    return True


def _matched(expected: list[str], got: list[str]) -> int | None:
    """Return the place of the first stored line that does not hold, None if all do.

    The stored lines are taken one by one; `places` are all the places of the printed ones that may
    come next, so that a `...` need not guess how many lines it stands for.
    """
    reached = _reachable(expected, got)
    if not reached[-1]:
        return len(reached) - 2
    return None if len(got) in reached[-1] else len(expected)


def _reachable(expected: list[str], got: list[str]) -> list[set[int]]:
    """Return, before each stored line and behind the last, the places that may come next.

    The list ends with an empty set if a stored line does not hold.
    """
    reached = [{0}]
    for line in expected:
        places = reached[-1]
        if line.strip() == ELLIPSIS:
            places = set(range(min(places), len(got) + 1))
        else:
            places = {
                place + 1 for place in places if place < len(got) and same_line(line, got[place])
            }
        reached.append(places)
        if not places:
            break
    return reached


def _diff(expected: list[str], got: list[str]) -> str:
    """Return the differing lines with two around them; lines that hold count as the same."""
    shown = list(got)
    for index, line in enumerate(shown):
        near = _from_the_middle(expected, index)
        shown[index] = next((one for one in near if _holds(one, line)), line)
    lines = unified_diff(expected, shown, n=2, lineterm="")
    body = [line for line in lines if not line.startswith(("---", "+++"))]
    marked = ["  ..." if line.startswith("@@") else f"{line[0]} {line[1:]}" for line in body]
    return "\n".join(line.rstrip() for line in (marked[1:] if marked else marked))


def _holds(expected: str, got: str) -> bool:
    return expected.strip() != ELLIPSIS and same_line(expected, got)


def _from_the_middle(lines: list[str], index: int) -> Iterator[str]:
    """Yield all lines, the nearest to a place first."""
    order = sorted(range(len(lines)), key=lambda place: abs(place - index))
    return (lines[place] for place in order)


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in lines_of(text)]
    while lines and not lines[-1]:
        lines.pop()
    return lines
