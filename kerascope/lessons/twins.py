"""The two languages of a chapter: the same blocks, and prose that was last held side by side.

The blocks, their outputs and the pictures of both files are the same, letter for letter, so they
are run once. The prose cannot be compared; but each section stores a hash of its twin as it was
when both were last read together. When one side is changed alone, the other one's hash no longer
fits, and `twin_complaints` says so until somebody has translated the change and renewed the hashes:
`kerascope lessons build --accept --translated zh`.
"""

from __future__ import annotations

import hashlib
import re
from itertools import combinations, zip_longest

from kerascope.lessons.blocks import Block, Chapter, Lesson, LessonError, Part, Prose, Section
from kerascope.lessons.lines import lines_of

NAMES = {"en": "English", "zh": "Chinese"}
BOTH = "both"


def section_hash(section: Section) -> str:
    """Return eight hex digits that change with the words of a section, not with its blocks.

    The title and the words of its pictures are part of it; blank lines and line ends are not.
    """
    words = [section.title]
    for part in section.parts:
        if isinstance(part, Prose):
            words += [line.strip() for line in lines_of(part.text) if line.strip()]
        elif not isinstance(part, Block):
            words.append(part.alt)
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:8]


def block_complaints(chapter: Chapter) -> list[str]:
    """Return a complaint for the first place at which two languages hold other blocks."""
    complaints = []
    if len(chapter.lessons) < 2:
        only = ", ".join(NAMES[name] for name in chapter.lessons)
        complaints.append(f"{chapter.name}: only {only} is there; expected lesson.en.md and .zh.md")
    for one, other in combinations(chapter.lessons.values(), 2):
        for ours, theirs in zip_longest(_skeleton(one), _skeleton(other)):
            if ours is None or theirs is None or ours[1:] != theirs[1:]:
                complaints.append(_unlike(one, other, ours, theirs))
                break
    return complaints


def _skeleton(lesson: Lesson) -> list[tuple[int, str, object]]:
    """Return (line, what it is, what must be the same) for all but prose."""
    rows: list[tuple[int, str, object]] = []
    for section in lesson.sections:
        rows.append((section.line, f"section {section.id!r}", section.level))
        rows += [_row(part) for part in section.parts if not isinstance(part, Prose)]
    return rows


def _row(part: Part) -> tuple[int, str, object]:
    if isinstance(part, Block):
        output = part.output.text if part.output else None
        words = (part.kind, part.words, part.code, output, part.predict)
        return part.line - 1, f"block {part.id!r}", words
    assert not isinstance(part, Prose)
    return part.line, f"picture {part.path!r}", (part.made_by, part.is_player)


def _unlike(one: Lesson, other: Lesson, ours: object, theirs: object) -> str:
    def place(lesson: Lesson, row: object) -> str:
        if not isinstance(row, tuple):
            return f"{lesson.path.name} ends"
        return f"{lesson.path.name}:{row[0]} has {row[1]}"

    same_name = isinstance(ours, tuple) and isinstance(theirs, tuple) and ours[1] == theirs[1]
    reason = "whose text differs; expected the same" if same_name else "expected the same in both"
    return f"{one.chapter}: {place(one, ours)}, {place(other, theirs)}, {reason}."


def twin_complaints(chapter: Chapter) -> list[str]:
    """Return a complaint for each section that was changed in one language alone."""
    complaints = []
    for one, other in combinations(chapter.lessons.values(), 2):
        for ours, theirs in zip(one.sections, other.sections, strict=False):
            moved = [
                lesson
                for lesson, section, twin in ((one, ours, theirs), (other, theirs, ours))
                if section_hash(section) != twin.twin_hash
            ]
            if moved:
                complaints.append(_moved(moved, one, other, ours, theirs))
    return complaints


def _moved(moved: list[Lesson], one: Lesson, other: Lesson, ours: Section, theirs: Section) -> str:
    where = f"{one.chapter}: section {ours.id!r} ({one.path.name}:{ours.line}, "
    where += f"{other.path.name}:{theirs.line})"
    if len(moved) == 2:
        return (
            f"{where} was changed in both languages. Read them side by side, then run "
            f"`kerascope lessons build --accept --translated both {one.chapter}`."
        )
    changed = moved[0]
    still = other if changed is one else one
    return (
        f"{where} was changed in {NAMES[changed.language]} alone. Translate it, then run "
        f"`kerascope lessons build --accept --translated {still.language} {one.chapter}`."
    )


def with_new_hashes(chapter: Chapter, translated: str) -> dict[str, list[str]]:
    """Return the lines of each language's file, with the hashes of its twin as it is now.

    Parameters
    ----------
    chapter : Chapter
    translated : str
        The language that was brought up to date, or `both`.

    Raises
    ------
    LessonError
        A section was changed in the other language, and in the one that was translated it is as
        it was.
    """
    lines = {name: lines_of(lesson.source) for name, lesson in chapter.lessons.items()}
    for one, other in combinations(chapter.lessons.values(), 2):
        for ours, theirs in zip(one.sections, other.sections, strict=True):
            if translated != BOTH:
                pairs = {one.language: (ours, theirs), other.language: (theirs, ours)}
                _check_translated(chapter, translated, *pairs[translated])
            for lesson, section, twin in ((one, ours, theirs), (other, theirs, ours)):
                place = section.line - 1
                lines[lesson.language][place] = _with_hash(
                    lines[lesson.language][place], section_hash(twin)
                )
    return lines


def _check_translated(chapter: Chapter, language: str, section: Section, twin: Section) -> None:
    if section_hash(twin) != section.twin_hash and section_hash(section) == twin.twin_hash:
        raise LessonError(
            f"{chapter.name}: section {section.id!r} was changed, but its {NAMES[language]} is as "
            f"it was. Translate it; or, if nothing of it need change, say --translated both."
        )


def _with_hash(heading: str, new: str) -> str:
    """Return a heading with `twin=` set.

    Examples
    --------
    >>> _with_hash("## Tools {#tools}", "1a2b3c4d")
    '## Tools {#tools twin=1a2b3c4d}'
    """
    without = re.sub(r"\s+twin=\S*?(?=[\s}])", "", heading)
    return re.sub(r"\s*\}\s*$", f" twin={new}}}", without)
