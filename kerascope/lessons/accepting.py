"""Writes into the lessons what their blocks print now, and renews the hashes of the twins."""

from __future__ import annotations

import re

from kerascope.files import replacing
from kerascope.lessons.blocks import Block, Chapter, Lesson
from kerascope.lessons.checking import (
    difference_of,
    made_picture,
    picture_problem,
)
from kerascope.lessons.folders import read_chapter
from kerascope.lessons.lines import lines_of
from kerascope.lessons.runner import ChapterRun
from kerascope.lessons.twins import with_new_hashes

Edit = tuple[int, int, list[str]]  # lines of a file, from and to, and what stands there instead


def accept(run: ChapterRun, translated: str | None = None) -> list[str]:
    """Rewrite what has changed in a chapter; return a line for each thing that was written.

    An output that still holds is left as it is, with the `...` by which its author cut it. Of a
    block that failed nothing is written.

    Parameters
    ----------
    run : ChapterRun
    translated : {"en", "zh", "both"}, optional
        Which language was brought up to date; without it the hashes of the twins stay.
    """
    written = _accept_pictures(run)
    for lesson in run.chapter.lessons.values():
        edits = [edit for block in lesson.blocks for edit in _edits(block, run)]
        if edits:
            _write(lesson, _edited(lines_of(lesson.source), edits))
            written.append(f"{lesson.where}: {_told(edits)}")
    written += _doubtful(run)
    return written + (_renew_hashes(run.chapter, translated) if translated else [])


def _doubtful(run: ChapterRun) -> list[str]:
    """Return a line for each answer of a debugger that says that a command made no sense."""
    return [
        f"{run.chapter.name}: block {name!r}: look at this answer: {line}"
        for name, done in run.blocks.items()
        for line in lines_of(done.printed)
        if line.startswith("*** ")
    ]


def _told(edits: list[Edit]) -> str:
    return f"{len(edits)} output{'s' if len(edits) > 1 else ''} written"


def _accept_pictures(run: ChapterRun) -> list[str]:
    written = []
    for picture in run.chapter.main.pictures:
        path = run.chapter.folder / picture.path
        made = made_picture(picture, run)
        if made is None or not picture_problem(picture, run.chapter.folder, run):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished:
            unfinished.write_bytes(made)
        written.append(f"{run.chapter.name}/{picture.path}: written")
    return written


def _edits(block: Block, run: ChapterRun) -> list[Edit]:
    """Return how to make the stored output of a block what it prints now: at most one edit."""
    done = run.blocks.get(block.id)
    if done is None or done.error:
        return []
    if difference_of(block, run) is None:
        return []
    lines = lines_of(done.printed)
    begin, end = block.span
    if block.kind == "pycon":
        return [(begin + 1, end - 1, lines)]
    if block.output is None:
        return [(end, end, ["", *_fenced(lines)])]
    begin, end = block.output.span
    return [(begin, end, _fenced(lines) if lines else [])]


def _fenced(lines: list[str]) -> list[str]:
    """Return an `output` fence, longer than any fence within it."""
    longest = max((len(match[0]) for line in lines if (match := re.match("`+", line))), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}output", *(line.rstrip() for line in lines), fence]


def _edited(lines: list[str], edits: list[Edit]) -> list[str]:
    """Return lines with some replaced; from the last to the first, so that places stay right."""
    result = list(lines)
    for begin, end, new in sorted(edits, reverse=True):
        result[begin:end] = new
    return result


def _write(lesson: Lesson, lines: list[str]) -> None:
    with replacing(lesson.path) as unfinished:
        unfinished.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _renew_hashes(chapter: Chapter, translated: str) -> list[str]:
    """Store in each section the hash of its twin as it is in the files now."""
    chapter = read_chapter(chapter.folder)
    written = []
    for language, lines in with_new_hashes(chapter, translated).items():
        lesson = chapter.lessons[language]
        if lines != lines_of(lesson.source):
            _write(lesson, lines)
            written.append(f"{lesson.where}: hashes of its twin renewed")
    return written
