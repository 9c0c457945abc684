"""Which facts about the documents a chapter shows, and where.

A chapter ends with a section `documents`: a table with a row for each thing that the documents say.
A row names the facts (R38, C06) and, in its last column, the blocks that show them::

    | S4:51 | `python3 -m pdb example.py` (R50) | these very words start it | `first-stop` |

`facts_shown` reads these tables, so that a test can say of every fact in which block it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it.token import Token

from kerascope.lessons.blocks import Chapter, Lesson, Prose
from kerascope.lessons.folders import chapter_folders, read_chapter
from kerascope.lessons.parser import markdown

SECTION = "documents"
FACT = re.compile(r"\b[RC]\d\d\b")


class Row(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    line : int
    facts : tuple of str
        As `R38`; there may be none.
    blocks : tuple of str
        Ids of the blocks that show what the row says.
    """

    line: int
    facts: tuple[str, ...]
    blocks: tuple[str, ...]


def facts_shown(tutorials: Path | None = None) -> dict[str, list[str]]:
    """Return where each fact is shown: `{"R50": ["00-tools#first-stop"]}`.

    Examples
    --------
    >>> facts_shown()["R50"]
    ['00-tools#first-stop']
    """
    found: dict[str, list[str]] = {}
    for folder in chapter_folders(tutorials):
        for row in rows_of(read_chapter(folder).main):
            for fact in row.facts:
                found.setdefault(fact, []).extend(f"{folder.name}#{name}" for name in row.blocks)
    return dict(sorted(found.items()))


def rows_of(lesson: Lesson) -> list[Row]:
    """Return the rows of the tables in the section `documents`."""
    return [
        row
        for section in lesson.sections
        if section.id == SECTION
        for part in section.parts
        if isinstance(part, Prose)
        for row in _rows(part)
    ]


def _rows(prose: Prose) -> Iterator[Row]:
    cells: list[Token] = []
    in_body = False
    for token in markdown().parse(prose.text):
        if token.type in ("tbody_open", "tbody_close"):
            in_body = token.type == "tbody_open"
        elif token.type == "tr_open":
            cells = []
        elif token.type == "inline":
            cells.append(token)
        elif token.type == "tr_close" and in_body:
            words = " ".join(cell.content for cell in cells)
            names = [one.content for one in cells[-1].children or [] if one.type == "code_inline"]
            line = prose.line + (cells[0].map or [0])[0]
            yield Row(line, tuple(FACT.findall(words)), tuple(names))


def fact_complaints(chapter: Chapter) -> list[str]:
    """Return a complaint for each row that names no block, or one that is not there."""
    complaints = []
    rows = {name: rows_of(lesson) for name, lesson in chapter.lessons.items()}
    for name, lesson in chapter.lessons.items():
        known = {block.id for block in lesson.blocks}
        for row in rows[name]:
            missing = [block for block in row.blocks if block not in known]
            if missing or not row.blocks:
                what = f"no block {missing[0]!r}" if missing else "the row names no block"
                complaints.append(
                    f"{lesson.where}:{row.line}: {what}; expected ids of this chapter's blocks "
                    f"in the last column."
                )
    told = {name: [(row.facts, row.blocks) for row in found] for name, found in rows.items()}
    if len({repr(one) for one in told.values()}) > 1:
        complaints.append(
            f"{chapter.name}: the tables of section {SECTION!r} name other facts or other blocks "
            f"in its languages; expected the same."
        )
    return complaints
