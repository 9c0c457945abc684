"""All that is wrong with a chapter, as lines for a person to read.

Every line names the chapter, the block and the line of the file, so that an editor can go there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kerascope.lessons.blocks import Block, Chapter, Lesson, Picture
from kerascope.lessons.comparison import Difference, compare, compare_whole
from kerascope.lessons.facts import fact_complaints
from kerascope.lessons.glossary import Term, glossary_complaints
from kerascope.lessons.lines import lines_of
from kerascope.lessons.numbers import unproved_numbers
from kerascope.lessons.runner import ChapterRun
from kerascope.lessons.twins import block_complaints, twin_complaints

HOW_TO_ACCEPT = "If it is right now: kerascope lessons build --accept"


def complaints_of(run: ChapterRun, terms: list[Term]) -> list[str]:
    """Return all complaints about a chapter that was run; none if it is sound."""
    chapter = run.chapter
    found = [*run_complaints(run), *block_complaints(chapter)]
    stored = {block.id: stored_of(block) for block in chapter.main.blocks}
    for lesson in chapter.lessons.values():
        known = stored if lesson is not chapter.main else {}
        found += output_complaints(lesson, run, known)
        found += picture_complaints(lesson, run)
        found += unproved_numbers(lesson)
    found += [*twin_complaints(chapter), *fact_complaints(chapter)]
    return [*found, *glossary_complaints(chapter, terms)]


def run_complaints(run: ChapterRun) -> list[str]:
    """Return what kept a block from running: every parsed block must have been executed."""
    lesson = run.chapter.main
    found = []
    for block in lesson.blocks:
        done = run.blocks.get(block.id)
        if done is not None and done.error:
            found.append(f"{place_of(lesson, block)}: failed:\n{_indented(done.error)}")
    if run.crash:
        found.append(f"{lesson.where}: the process died:\n{_indented(run.crash)}")
    parsed, executed = [block.id for block in lesson.blocks], list(run.blocks)
    if parsed != executed:
        missing = [name for name in parsed if name not in run.blocks]
        found.append(
            f"{lesson.where}: {len(parsed)} blocks were read and {len(executed)} executed; "
            f"not executed: {', '.join(missing)}."
        )
    return found


def output_complaints(
    lesson: Lesson, run: ChapterRun, known: Mapping[str, str] | None = None
) -> list[str]:
    """Return a complaint, with the lines that differ, for each output that does not hold.

    Parameters
    ----------
    lesson : Lesson
    run : ChapterRun
    known : mapping of str to str, optional
        Outputs, by block, of which it was said already whether they hold.
    """
    found = []
    for block in lesson.blocks:
        if known and known.get(block.id) == stored_of(block):
            continue
        difference = difference_of(block, run)
        if difference is not None:
            first = (
                block.line
                if block.kind == "pycon" or block.output is None
                else (block.output.first_line)
            )
            found.append(
                f"{place_of(lesson, block, first + difference.line)}: the output differs "
                f"(- stored, + printed now):\n{_indented(difference.text)}\n    {HOW_TO_ACCEPT}"
            )
    return found


def difference_of(block: Block, run: ChapterRun) -> Difference | None:
    """Return how what a block printed differs from what is stored; None if it does not.

    A block that failed or was not reached is another's business: `run_complaints`.
    """
    done = run.blocks.get(block.id)
    if done is None or done.error:
        return None
    return compare(stored_of(block), done.printed)


def stored_of(block: Block) -> str:
    """Return the stored output of a block; a doctest is its own."""
    if block.kind == "pycon":
        return block.code
    return block.output.text if block.output else ""


def picture_complaints(lesson: Lesson, run: ChapterRun) -> list[str]:
    """Return a complaint for each picture that its block does not make as it is stored."""
    found = []
    for picture in lesson.pictures:
        problem = picture_problem(picture, lesson.path.parent, run)
        if problem:
            found.append(f"{lesson.where}:{picture.line}: picture {picture.path!r}: {problem}.")
    return found


def picture_problem(picture: Picture, folder: Path, run: ChapterRun) -> str:
    """Return what is wrong with a picture; empty if nothing is."""
    made = made_picture(picture, run)
    if made is None:
        return f"block {picture.made_by!r} does not write it"
    stored = folder / picture.path
    if not stored.is_file():
        return f"it is not stored. {HOW_TO_ACCEPT}"
    if stored.read_bytes() == made:
        return ""
    try:
        difference = compare_whole(stored.read_text(encoding="utf-8"), made.decode("utf-8"))
    except UnicodeDecodeError:
        return f"its bytes differ. {HOW_TO_ACCEPT}"
    return f"it differs on line {difference.line + 1}. {HOW_TO_ACCEPT}" if difference else ""


def made_picture(picture: Picture, run: ChapterRun) -> bytes | None:
    """Return what the block of a picture wrote, None if it wrote nothing of that name."""
    done = run.blocks.get(picture.made_by)
    if done is None or picture.path not in done.files:
        return None
    return run.files[picture.path]


def place_of(lesson: Lesson, block: Block, line: int | None = None) -> str:
    """Return how messages name a block: `00-tools/lesson.en.md:12: block 'first'`."""
    return f"{lesson.where}:{line or block.line}: block {block.id!r}"


def stale_pictures(chapter: Chapter) -> list[str]:
    """Return a complaint for each stored picture that no lesson of the chapter shows."""
    shown = {picture.path for lesson in chapter.lessons.values() for picture in lesson.pictures}
    stored = sorted(path for path in (chapter.folder / "out").rglob("*") if path.is_file())
    names = [path.relative_to(chapter.folder).as_posix() for path in stored]
    return [
        f"{chapter.name}: {name} is shown by no lesson; remove it."
        for name in names
        if name not in shown
    ]


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in lines_of(text))
