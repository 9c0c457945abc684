"""Check a chapter: return complaints as lines of text, and store new outputs.

Every complaint names the file, its line and the block, so that an editor can open it. The checks
cover facts of the documents (such as R38), terms of the glossary, the two languages, blocks,
outputs and pictures. `accept` writes new outputs into the lessons, and renews the hashes of the
translations.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, zip_longest
from pathlib import Path
from typing import NamedTuple

from markdown_it.token import Token

from kerascope.files import write_whole
from kerascope.lessons.comparison import FREE, Difference, compare, compare_whole, unproved_numbers
from kerascope.lessons.introduction import introduction_complaints
from kerascope.lessons.lesson import (
    Block,
    Chapter,
    Lesson,
    LessonError,
    LessonPart,
    Picture,
    Prose,
    Section,
    languages_of,
    lines_of,
)
from kerascope.lessons.parser import chapter_folders, markdown, paragraphs, read_chapter
from kerascope.lessons.runner import ChapterRun
from kerascope.trace.records import counted

# --- facts: which facts of the documents a chapter shows, and where -------------------------------
# A chapter ends with a section `documents`: a table with a row for each statement of the documents.
# A row names the facts (R38, C06) and, in its last column, the blocks that show them::
#
#     | S4:51 | `python3 -m pdb example.py` (R50) | these very words start it | `first-stop` |
#
# `facts_shown` reads these tables, so that a test can check that every fact is shown by a block.


SECTION = "documents"
FACT = re.compile(r"\b[RC]\d\d\b")


class FactRow(NamedTuple):
    """A row of a table in a section `documents`: facts, and the blocks that show them.

    Attributes
    ----------
    line : int
        Line of the lesson's file with the row.
    facts : tuple of str
        The numbers of facts that the documents (S0 to S4) state, such as `R38`; may be empty.
    blocks : tuple of str
        Ids of the blocks that show the facts.
    cells : tuple of str
        The text of each cell, without formatting.
    """

    line: int
    facts: tuple[str, ...]
    blocks: tuple[str, ...]
    cells: tuple[str, ...]


def facts_shown(tutorials: Path | None = None) -> dict[str, list[str]]:
    """Return the blocks of the course that show each fact: `{"R50": ["00-tools#first-stop"]}`.

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


def rows_of(lesson: Lesson, name: str = SECTION) -> list[FactRow]:
    """Return the rows of the tables in a section of a lesson, by default in `documents`."""
    return [
        row
        for section in lesson.sections
        if section.id == name
        for part in section.parts
        if isinstance(part, Prose)
        for row in _rows(part)
    ]


def _rows(prose: Prose) -> Iterator[FactRow]:
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
            texts = tuple(_text_of(cell) for cell in cells)
            yield FactRow(line, tuple(FACT.findall(words)), tuple(names), texts)


def _text_of(cell: Token) -> str:
    return "".join(child.content for child in cell.children or []).replace(FREE, "")


def fact_complaints(chapter: Chapter) -> list[str]:
    """Return a complaint for each row of a table in `documents` that names no or an unknown block.

    If the rows of two languages name different facts (such as R38) or blocks, a complaint says so.
    """
    complaints = []
    rows = {name: rows_of(lesson) for name, lesson in chapter.lessons.items()}
    for name, lesson in chapter.lessons.items():
        known = {block.id for block in lesson.blocks}
        for row in rows[name]:
            missing = [block for block in row.blocks if block not in known]
            if missing or not row.blocks:
                what = f"unknown block {missing[0]!r}" if missing else "the row names no block"
                complaints.append(
                    f"{lesson.where}:{row.line}: {what}. Write ids of this chapter's blocks "
                    f"into the last column."
                )
    shown = {name: [(row.facts, row.blocks) for row in found] for name, found in rows.items()}
    if len({repr(one) for one in shown.values()}) > 1:
        complaints.append(
            f"{chapter.name}: the tables of section {SECTION!r} must name the same facts and "
            f"blocks in all languages."
        )
    return complaints


# --- terms: one for each concept in each language -------------------------------------------------
# `tutorials/glossary.toml` holds rows such as
#
#     [[term]]
#     en = "placeholder"
#     zh = "占位符"
#     not_en = ["input slot"]
#     not_zh = ["占位子"]
#
# A chapter that uses a term in one language must use its translation in the other. A word under
# `not_` must not be used. Code is not checked.


KEYS = {"en", "zh", "not_en", "not_zh", "free"}


class Term(NamedTuple):
    """A term of the glossary.

    Attributes
    ----------
    words : dict of str to str
        The term in each language.
    forbidden : dict of str to tuple of str
        Words of each language that must not be used instead.
    free : bool
        Whether one language may omit the term, because its word also has other meanings.
    """

    words: dict[str, str]
    forbidden: dict[str, tuple[str, ...]]
    free: bool


def read_glossary(path: Path) -> list[Term]:
    """Read `glossary.toml`.

    Raises
    ------
    LessonError
        A row lacks a language or has an unknown key, or a term occurs twice.
    """
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8")).get("term", [])
    except tomllib.TOMLDecodeError as error:
        raise LessonError(f"{path.name}: {error}.") from error
    terms = []
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        where = f"{path.name}: term {number}"
        if not row.get("en") or not row.get("zh"):
            raise LessonError(f"{where} lacks a language. Give both en and zh.")
        unknown = ", ".join(sorted(row.keys() - KEYS))
        if unknown:
            raise LessonError(f"{where}: unknown {unknown}. Use: {', '.join(sorted(KEYS))}.")
        if row["en"].lower() in seen:
            raise LessonError(f"{where}: {row['en']!r} is listed twice.")
        seen.add(row["en"].lower())
        forbidden = {name: tuple(row.get(f"not_{name}", ())) for name in ("en", "zh")}
        terms.append(Term({"en": row["en"], "zh": row["zh"]}, forbidden, bool(row.get("free"))))
    return terms


def glossary_complaints(chapter: Chapter, terms: list[Term]) -> list[str]:
    """Return a complaint for each forbidden word, and for each term that one language lacks."""
    complaints: list[str] = []
    texts = {name: list(prose_lines(lesson)) for name, lesson in chapter.lessons.items()}
    for term in terms:
        for language, lines in texts.items():
            lesson = chapter.lessons[language]
            complaints += _forbidden(term, language, lesson, lines)
        if not term.free and len(texts) > 1:
            complaints += _without_twin(term, chapter, texts)
    return complaints


def prose_lines(lesson: Lesson) -> Iterator[tuple[int, str]]:
    """Yield (line, text) for the headings, prose and tables of a lesson, without code."""
    for section in lesson.sections:
        yield section.line, section.title
        for part in section.parts:
            for line, children in paragraphs(part) if isinstance(part, Prose) else ():
                yield line, _words(children, lesson.language)


def _words(children: Iterable[Token], language: str) -> str:
    """Return the text of a paragraph on one line, with a white square in place of code."""
    line_end = "" if language == "zh" else " "
    pieces = {"softbreak": line_end, "hardbreak": line_end, "code_inline": "\N{WHITE SQUARE}"}
    return "".join(
        child.content if child.type == "text" else pieces.get(child.type, "") for child in children
    )


def _forbidden(
    term: Term, language: str, lesson: Lesson, lines: list[tuple[int, str]]
) -> Iterator[str]:
    for word in term.forbidden[language]:
        for line, text in lines:
            if _uses(text, word, language):
                yield f"{lesson.where}:{line}: write {term.words[language]!r}, not {word!r}."


def _without_twin(
    term: Term, chapter: Chapter, texts: dict[str, list[tuple[int, str]]]
) -> Iterator[str]:
    places = {
        name: next((line for line, text in lines if _uses(text, term.words[name], name)), None)
        for name, lines in texts.items()
    }
    for language, line in places.items():
        for other, its_line in places.items():
            if line is not None and its_line is None:
                yield (
                    f"{chapter.lessons[language].where}:{line}: {term.words[language]!r} is used "
                    f"here; expected {term.words[other]!r} in {chapter.lessons[other].path.name}."
                )


def _uses(text: str, word: str, language: str) -> bool:
    """Return whether a text uses a word: in English also its plural, in Chinese any occurrence.

    Examples
    --------
    >>> _uses("Two Tensors.", "tensor", "en"), _uses("tensorflow", "tensor", "en")
    (True, False)
    >>> _uses("两个张量", "张量", "zh")
    True
    """
    if language == "zh":
        return word in text
    pattern = rf"(?<![\w-]){re.escape(word)}(?:s|es)?(?![\w-])"
    return re.search(pattern, text, re.IGNORECASE) is not None


# --- twins: the two languages of a chapter --------------------------------------------------------
# Blocks, outputs and pictures of both files are identical, so they are run once. The prose cannot
# be compared. Instead, each section stores a hash of its twin, the same section in the other
# language, from the time when both were last compared. If one side changes, `twin_complaints`
# reports it until the change is translated and the hashes are renewed:
# `kerascope lessons build --accept --translated zh`.


NAMES = {"en": "English", "zh": "Chinese"}
BOTH = "both"


def section_hash(section: Section) -> str:
    """Return a hash of the text of a section, without its blocks, as eight hex digits.

    The hash includes the title and the descriptions of pictures, but not blank lines and line ends.
    """
    words = [section.title]
    for part in section.parts:
        if isinstance(part, Prose):
            words += [line.strip() for line in lines_of(part.text) if line.strip()]
        elif not isinstance(part, Block):
            words.append(part.alt)
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:8]


def block_complaints(chapter: Chapter) -> list[str]:
    """Return a complaint for the first difference between two languages.

    Headings, blocks and pictures are compared. If a language is missing that another chapter of
    the course has, that is also a complaint; a course may be written in one language.
    """
    complaints = []
    if len(chapter.lessons) < len(languages_of(chapter.folder.parent)):
        only = ", ".join(NAMES[name] for name in chapter.lessons)
        complaints.append(
            f"{chapter.name}: expected lesson.en.md and .zh.md, as in other chapters, "
            f"got only {only}."
        )
    for one, other in combinations(chapter.lessons.values(), 2):
        for ours, theirs in zip_longest(_skeleton(one), _skeleton(other)):
            if ours is None or theirs is None or ours[1:] != theirs[1:]:
                complaints.append(_unlike(one, other, ours, theirs))
                break
    return complaints


def _skeleton(lesson: Lesson) -> list[tuple[int, str, object]]:
    """Return (line, name, content to compare) for each heading, block and picture of a lesson."""
    rows: list[tuple[int, str, object]] = []
    for section in lesson.sections:
        rows.append((section.line, f"section {section.id!r}", section.level))
        rows += [_row(part) for part in section.parts if not isinstance(part, Prose)]
    return rows


def _row(part: LessonPart) -> tuple[int, str, object]:
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
    reason = "with other text. Make them equal" if same_name else "but both must be equal"
    return f"{one.chapter}: {place(one, ours)}, {place(other, theirs)}, {reason}."


def twin_complaints(chapter: Chapter) -> list[str]:
    """Return a complaint for each section that changed after its translation was last updated."""
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
        f"{where} was changed only in {NAMES[changed.language]}. Translate it, then run "
        f"`kerascope lessons build --accept --translated {still.language} {one.chapter}`."
    )


def with_new_hashes(chapter: Chapter, translated: str) -> dict[str, list[str]]:
    """Return the lines of each language's file, with the current hashes of its translation.

    Parameters
    ----------
    chapter : Chapter
    translated : str
        The language that was updated, or `both`.

    Raises
    ------
    LessonError
        A section was changed in the other language, but not in the language `translated`.
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
            f"{chapter.name}: section {section.id!r} was changed, but its {NAMES[language]} was "
            f"not. Translate it. If it needs no change, use --translated both."
        )


def _with_hash(heading: str, new: str) -> str:
    """Return a heading line with `new` as its `twin=` hash.

    Examples
    --------
    >>> _with_hash("## Tools {#tools}", "1a2b3c4d")
    '## Tools {#tools twin=1a2b3c4d}'
    """
    without = re.sub(r"\s+twin=\S*?(?=[\s}])", "", heading)
    return re.sub(r"\s*\}\s*$", f" twin={new}}}", without)


# --- all checks -----------------------------------------------------------------------------------


HOW_TO_ACCEPT = "If the new one is right: kerascope lessons build --accept"


def complaints_of(run: ChapterRun, terms: list[Term]) -> list[str]:
    """Return all complaints about a chapter that was run; an empty list if all checks pass."""
    chapter = run.chapter
    found = [*run_complaints(run), *block_complaints(chapter)]
    stored = {block.id: stored_of(block) for block in chapter.main.blocks}
    for lesson in chapter.lessons.values():
        known = stored if lesson is not chapter.main else {}
        found += output_complaints(lesson, run, known)
        found += picture_complaints(lesson, run)
        found += unproved_numbers(lesson)
    found += [*twin_complaints(chapter), *fact_complaints(chapter)]
    found += introduction_complaints(chapter)
    return [*found, *glossary_complaints(chapter, terms)]


def run_complaints(run: ChapterRun) -> list[str]:
    """Return complaints about blocks that failed or did not run, and about a process that died."""
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
    """Return a complaint with a diff for each stored output that does not match the new one.

    Parameters
    ----------
    lesson : Lesson
    run : ChapterRun
    known : mapping of str to str, optional
        Stored outputs by block that are already checked, and are skipped.
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
    """Return the difference between the stored and the new output of a block; None if they match.

    Return None also for a block that failed or was not run; `run_complaints` reports such blocks.
    """
    done = run.blocks.get(block.id)
    if done is None or done.error:
        return None
    return compare(stored_of(block), done.printed)


def stored_of(block: Block) -> str:
    """Return the stored output of a block; "" if it has none; for a doctest, its whole source."""
    if block.kind == "pycon":
        return block.code
    return block.output.text if block.output else ""


def picture_complaints(lesson: Lesson, run: ChapterRun) -> list[str]:
    """Return a complaint for each picture that is not stored or differs from the new one."""
    found = []
    for picture in lesson.pictures:
        problem = picture_problem(picture, lesson.path.parent, run)
        if problem:
            found.append(f"{lesson.where}:{picture.line}: picture {picture.path!r}: {problem}.")
    return found


def picture_problem(picture: Picture, folder: Path, run: ChapterRun) -> str:
    """Return the problem with a stored picture (missing, different, not written), otherwise ""."""
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
    """Return the new content of a picture, or None if its block did not write it."""
    done = run.blocks.get(picture.made_by)
    if done is None or picture.path not in done.files:
        return None
    return run.files[picture.path]


def place_of(lesson: Lesson, block: Block, line: int | None = None) -> str:
    """Return a block as messages name it: `00-tools/lesson.en.md:12: block 'first'`."""
    return f"{lesson.where}:{line or block.line}: block {block.id!r}"


def stale_pictures(chapter: Chapter) -> list[str]:
    """Return a complaint for each stored picture that no lesson of the chapter shows."""
    shown = {picture.path for lesson in chapter.lessons.values() for picture in lesson.pictures}
    stored = sorted(path for path in (chapter.folder / "out").rglob("*") if path.is_file())
    names = [path.relative_to(chapter.folder).as_posix() for path in stored]
    return [
        f"{chapter.name}: no lesson shows {name}. Remove it." for name in names if name not in shown
    ]


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in lines_of(text))


# --- accepting: store the new outputs in the lessons ----------------------------------------------


Edit = tuple[int, int, list[str]]  # first line, line after the last, and the new lines


def accept(run: ChapterRun, translated: str | None = None) -> list[str]:
    """Store the changed outputs and pictures of a chapter; return a line for each change.

    An output that still matches is not changed, so an author's `...` for omitted lines is kept.
    Blocks that failed are skipped.

    Parameters
    ----------
    run : ChapterRun
    translated : {"en", "zh", "both"}, optional
        The language that was updated; if not given, the hashes of the translations stay the same.
    """
    written = _accept_pictures(run)
    for lesson in run.chapter.lessons.values():
        edits = [edit for block in lesson.blocks for edit in _edits(block, run)]
        if edits:
            _write(lesson, _edited(lines_of(lesson.source), edits))
            written.append(f"{lesson.where}: {counted(len(edits), 'output')} written")
    written += _doubtful(run)
    return written + (_renew_hashes(run.chapter, translated) if translated else [])


def _doubtful(run: ChapterRun) -> list[str]:
    """Return a line for each error that a debugger printed in the new outputs.

    The author must check that these errors are intended.
    """
    return [
        f"{run.chapter.name}: block {name!r}: look at this answer: {line}"
        for name, done in run.blocks.items()
        for line in lines_of(done.printed)
        if line.startswith("*** ")
    ]


def _accept_pictures(run: ChapterRun) -> list[str]:
    written = []
    for picture in run.chapter.main.pictures:
        path = run.chapter.folder / picture.path
        made = made_picture(picture, run)
        if made is None or not picture_problem(picture, run.chapter.folder, run):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, made)
        written.append(f"{run.chapter.name}/{picture.path}: written")
    return written


def _edits(block: Block, run: ChapterRun) -> list[Edit]:
    """Return a list with the edit that stores a block's new output; empty if the output matches."""
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
    """Return these lines as an `output` fence, with its first and last line.

    The fence has more backticks than any fence in the lines.
    """
    longest = max((len(match[0]) for line in lines if (match := re.match("`+", line))), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}output", *(line.rstrip() for line in lines), fence]


def _edited(lines: list[str], edits: list[Edit]) -> list[str]:
    """Return the lines of a file after these edits. The last edit of the file is made first."""
    result = list(lines)
    for begin, end, new in sorted(edits, reverse=True):
        result[begin:end] = new
    return result


def _write(lesson: Lesson, lines: list[str]) -> None:
    write_whole(lesson.path, "\n".join(lines) + "\n")


def _renew_hashes(chapter: Chapter, translated: str) -> list[str]:
    """Store in each section the current hash of the same section in the other language.

    Return a line of text for each file that was changed.
    """
    chapter = read_chapter(chapter.folder)
    written = []
    for language, lines in with_new_hashes(chapter, translated).items():
        lesson = chapter.lessons[language]
        if lines != lines_of(lesson.source):
            _write(lesson, lines)
            written.append(f"{lesson.where}: hashes of its twin renewed")
    return written
