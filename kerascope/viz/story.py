"""Print the records of a trace as text for a terminal or a pipe, as Markdown, or as JSON lines.

In a pipe the text is plain, 100 columns wide and identical at every run. Names have their own
column; a text that is too long continues below, with the same indentation.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import IO, Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from kerascope.errors import ArgumentError
from kerascope.printable import printable
from kerascope.trace.records import Record
from kerascope.viz import progress

PIPE_WIDTH = 100
ALIGNED_WIDTH = 60  # columns of text from which cells are aligned with those of other lines
NARROWEST_TEXT = 20
NAME_COLUMN = 34
DEEPEST_INDENT = 8
CELL = 12
CELLS = {"|x|=": 12, "min=": 14, "mean=": 16}

STYLES = {
    "section": "bold cyan",
    "begin": "bold",
    "layer": "bold blue",
    "input": "bold green",
    "batch": "bold",
    "pair": "magenta",
    "commit": "green",
    "failed": "bold red",
    "not_finite": "bold red",
    "repeated": "dim",
}
PHASE_STYLES = {
    "forward": "blue",
    "loss": "yellow",
    "metrics": "yellow",
    "backward": "magenta",
    "update": "cyan",
    "commit": "green",
}
QUIET = r"\|x\|=|\b(?:min|mean|max)=|->|<-"


class _Console(Console):
    """A console that raises BrokenPipeError for a broken pipe, instead of ending the process."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class StoryPrinter:
    """Prints the records of a trace as text, one by one.

    Parameters
    ----------
    file : text stream
        Colours are used if the file is a terminal.
    width : int, optional
        Columns; by default those of the terminal, and 100 elsewhere.
    """

    def __init__(self, file: IO[str], width: int | None = None) -> None:
        plain = not file.isatty()
        if width is None and plain:
            width = PIPE_WIDTH
        self.console = _Console(
            file=file,
            width=width,
            highlight=False,
            markup=False,
            emoji=False,
            color_system=None if plain else "auto",
            force_terminal=not plain,
        )
        self._is_first = True

    def __call__(self, record: Record) -> None:
        """Print one record of the trace."""
        progress.end_line()
        for line in self._lines(record):
            self.console.print(line, soft_wrap=True)
        self.console.file.flush()

    def _lines(self, record: Record) -> list[Text]:
        lines = lines_of(record, self.console.width, self.console.options.ascii_only)
        if record.depth == 0 and not self._is_first:
            lines.insert(0, Text())
        self._is_first = False
        return lines


def lines_of(record: Record, width: int, ascii_only: bool = False) -> list[Text]:
    """Return the lines of a record, none longer than `width`.

    Examples
    --------
    >>> record = Record("loss", "loss", 3, "total_loss", ("f32[]", "0.6931"))
    >>> [line.plain for line in lines_of(record, 100)]
    ['      total_loss                  f32[]       0.6931']
    """
    if record.depth == 0:
        return [_section_line(record, width, ascii_only)]
    style = "bold red" if record.alarm else _style_of(record)
    column = min(NAME_COLUMN, max(width * NAME_COLUMN // 100, 16))
    name = Text("  " * min(record.depth, DEEPEST_INDENT) + _shown(record.name, ascii_only), style)
    name.rstrip()
    cells = [_shown(cell, ascii_only) for cell in record.cells if cell]
    words = [Text(line, "red" if record.alarm else "") for line in _packed(cells, width - column)]
    for line in words if not record.alarm else ():
        line.highlight_regex(QUIET, "dim")
    return _beside(name, words, column, width)


def _section_line(record: Record, width: int, ascii_only: bool) -> Text:
    """Return the line of a section: its title between two horizontal rules."""
    rule = "-" if ascii_only else "━"
    title = f"{rule * 2} {_shown(record.name, ascii_only)} "
    note = f" {_shown(record.text, ascii_only)}"
    filled = max(width - cell_len(title) - cell_len(note), 2)
    line = Text.assemble((title, STYLES["section"]), (rule * filled, "dim"), (note, "dim"))
    line.truncate(width, overflow="crop" if ascii_only else "ellipsis")
    return line


def _style_of(record: Record) -> str:
    if record.kind == "begin":
        return f"bold {PHASE_STYLES.get(record.phase, '')}".strip()
    return STYLES.get(record.kind, "")


def _packed(cells: list[str], width: int) -> list[str]:
    """Put the parts of a text (cells) into lines of at most `width` columns."""
    width = max(width, NARROWEST_TEXT)
    lines = [""]
    for index, cell in enumerate(cells):
        if lines[-1] and cell_len(lines[-1]) + cell_len(cell) > width:
            lines.append("")
        if cell_len(cell) > width:
            lines[-1:] = [piece.plain for piece in _wrapped(Text(cell), width)]
            lines[-1] += "  "
            continue
        is_last = index == len(cells) - 1
        lines[-1] += cell if is_last else cell + " " * (_cell_width(cell, width) - cell_len(cell))
    return [line.rstrip() for line in lines if line.strip()]


def _cell_width(cell: str, columns: int) -> int:
    """Return the width reserved for a part of a line.

    In wide output it is rounded up, so that the parts of several lines are below each other.
    """
    if columns < ALIGNED_WIDTH:
        return cell_len(cell) + 2
    for start, width in CELLS.items():
        if cell.startswith(start):
            return max(width, cell_len(cell) + 2)
    return max(CELL, -(-(cell_len(cell) + 2) // 6) * 6)


def _beside(name: Text, words: list[Text], column: int, width: int) -> list[Text]:
    """Return a name with lines of text to its right or, if the name is long, below it."""
    names = _wrapped(name, width)
    if words and len(names) == 1 and name.cell_len + 2 <= column:
        names[0].pad_right(column - name.cell_len)
        names = [Text.assemble(names[0], words.pop(0))]
    return [*names, *(Text.assemble(" " * column, line) for line in words)]


def _wrapped(text: Text, width: int) -> list[Text]:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    lines = list(text.wrap(console, width, overflow="fold"))
    for line in lines:
        line.rstrip()
    return lines


def _shown(text: str, ascii_only: bool) -> str:
    """Return text with control characters escaped and, if `ascii_only`, in ASCII."""
    text = printable(text)
    return text.encode("ascii", "backslashreplace").decode("ascii") if ascii_only else text


# --- other formats --------------------------------------------------------------------------------


def markdown_of(record: Record) -> str:
    """Return a record as Markdown: a heading for a section, otherwise a list item.

    Examples
    --------
    >>> markdown_of(Record("forward", "tensor", 2, "relu", ("f32[2]", "|x|=1")))
    '  - **relu** · `f32[2]  |x|=1`'
    """
    if record.depth == 0:
        return f"\n## {record.name}\n\n{record.text}\n"
    indent = "  " * (record.depth - 1)
    mark = "⚠ " if record.alarm else ""
    text = f" · `{record.text.replace('`', chr(39))}`" if record.text else ""
    return f"{indent}- {mark}**{_escaped(record.name)}**{text}"


def _escaped(name: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_[]<>|" else c for c in name)


def json_of(record: Record) -> str:
    """Return a record as one line of JSON.

    Examples
    --------
    >>> json_of(Record("fit", "epoch", 1, "epoch 1", ("acc=1",)))
    '{"phase": "fit", "kind": "epoch", "depth": 1, "name": "epoch 1", "text": "acc=1", "facts": {}}'
    """
    data: dict[str, Any] = {
        "phase": record.phase,
        "kind": record.kind,
        "depth": record.depth,
        "name": record.name,
        "text": record.text,
        "facts": _plain(dict(record.facts)),
    }
    if record.alarm:
        data["alarm"] = True
    return json.dumps(data, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Return a value of a record's dict `facts` for JSON; infinite numbers and NaN become text."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if abs(value) < float("inf") else str(value)
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)


def printer(format: str, file: IO[str]) -> Callable[[Record], None]:
    """Return a function that writes a record to `file` in a format: "text", "md" or "jsonl".

    Raises
    ------
    ArgumentError
        The format is unknown.
    """
    if format == "text":
        return StoryPrinter(file)
    if format not in _WRITTEN:
        known = ", ".join(("text", *_WRITTEN))
        raise ArgumentError(f"trace: unknown format {format!r}. Use one of: {known}.")
    write = _WRITTEN[format]

    def print_record(record: Record) -> None:
        file.write(write(record) + "\n")
        file.flush()

    return print_record


_WRITTEN: dict[str, Callable[[Record], str]] = {"md": markdown_of, "jsonl": json_of}
