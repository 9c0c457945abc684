"""What a student has typed and run in the pages, in one file of the student's folder.

The file is read again before each change, and a change names only the fields that it changes. So
two tabs, and two servers, do not overwrite each other's work. Each file is written completely or
not at all. The schema, `kerascope-learn-web/1`::

    {"schema": "kerascope-learn-web/1",
     "chapters": {"05-node": {
         "seen": ["node", "shared"],           the sections that were on the screen
         "blocks": {"two_calls": {
             "code": "...",                    as the student has edited it
             "events": [...],                  of the last run, see `kernel.py`
             "draft": "...",                   of a prediction
             "prediction": "...", "reason": "..."}}}}}
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from kerascope.errors import ArgumentError
from kerascope.files import write_whole

KEPT = ".kerascope-learn-web.json"
SCHEMA = "kerascope-learn-web/1"
FIELDS = ("code", "draft", "prediction", "reason")  # only the server changes "events"
MOST_KEPT = 400_000  # characters of the events of one block


class KeptWork:
    """The file with a student's work in the pages.

    Parameters
    ----------
    folder : Path
        The student's folder.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / KEPT

    def chapter(self, name: str) -> dict[str, Any]:
        """Return the stored work in a chapter, with the keys "seen" and "blocks"."""
        return {"seen": [], "blocks": {}} | self._read().get(name, {})

    def keep_block(self, chapter: str, block: str, fields: dict[str, Any]) -> None:
        """Change fields of a block. The value None removes a field; with the code, its output."""
        chapters = self._read()
        blocks = chapters.setdefault(chapter, {}).setdefault("blocks", {})
        merged = blocks.get(block, {}) | fields
        if merged.get("code", "") is None:
            merged["events"] = None
        blocks[block] = {name: value for name, value in merged.items() if value is not None}
        self._write(chapters)

    def keep_seen(self, chapter: str, sections: list[str]) -> None:
        """Add sections to the stored list of those that the student has had on the screen."""
        chapters = self._read()
        its = chapters.setdefault(chapter, {})
        its["seen"] = list(dict.fromkeys([*its.get("seen", []), *sections]))
        self._write(chapters)

    def _read(self) -> dict[str, Any]:
        try:
            chapters = dict(json.loads(self.path.read_text(encoding="utf-8"))["chapters"])
            _check_types(chapters)
            return chapters
        except FileNotFoundError:
            return {}
        except (ValueError, KeyError, TypeError, AttributeError):
            os.replace(self.path, self.path.with_name(f"{KEPT}.damaged"))
            return {}

    def _write(self, chapters: dict[str, Any]) -> None:
        data = {"schema": SCHEMA, "chapters": chapters}
        write_whole(self.path, json.dumps(data, indent=1) + "\n")


def _check_types(chapters: dict[str, Any]) -> None:
    """Raise if a value is not of the type in the schema, because the file was edited by hand."""
    for chapter in chapters.values():
        values = [("seen", chapter.get("seen", []))]
        for block in chapter.get("blocks", {}).values():
            values += block.items()
        for name, value in values:
            if not isinstance(value, list if name in ("seen", "events") else str):
                raise TypeError(name)


def fields_of_page(data: Any) -> dict[str, str | None]:
    """Return the fields of a block that a page sends, after a check of names and types.

    Raises
    ------
    ArgumentError
        The data is not a dict, a field is unknown, or it is neither a text nor None.
    """
    fields = data if isinstance(data, dict) else {"": data}
    for name, value in fields.items():
        if name not in FIELDS or not isinstance(value, str | None):
            raise ArgumentError(f"Block: expected texts named {', '.join(FIELDS)}, got {name!r}.")
    return fields


def events_to_keep(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events of a run as they are stored: questions as text, neighbouring texts joined.

    Events that would exceed `MOST_KEPT` characters in total are left out.

    Examples
    --------
    >>> events_to_keep([{"text": "4"}, {"text": "2"}, {"ask": "> "}, {"done": 0.1}])
    [{'text': '42> '}, {'done': 0.1}]
    """
    kept: list[dict[str, Any]] = []
    room = MOST_KEPT
    for event in events:
        event = {"text": event["ask"]} if "ask" in event else event
        room -= sum(len(value) for value in event.values() if isinstance(value, str))
        if room < 0 and "done" not in event:
            continue
        if kept and event.keys() == kept[-1].keys() == {"text"}:
            kept[-1] = {"text": kept[-1]["text"] + event["text"]}
        else:
            kept.append(event)
    return kept
