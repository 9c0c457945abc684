"""Compare stored outputs with new outputs, and numbers in prose with stored outputs.

Both outputs are cleaned first (`runner.clean`). Two lines match if they are the same, except for
three rules:

- `...` in a stored line matches any text, and alone on a line any number of lines, so that an
  author can cut a long output;
- floats are compared with the precision that is shown (`same_float`);
- spaces at the end of a line are ignored. So is the number of spaces around a float if the width of
  the float has changed.

Line numbers of kerascope's files are not compared: the texts contain statements instead
(`stops.py`). Each number in a lesson's prose must occur in an output or be marked.
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
# With this many digits or more, the last may differ by one: machines round differently.
LONG = 4

PROSE_NUMBER = re.compile(r"(?<![A-Za-z0-9_.,])\d+(?:,\d{3})*(?:\.\d+)?(?![A-Za-z0-9_])")
FREE = "{.free}"
# Numbers in names, which are not checked: lines of the documents, chapters, versions.
NAMES = re.compile(
    r"\bS\d:\d+(?:-\d+)?(?:, ?\d+(?:-\d+)?)*"
    r"|\b[Cc]hapters? \d+(?:(?:, | to | and )\d+)*"
    r"|第 ?\d+(?:[、和到至 ]+\d+)* ?章"
    r"|\b(?:Keras|Python|NumPy|TensorFlow) \d[\d.]*"
)


def same_float(expected: str, got: str) -> bool:
    """Return whether two printed floats are equal with the precision of the expected one.

    0.693 equals 0.6931472. If the expected float has four digits or more, its last digit may differ
    by one. Zero equals only zero.

    Examples
    --------
    >>> same_float("0.6931", "0.6932"), same_float("0.6", "0.7"), same_float("0.0", "1e-9")
    (True, False, False)
    >>> same_float("5e555", "0.5")  # a color, say, that float() reads as infinity
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
    """The text of a number in prose, and the line of the file that contains it."""

    text: str
    line: int


def numbers_of(text: str) -> set[float]:
    """Return the set of numbers in an output.

    Examples
    --------
    >>> sorted(numbers_of("dense_1 has 1,344 parameters, 0.50 of all"))
    [0.5, 1344.0]
    """
    found = re.findall(r"(?<![A-Za-z0-9_.])\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?", text)
    return {float(number.replace(",", "")) for number in found}


def prose_numbers(prose: Prose) -> Iterator[ProseNumber]:
    """Yield the numbers in prose that are not marked `{.free}`.

    Numbers within names (`dense_1`, `R38`) are skipped, and so are numbers within code: `8` is
    yielded, the 8 in `f(8)` is not.
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
    """Return code that is only a number; return "" for other code.

    If `{.free}` follows the code, append it to the number.
    """
    if not PROSE_NUMBER.fullmatch(code):
        return ""
    after = "".join(token.content for token in following if token.type == "text")
    return code + (FREE if after.startswith(FREE) else "")


def unproved_numbers(lesson: Lesson) -> list[str]:
    """Return a complaint for each number in the prose that no output of the lesson shows."""
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
    """Yield all prose of a lesson, with the titles and the descriptions of pictures as prose."""
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
    """The difference between a stored output and a new one.

    Attributes
    ----------
    line : int
        Index of the first stored line that does not match, from 0.
    text : str
        Lines with - (stored) and + (printed now).
    """

    line: int
    text: str


def compare(stored: str, printed: str) -> Difference | None:
    r"""Compare a stored output with a new one; return the difference, or None if they match.

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
    return None if reached is None else Difference(reached, _diff(expected, got))


def compare_whole(stored: str, printed: str) -> Difference | None:
    r"""Compare two files like `compare`, but without wildcards: `...` matches only itself.

    Examples
    --------
    >>> compare_whole("f(...a)\n", "f(...a)\n") is None, compare_whole("f(...)\n", "f(a)\n").line
    (True, 0)
    """
    one, other = (text.replace(ELLIPSIS, NO_ELLIPSIS) for text in (stored, printed))
    return compare(one, other)


def same_line(expected: str, got: str) -> bool:
    """Return whether a printed line matches a stored one.

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
    """Return whether two lines have equal floats and equal text between them.

    Next to a float whose width differs, the number of spaces may differ too.
    """
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
    """Return the index of the first stored line that does not match, or None if all match.

    A `...` can match any number of lines. So after each stored line, all positions in the printed
    lines are tracked at which the match can continue.
    """
    reached = _reachable(expected, got)
    if not reached[-1]:
        return len(reached) - 2
    return None if len(got) in reached[-1] else len(expected)


def _reachable(expected: list[str], got: list[str]) -> list[set[int]]:
    """Return the sets of positions in `got` that can come next while `expected` is matched.

    There is one set before each stored line, and one after the last line. If a stored line does
    not match, the list ends with an empty set.
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
    """Return a diff with two lines of context; lines whose numbers nearly agree count as equal."""
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
    """Return an iterator over the lines; those nearest to an index come first."""
    order = sorted(range(len(lines)), key=lambda place: abs(place - index))
    return (lines[place] for place in order)


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in lines_of(text)]
    while lines and not lines[-1]:
        lines.pop()
    return lines
