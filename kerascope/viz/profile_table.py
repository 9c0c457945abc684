"""The tables of a profile: phases, layers, ops, and what they are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from kerascope.printable import printable
from kerascope.trace.records import counted
from kerascope.viz.overlays.times import readable_share, readable_time
from kerascope.viz.profile_data import LayerRow, PhaseRow, Row
from kerascope.viz.table_layout import Cell, Column, Line, laid_out, natural_width, wrapped
from kerascope.viz.tables import readable_bytes
from kerascope.viz.theme import OKABE_ITO

if TYPE_CHECKING:
    from kerascope.viz.profile import Profile

WIDTH = 100  # of a text that is printed without a terminal
BAR = 16  # columns of the longest bar
EIGHTHS = " ▏▎▍▌▋▊▉█"
_PLAIN = str.maketrans("│─┼└…µ█▉▊▋▌▍▎▏", "|-+-~u########")  # for terminals without the others
# What is left out of a table that is too wide, first to last.
SPARE = ("", "Memory", "Results", "Phase")


def text_of(profile: Profile, width: int = WIDTH) -> str:
    """Return the tables as text without colours."""
    return "\n".join("".join(text for text, _ in line) for line in lines_of(profile, width))


def printed(profile: Profile, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
    """Yield what rich prints."""
    for line in lines_of(profile, options.max_width):
        for text, style in line:
            text = text.translate(_PLAIN) if options.ascii_only else text
            yield Segment(text, console.get_style(style) if style else None)
        yield Segment.line()


def lines_of(profile: Profile, width: int) -> Iterator[Line]:
    """Yield the lines of all tables as pieces of text with a style each."""
    for number, line in enumerate(_heading(profile)):
        yield from wrapped(Cell([[(line, "" if number else "bold")]]), width)
    for title, columns in tables_of(profile):
        yield []
        yield from wrapped(Cell([[(title, "bold")]]), width)
        yield from laid_out(_fitting(columns, width), width)
    yield []
    for line in _notes(profile):
        yield from wrapped(Cell([[(line, "")]]), width)


def _fitting(columns: list[Column], width: int) -> list[Column]:
    """Return the columns without as many of the spare ones as make the others fit."""
    for title in SPARE:
        if natural_width(columns) <= width:
            break
        columns = [columns[0], *(one for one in columns[1:] if one.title != title)]
    return columns


def _heading(profile: Profile) -> Iterator[str]:
    measured = profile.measured
    shapes = ", ".join(map(str, measured.inputs)) or "none"
    made_up = ", with made-up numbers" if measured.are_made_up else ""
    yield f"{printable(profile.name)}: {readable_time(profile.seconds)} a call"
    yield f"Median of {counted(measured.calls, 'call')}; inputs {shapes}{made_up}"


def tables_of(profile: Profile) -> Iterator[tuple[str, list[Column]]]:
    """Yield the title and the columns of each table."""
    yield "By phase", _phase_columns(profile.phases)
    yield "By layer", _layer_columns(profile.layers)
    rows = profile.sorted_rows()
    some = rows[: profile.most]
    title = f"By op, sorted by {profile.sort}"
    if len(some) < len(rows):
        rest = readable_share(sum(row.share for row in rows[len(some) :]))
        title += f": {len(some)} of {len(rows)} (the others take {rest})"
    yield title, _op_columns(some)


# --- columns --------------------------------------------------------------------------------------


def _phase_columns(rows: Sequence[PhaseRow]) -> list[Column]:
    return [
        Column("Phase", [_word(row.phase) for row in rows]),
        *_times(rows),
        _numbers("Ops", [str(row.ops) for row in rows]),
        _numbers("Results", [_bytes(row.n_bytes) for row in rows]),
    ]


def _layer_columns(rows: Sequence[LayerRow]) -> list[Column]:
    names: list[Cell] = []
    for row in rows:
        line: Line = [(printable(row.layer), "")]
        names.append(Cell([[*line, (f"({row.class_name})", "dim")] if row.class_name else line]))
    return [
        Column("Layer (type)", names),
        _numbers("Forward", [_time(row.forward) for row in rows]),
        _numbers("Backward", [_time(row.backward) for row in rows]),
        _numbers("Update", [_time(row.update) for row in rows]),
        *_times(rows),
        _numbers("Results", [_bytes(row.n_bytes) for row in rows]),
    ]


def _op_columns(rows: Sequence[Row]) -> list[Column]:
    return [
        Column("Op", [_word(printable(row.name)) for row in rows]),
        Column("Phase", [_word(row.phase, "dim") for row in rows]),
        *_times(rows),
        _numbers("Rate", [_rate(row) for row in rows]),
        _numbers("Of limit", [_of_limit(row) for row in rows]),
        _numbers("Results", [_bytes(row.n_bytes) for row in rows]),
        Column("Memory", [_word(_short(row.memory), "dim") for row in rows]),
    ]


def _times(rows: Sequence[PhaseRow] | Sequence[LayerRow] | Sequence[Row]) -> list[Column]:
    greatest = max((row.share for row in rows), default=0.0)
    return [
        _numbers("Time", [_time(row.seconds) for row in rows], "bold"),
        _numbers("Share", [readable_share(row.share) for row in rows]),
        Column("", [_word(bar(row.share, greatest), "yellow") for row in rows]),
    ]


def bar(share: float, greatest: float) -> str:
    """Return a bar for a share; the greatest has 16 columns.

    Examples
    --------
    >>> bar(0.25, 0.5), len(bar(0.5, 0.5)), bar(0.0, 0.5)
    ('████████', 16, '')
    """
    eighths = round(8 * BAR * share / greatest) if greatest else 0
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def _word(text: str, style: str = "") -> Cell:
    return Cell([[(text, style)]] if text else [])


def _numbers(title: str, texts: Sequence[str], style: str = "") -> Column:
    return Column(title, [_word(text, style) for text in texts], is_number=True)


def _time(seconds: float) -> str:
    return readable_time(seconds) if seconds else ""


def _bytes(size: int) -> str:
    return readable_bytes(size) if size else ""


def _short(memory: str) -> str:
    return "again" if memory.startswith("again") else memory


def _rate(row: Row) -> str:
    if not row.rate:
        return ""
    return f"{row.rate / 1e9:.1f} {'GF/s' if row.multiply_adds else 'GB/s'}"


def _of_limit(row: Row) -> str:
    if row.of_limit is None:
        return ""
    return f"{readable_share(row.of_limit)} {'GEMM' if row.bound_by == 'products' else 'copy'}"


# --- notes ----------------------------------------------------------------------------------------


def _notes(profile: Profile) -> Iterator[str]:
    measured, roofline = profile.measured, profile.roofline
    if measured.python is not None and measured.whole:
        share = readable_share(measured.python / measured.whole)
        yield (
            f"Python: {readable_time(measured.python)} ({share}) to go from line to line; "
            f"the rest is NumPy."
        )
    yield (
        f"Check: without the clock between its lines a call takes {readable_time(measured.whole)}."
    )
    yield (
        f"Memory: {readable_bytes(measured.planned)} planned once, for "
        f"{readable_bytes(measured.needed)} of results in each call"
        f"{_anew(profile)}."
    )
    rates = ", ".join(f"{rate / 1e9:.1f} at {_size(n)}" for n, rate in roofline.bytes.items())
    yield (
        f"Limits, measured now: {roofline.flops / 1e9:.1f} GF/s (thousand million floating point "
        f"operations in a second) for the best product (GEMM) of float32 matrices, "
        f"{roofline.size} x {roofline.size}; copies in GB/s: {rates}."
    )


def _anew(profile: Profile) -> str:
    anew = sum(row.n_bytes for row in profile.rows if row.memory == "each call")
    return f", of which {readable_bytes(anew)} are allocated anew" if anew else ""


def _size(n_bytes: int) -> str:
    return f"{n_bytes >> 20} MB" if n_bytes >= 1 << 20 else f"{n_bytes >> 10} KB"


# --- notebooks ------------------------------------------------------------------------------------


def html_of(profile: Profile) -> str:
    """Return the tables as HTML."""
    title, *heading = _heading(profile)
    parts = [f"<p><b>{escape(title)}</b></p>", *(f"<p>{escape(line)}</p>" for line in heading)]
    for title, columns in tables_of(profile):
        parts.append(f"<p><b>{escape(title)}</b></p>{_html_table(columns)}")
    parts += [f"<p>{escape(line)}</p>" for line in _notes(profile)]
    return "\n".join(parts)


def _html_table(columns: Sequence[Column]) -> str:
    lines = [_html_row("th", columns, [escape(column.title) for column in columns])]
    for cells in zip(*(column.cells for column in columns), strict=True):
        texts = [" ".join(text for line in cell.lines for text, _ in line) for cell in cells]
        shown_texts = [
            escape(text) if column.title else _html_bar(text)
            for column, text in zip(columns, texts, strict=True)
        ]
        lines.append(_html_row("td", columns, shown_texts))
    return f"<table>{''.join(lines)}</table>"


def _html_bar(text: str) -> str:
    """Return a bar of characters as one of a browser."""
    eighths = sum(EIGHTHS.index(sign) for sign in text)
    style = f"width:{eighths / 16:g}em;height:.8em;background:{OKABE_ITO['orange']}"
    return f'<div style="{style}"></div>' if text else ""


def _html_row(tag: str, columns: Sequence[Column], texts: Sequence[str]) -> str:
    sides = ["right" if column.is_number else "left" for column in columns]
    cells = [
        f'<{tag} style="text-align:{side};white-space:nowrap">{text}</{tag}>'
        for side, text in zip(sides, texts, strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>"
