"""Commands for files: record and replay a tape, export what it tells; and restart."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kerascope.debugger.changing import ChangingCommands
from kerascope.debugger.pictures import picture_of
from kerascope.debugger.session import Restarting
from kerascope.debugger.tables import lines_of_table
from kerascope.errors import ArgumentError
from kerascope.files import replacing
from kerascope.registry import did_you_mean
from kerascope.trace.tape_store import Tape

FORMATS = ("md", "txt", "html", "svg")
COLUMNS = ("t", "ph", "kind", "name", "engine", "user", "changes")
STYLE = "body{font-family:sans-serif}td,th{font-size:13px;text-align:left;padding:2px 8px}"


def tape_of_file(path: str | Path) -> Tape:
    """Return a tape that `record` wrote; no code is executed.

    Raises
    ------
    ArgumentError
        There is no such file, or it holds no events.
    ConfigError
        The file is damaged; the error tells the line.
    """
    path = _existing(Path(path))
    tape = Tape.load(path)
    if not len(tape):
        raise ArgumentError(f"replay: {path} holds no events.")
    return tape


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise ArgumentError(f"replay: there is no file {str(path)!r}.")
    return path


class FileCommands(ChangingCommands):
    """Commands for files."""

    def do_record(self, words: str) -> None:
        """Write the tape so far into a file, and its arrays beside it.

        Usage: record FILE
        Example: record t.jsonl
        """
        path, tape = _path(words, "record", "t.jsonl"), self.session.tape
        tape.save(path)
        beside = path.with_suffix(".npz")
        with_arrays = f" and {beside}" if tape.bytes else ""
        self.say(f"{path}{with_arrays} written: {len(tape)} events")

    def do_replay(self, words: str) -> None:
        """Read a tape that was recorded, as a further timeline; no code is executed.

        Usage: replay FILE
        Example: replay t.jsonl

        `diff 1 2` then compares it with what has just run, and `timeline 1` goes back.
        """
        path = _path(words, "replay", "t.jsonl")
        tape = tape_of_file(path)
        made = self.session.timelines.fork(0, [], tape)
        self.say(f"timeline {made.number}: {len(tape)} events of {path}")
        self.go_to(made, 0)

    def do_export(self, words: str) -> None:
        """Write all events as a table, or the graph as it stands here, into a file.

        Usage: export md | txt | html | svg FILE
        Example: export html run.html
        """
        form, _, file = words.strip().partition(" ")
        writers: dict[str, Callable[[], str]] = {
            "md": lambda: markdown_of(self.session.tape),
            "txt": lambda: text_of(self.session.tape),
            "html": lambda: page_of(self.session.tape, self._picture()),
            "svg": lambda: picture_of(self.session, with_numbers=True).svg,
        }
        if form not in writers:
            near = did_you_mean(form, FORMATS) if form else ""
            raise ArgumentError(f"export: got {form!r}. {near}Expected {', '.join(FORMATS)}.")
        path = _path(file, f"export {form}", f"run.{form}")
        text = writers[form]()
        with replacing(path) as unfinished:
            unfinished.write_bytes(text.encode("utf-8", "replace"))
        self.say(f"{path} written")

    def complete_export(self, text: str, *places: Any) -> list[str]:
        """Return the formats whose names begin with a text."""
        return [name for name in FORMATS if name.startswith(text)]

    def _picture(self) -> str:
        try:
            return picture_of(self.session, with_numbers=True).svg
        except ArgumentError:
            return ""  # a page of a saved tape has the table alone

    def do_restart(self, words: str) -> None:
        """Run the script again from its beginning; breakpoints are kept.

        Usage: restart
        Example: restart
        """
        if self.session.script is None or self.session.recorder is None:
            raise ArgumentError("restart: no script is run here. `rc` goes back to the beginning.")
        raise Restarting

    do_run = do_restart


def _path(words: str, command: str, example: str) -> Path:
    if not words.strip():
        raise ArgumentError(f"{command}: into which file? For example `{command} {example}`.")
    path = Path(words.strip()).expanduser()
    if command != "replay" and not path.absolute().parent.is_dir():
        raise ArgumentError(f"{command}: there is no folder {str(path.parent)!r}.")
    return path


def rows_of(tape: Tape) -> list[tuple[str, ...]]:
    """Return the table of a tape's events, its header first."""
    rows = [tuple(str(row[column]) for column in COLUMNS) for row in tape.to_table()]
    return [COLUMNS, *rows]


def text_of(tape: Tape) -> str:
    r"""Return the events as text, in columns.

    Examples
    --------
    >>> text_of(Tape())
    't  ph  kind  name  engine  user  changes\n'
    """
    return "\n".join([*lines_of_table(rows_of(tape)), ""])


def markdown_of(tape: Tape) -> str:
    """Return the events as a table in Markdown."""
    header, *rows = rows_of(tape)
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(["| " + " | ".join(map(_escaped, line)) + " |" for line in lines]) + "\n"


def _escaped(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def page_of(tape: Tape, picture: str = "") -> str:
    """Return the events as a page, a picture above them."""
    header, *rows = rows_of(tape)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8"><title>kerascope tape</title>\n'
        f"<style>{STYLE}</style>\n{picture}\n<table>\n<tr>{head}</tr>\n{body}\n</table></html>\n"
    )
