"""Whether a stored output still holds, and what differs if it does not.

Both texts are clean (`cleaning.py`). Then a line holds if it is the same, letter for letter, but
for three rules:

- `...` in a stored line stands for any text, and alone on a line for any number of lines: so an
  author cuts a long output;
- floats are equal within what is shown (`numbers.same_float`);
- spaces at the end of a line do not count, nor does how many stand beside a float whose width has
  changed.

Where a line stands in a file of kerascope is not in the texts (`stops.py`): what stands there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff
from functools import cache
from typing import NamedTuple

from kerascope.lessons.lines import lines_of
from kerascope.lessons.numbers import FLOAT, same_float

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
