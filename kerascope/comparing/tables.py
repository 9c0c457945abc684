"""A comparison as text and as a table, for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult

from kerascope.comparing.arrays import NO_FORM, number
from kerascope.comparing.families import family_of
from kerascope.comparing.judging import Pair, Verdict, joined
from kerascope.comparing.runs import GIVEN
from kerascope.comparing.weights import place_of
from kerascope.foreign.records import Call
from kerascope.printable import printable
from kerascope.trace.records import counted, listed
from kerascope.viz.table_layout import (
    Cell,
    Column,
    Line,
    segments,
    table_lines,
    text_of,
    word,
    wrapped,
)

if TYPE_CHECKING:
    from kerascope.comparing.comparison import Comparison

AROUND = 3  # rows before and after the first difference
MOST_ROWS = 24  # a longer table only shows rows around the first difference
MOST_NAMES = 8
STYLES = {
    Verdict.EQUAL: "green",
    Verdict.DIFFERS: "bold red",
    Verdict.WEIGHTS: "bold red",
    Verdict.SETTINGS: "bold red",
    Verdict.UPSTREAM: "yellow",
    Verdict.GROWN: "yellow",
}


def lines_of(comparison: Comparison, width: int) -> list[str]:
    """Return the printed comparison as lines of text."""
    return [text_of(line).rstrip() for line in _lines(comparison, width)]


def rendered(comparison: Comparison, console: Console, options: ConsoleOptions) -> RenderResult:
    """Yield the lines of the comparison for rich."""
    yield from segments(_lines(comparison, options.max_width), console, options)


def _lines(found: Comparison, width: int) -> Iterator[Line]:
    for text in _head(found):
        yield from wrapped(Cell([[(text, "")]]), width)
    yield []
    rows = _rows(found)
    yield from table_lines(_columns(found, rows), width)
    hidden = sum(family_of(pair.a[0]) not in GIVEN for pair in found.pairs) - len(rows)
    if hidden > 0:
        yield [(f"({counted(hidden, 'pair')} more)", "dim")]
    yield []
    for word_, calls in (("a", found.only_a), ("b", found.only_b)):
        if calls:
            names = listed([_words(call) for call in calls], MOST_NAMES)
            yield from wrapped(Cell([_in_words(f"only in {word_}: {printable(names)}")]), width)
    if found.not_finite is not None:
        where = f"from {found.not_finite.name_a} on, both have NaN or Inf, which prove nothing"
        yield from wrapped(Cell([[(printable(where), "bold yellow")]]), width)
    for line in verdict_lines(found):
        yield from wrapped(Cell([line]), width)


def _head(found: Comparison) -> list[str]:
    lines = [f"{side}: {printable(run.name)} ({run.library}), {counted(len(run.calls), 'call')}"
             for side, run in (("a", found.a), ("b", found.b))]  # fmt: skip
    lines += found.notes
    layouts = Counter(pair.layout for pair in found.pairs if pair.layout.startswith("axes"))
    lines += [f"the {layout} of b match a in {counted(times, 'pair')}"
              for layout, times in layouts.items()]  # fmt: skip
    lines.append(f"tolerance: {found.tolerance.words}, relative to the largest number of an array")
    return lines


def _rows(found: Comparison) -> list[Pair]:
    """Return the pairs to show. If there are many, only those around the first difference."""
    pairs = [pair for pair in found.pairs if family_of(pair.a[0]) not in GIVEN]
    if len(pairs) <= MOST_ROWS:
        return pairs
    if found.first is None or found.first not in pairs:
        return pairs[-MOST_ROWS:]
    place = pairs.index(found.first)
    return pairs[max(place - MOST_ROWS // 2, 0) : place + AROUND + 1]


def _columns(found: Comparison, rows: Sequence[Pair]) -> list[Column]:
    """Return the columns of the table. A cell has two lines if the sides have different names."""
    pairs = list(rows)
    gaps = [("Max abs", "max_abs"), ("Relative", "relative")]
    names = [(p.name_a, p.name_b) for p in pairs]
    ops = [(joined([c.op for c in p.a]), joined([c.op for c in p.b])) for p in pairs]
    return [
        Column("Call in a, in b", [_both(*pair) for pair in names]),
        Column("Op", [_both(*pair) for pair in ops]),
        Column("Shape", [word(_shape(pair)) for pair in pairs], is_whole=True),
        *(
            Column(title, [word(_gap(pair, key)) for pair in pairs], is_number=True)
            for title, key in gaps
        ),
        Column("Ulp", [word(_ulp(pair)) for pair in pairs], is_number=True),
        Column("Verdict", [_verdict(found, pair) for pair in pairs]),
    ]


def _both(a: str, b: str) -> Cell:
    lines: list[Line] = [[(piece, "") for piece in printable(a).split()]]
    if a != b:
        lines.append([(piece, "dim") for piece in printable(b).split()])
    return Cell(lines)


def _pieces(text: str, style: str = "") -> Cell:
    return Cell([[(piece, style) for piece in printable(text).split()]])


def _words(call: Call) -> str:
    return f"{call.id} ({call.op})"


def _shape(pair: Pair) -> str:
    outputs = pair.a[-1].outputs
    return str(tuple(outputs[0].shape)) if outputs else ""


def _gap(pair: Pair, key: str) -> str:
    if pair.verdict is Verdict.UNKNOWN or pair.difference is NO_FORM:
        return ""
    gap = float(getattr(pair.difference, key))
    return f"{gap:.2g}"


def _ulp(pair: Pair) -> str:
    ulp = pair.difference.ulp
    if ulp is None or pair.difference is NO_FORM:
        return ""
    return f"{ulp:.2g}" if ulp < 1e6 else f"{ulp:.0e}"


def _verdict(found: Comparison, pair: Pair) -> Cell:
    text = f"{pair.verdict.value}, first" if pair is found.first else pair.verdict.value
    if pair.layout and not pair.layout.startswith("axes"):
        text += f" ({pair.layout})"
    return _pieces(text, STYLES.get(pair.verdict, ""))


def verdict_lines(found: Comparison) -> list[Line]:
    """Return the result: where the models stop agreeing, by how much, and possible reasons."""
    first = found.first
    if first is None:
        return [[("equal:", "bold green"), (_words_of_equal(found), "")]]
    where = f"{first.name_a} in a, {first.name_b} in b"
    lines: list[Line] = [[("first difference:", "bold red"), *_in_words(printable(where), "bold")]]
    gap = first.difference
    if gap.place is not None and not first.verdict.is_hidden:
        place = f"at {place_of(gap.place)} {number(gap.value_a)} in a, {number(gap.value_b)} in b; "
        share = f"{gap.differing:,} of {gap.size:,} numbers differ"
        lines.append(_in_words(f"  {place}{share}"))
    lines += [_in_words(f"  {printable(reason)}") for reason in first.reasons]
    if first.verdict is Verdict.UPSTREAM:
        lines.append([("  its inputs already differ, because of a call without a partner", "")])
    return lines


def _in_words(text: str, style: str = "") -> Line:
    """Return a text as a line that is only broken between words, so that numbers stay whole."""
    first, *rest = text.split()
    indent = " " * (len(text) - len(text.lstrip()))
    return [(indent + first, style), *((one, style) for one in rest)]


def _words_of_equal(found: Comparison) -> str:
    known = [pair for pair in found.pairs if pair.verdict is not Verdict.UNKNOWN]
    worst = max((pair.difference.relative for pair in known
                 if pair.verdict is Verdict.EQUAL), default=0.0)  # fmt: skip
    return f"{counted(len(known), 'pair')} agree, the largest relative difference is {worst:.2g}"
