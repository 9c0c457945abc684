"""Parse the text of a lesson into sections, blocks and pictures.

The text is Markdown with four extensions:

- a heading has an id and the hash of its translation: `## Three tools {#tools twin=1a2b3c4d}`;
- a fence is an executable block: `python {#id}`, `raises ValueError {#id}`, `pycon {#id}`,
  `pdb example.py {#id}`, `kscope example.py {#id}`, or `output`, which belongs to the block before
  it; `{#id .predict}` asks the reader to predict the output, and is not allowed for `pycon`;
- a picture names the block that makes it: `![What it shows](out/model.svg){.gen from=id}`;
- so does a player (`player/`): `![What it shows](out/forward.html){.player trace=id}`.

All other fences, indented blocks and pictures are errors, so a lesson shows only code that is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kerascope.errors import UnknownNameError
from kerascope.lessons import shown_number, tutorials_folder
from kerascope.lessons.introduction import read_introduction
from kerascope.lessons.lesson import (
    KINDS,
    LANGUAGES,
    SESSIONS,
    Block,
    Chapter,
    Lesson,
    LessonError,
    LessonPart,
    Output,
    Picture,
    Prose,
    Section,
    lines_of,
)
from kerascope.registry import did_you_mean

ATTRIBUTES = re.compile(r"\s*\{(?P<inside>[^{}]*)\}\s*$")
NAME = re.compile(r"[a-z][a-z0-9-]*")
PICTURE = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<path>[^)\s]+)\)(?P<attributes>\{[^{}]*\})?")


class Attributes(NamedTuple):
    """The attributes in braces at the end of a line: `{#id .class key=value}`."""

    id: str
    classes: frozenset[str]
    values: dict[str, str]


def markdown() -> MarkdownIt:
    """Return the Markdown parser for lessons: CommonMark with tables, without HTML."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def paragraphs(prose: Prose) -> Iterator[tuple[int, list[Token]]]:
    """Yield the line and the inline tokens of each paragraph, heading and table cell."""
    for token in markdown().parse(prose.text):
        if token.type == "inline" and token.map is not None:
            yield prose.line + token.map[0], token.children or []


def read_lesson(path: Path) -> Lesson:
    """Read a lesson from a file. Its name contains the language: `lesson.en.md`.

    Raises
    ------
    LessonError
        The file is not a valid lesson; the message names the line.
    """
    language = path.name.split(".")[1] if path.name.count(".") == 2 else ""
    if language not in LANGUAGES:
        raise LessonError(
            f"{path.name}: expected the name lesson.LANGUAGE.md with one of {', '.join(LANGUAGES)}."
        )
    return parse_lesson(path.read_text(encoding="utf-8"), path, language)


def parse_lesson(source: str, path: Path, language: str) -> Lesson:
    r"""Parse the source of a lesson.

    Raises
    ------
    LessonError
        The source is not a valid lesson.

    Examples
    --------
    >>> text = "# Sums {#sums}\n\n```python {#one}\nprint(1 + 1)\n```\n```output\n2\n```\n"
    >>> lesson = parse_lesson(text, Path("01-sums/lesson.en.md"), "en")
    >>> lesson.title, lesson.blocks[0].id, lesson.blocks[0].output.text
    ('Sums', 'one', '2\n')
    """
    reader = _Reader(source, f"{path.parent.name}/{path.name}")
    return Lesson(path, language, source, tuple(reader.sections()))


def attributes_of(text: str) -> Attributes:
    """Return the attributes in the text between braces.

    Examples
    --------
    >>> attributes_of("#first .predict from=other").values
    {'from': 'other'}
    """
    words = text.split()
    values = dict(word.split("=", 1) for word in words if "=" in word)
    return Attributes(
        next((word[1:] for word in words if word.startswith("#")), ""),
        frozenset(word[1:] for word in words if word.startswith(".")),
        values,
    )


def split_attributes(text: str) -> tuple[str, Attributes]:
    """Return a text without the braces at its end, and the attributes from the braces."""
    found = ATTRIBUTES.search(text)
    if found is None:
        return text.strip(), attributes_of("")
    return text[: found.start()].strip(), attributes_of(found["inside"])


class _Reader:
    """Parses the source of a lesson; it visits each top-level Markdown token once, in order."""

    def __init__(self, source: str, where: str) -> None:
        self.where = where
        self.lines = lines_of(source)
        self.tokens = markdown().parse(source)
        self.block_ids: set[str] = set()
        self.section_ids: set[str] = set()

    def error(self, line: int, what: str) -> LessonError:
        return LessonError(f"{self.where}:{line}: {what}")

    def sections(self) -> list[Section]:
        """Return the sections. Text before the first heading is an error."""
        self._refuse_hidden_blocks()
        found: list[Section] = []
        parts: list[LessonPart] = []
        prose_from = 0
        for index, token in enumerate(self.tokens):
            if token.level != 0 or token.map is None:
                continue
            begin, end = token.map
            made = self._part(token, index, parts)
            if made is None:
                continue
            self._add_prose(parts, prose_from, begin)
            prose_from = end
            if isinstance(made, Section):
                self._close(found, parts)
                found.append(made)
            elif isinstance(made, Output):
                block = parts.pop()
                assert isinstance(block, Block)
                parts.append(replace(block, output=made))
            else:
                parts.append(made)
        self._add_prose(parts, prose_from, len(self.lines))
        self._close(found, parts)
        if not found:
            raise self.error(1, "expected a heading first: '# Title {#title}'.")
        self._check_pictures(found)
        return found

    def _close(self, found: list[Section], parts: list[LessonPart]) -> None:
        """Move the collected parts to the last section in `found`, and clear the list `parts`."""
        if found:
            found[-1] = replace(found[-1], parts=tuple(parts))
        elif parts:
            raise self.error(parts[0].line, "expected '# Title {#title}' before any text.")
        parts.clear()

    def _add_prose(self, parts: list[LessonPart], begin: int, end: int) -> None:
        while begin < end and not self.lines[begin].strip():
            begin += 1
        text = "\n".join(self.lines[begin:end]).rstrip()
        if text:
            parts.append(Prose(text + "\n", begin + 1))

    def _part(
        self, token: Token, index: int, parts: list[LessonPart]
    ) -> Section | Block | Picture | Output | None:
        if token.type == "heading_open":
            return self._section(token, self.tokens[index + 1])
        if token.type == "fence":
            return self._fence(token, parts)
        if token.type == "paragraph_open":
            return self._picture(self.tokens[index + 1])
        return None

    def _section(self, opening: Token, inline: Token) -> Section:
        assert opening.map is not None
        line = opening.map[0] + 1
        title, attributes = split_attributes(inline.content)
        level = int(opening.tag[1:])
        if not self.section_ids and level != 1:
            raise self.error(line, "expected one '#': the first heading is the title.")
        if self.section_ids and level == 1:
            raise self.error(line, "expected '##' or more: a lesson has one title.")
        self._check_id(attributes.id, self.section_ids, line, f"heading {title!r}")
        return Section(attributes.id, title, level, attributes.values.get("twin", ""), line, ())

    def _fence(self, token: Token, parts: list[LessonPart]) -> Block | Output:
        assert token.map is not None
        begin, end = token.map
        line = begin + 1
        text, attributes = split_attributes(token.info)
        kind, *words = text.split() or [""]
        if kind == "output":
            return self._output(token, parts, bool(words or any(attributes)))
        if kind not in KINDS:
            hint = did_you_mean(kind, [*KINDS, "output"]) if kind else ""
            known = ", ".join([*KINDS, "output"])
            raise self.error(line, f"unknown block kind {kind!r}. {hint}Use one of: {known}.")
        self._check_id(attributes.id, self.block_ids, line, f"{kind} block")
        self._check_words(kind, words, line)
        unknown = attributes.classes - {"predict"}
        if unknown or attributes.values:
            marks = ", ".join([*(f".{name}" for name in sorted(unknown)), *attributes.values])
            raise self.error(line, f"unknown marks {marks}. Only #id and .predict are allowed.")
        predict = "predict" in attributes.classes
        if predict and kind == "pycon":
            raise self.error(
                line,
                "a pycon block cannot have '.predict', because it contains its outputs. "
                "Write a python block and an output.",
            )
        return Block(
            kind, attributes.id, tuple(words), token.content, line + 1, (begin, end), predict
        )

    def _check_words(self, kind: str, words: list[str], line: int) -> None:
        if kind == "raises" and len(words) != 1:
            raise self.error(line, "expected 'raises' and the name of one error.")
        if kind in SESSIONS and not words:
            raise self.error(line, f"expected '{kind}' and a script, such as example.py.")
        if kind in ("python", "pycon") and words:
            raise self.error(line, f"unknown words {' '.join(words)!r} after {kind!r}.")

    def _output(self, token: Token, parts: list[LessonPart], has_more: bool) -> Output:
        assert token.map is not None
        begin, end = token.map
        if has_more:
            raise self.error(begin + 1, "'output' cannot have words after it. Remove them.")
        before = parts[-1] if parts else None
        if isinstance(before, Block) and before.output is not None:
            raise self.error(begin + 1, f"block {before.id!r} has a second output. Remove one.")
        if not isinstance(before, Block) or any(
            line.strip() for line in self.lines[before.span[1] : begin]
        ):
            raise self.error(begin + 1, "expected a block right before an output.")
        if before.kind == "pycon":
            raise self.error(begin + 1, "a pycon block contains its own outputs.")
        return Output(token.content, begin + 2, (begin, end))

    def _picture(self, inline: Token) -> Picture | None:
        """Return the picture in a paragraph; None for text. Raise if it has text and a picture."""
        assert inline.map is not None
        line = inline.map[0] + 1
        if not any(child.type == "image" for child in inline.children or []):
            return None
        found = PICTURE.fullmatch(inline.content.strip().replace("\n", " "))
        if found is None:
            raise self.error(
                line, "expected a picture in its own paragraph: ![What](out/x.svg){.gen from=id}."
            )
        _, attributes = split_attributes(found["attributes"] or "")
        is_player = "player" in attributes.classes
        made_by = attributes.values.get("trace" if is_player else "from", "")
        if not made_by or not attributes.classes & {"gen", "player"}:
            raise self.error(
                line, "expected {.gen from=id} or {.player trace=id}, to name the block."
            )
        if not found["alt"].strip():
            raise self.error(line, "a picture needs a description between [ and ].")
        if is_player != found["path"].endswith(".html"):
            raise self.error(
                line, f"{found['path']!r}: only a player can be, and must be, an .html file."
            )
        return Picture(found["alt"], found["path"], made_by, line, is_player)

    def _check_id(self, name: str, known: set[str], line: int, what: str) -> None:
        if not name:
            raise self.error(line, f"the {what} has no name. Add {{#name}} at its end.")
        if not NAME.fullmatch(name):
            raise self.error(line, f"expected lower-case letters, digits or hyphens, got {name!r}.")
        if name in known:
            raise self.error(line, f"the name {name!r} is used twice. Change one.")
        known.add(name)

    def _refuse_hidden_blocks(self) -> None:
        """Raise for indented blocks and blocks in lists or quotes: they would not be run.

        Also raise for `**` that Markdown shows literally: `**先看：**再说` is not bold, because a
        closing `**` after punctuation must not be followed by a letter.
        """
        for token in self.tokens:
            line = token.map[0] + 1 if token.map else 0
            if any(
                child.type == "text" and "**" in child.content for child in token.children or []
            ):
                raise self.error(line, "'**' makes nothing bold here. Move ：，。 after it.")
            if token.type == "code_block":
                raise self.error(line, "an indented block is not run. Write a fence, ```python.")
            if token.type == "fence" and token.level != 0:
                raise self.error(line, "a block within a list or a quote is not run. Move it out.")

    def _check_pictures(self, sections: list[Section]) -> None:
        done: set[str] = set()
        for part in (part for section in sections for part in section.parts):
            if isinstance(part, Block):
                done.add(part.id)
            elif isinstance(part, Picture) and part.made_by not in done:
                raise self.error(
                    part.line, f"no block before this picture has the id {part.made_by!r}."
                )


# --- the chapters ---------------------------------------------------------------------------------


def chapter_folders(tutorials: Path | None = None) -> list[Path]:
    """Return the folders of all chapters in order: numbers first, then letters."""
    tutorials = tutorials or tutorials_folder()
    return sorted(path for path in tutorials.iterdir() if list(path.glob("lesson.*.md")))


def read_chapter(folder: Path) -> Chapter:
    """Read a chapter in all its languages.

    Raises
    ------
    LessonError
        One of its files is not a valid lesson, or its `chapter.toml` is invalid.
    """
    paths = ((language, folder / f"lesson.{language}.md") for language in LANGUAGES)
    lessons = {name: read_lesson(path) for name, path in paths if path.is_file()}
    return Chapter(folder, lessons, read_introduction(folder))


def find_chapter(name: str | int, tutorials: Path | None = None) -> Path:
    """Return the folder of a chapter by number or name: `7`, `07`, `A`, `tools`, `00-tools`.

    One word of a longer name is enough if it is unique: `whole` means `01-the-whole`.

    Raises
    ------
    UnknownNameError
        No chapter matches, or several do; the message lists the chapters.
    """
    folders = chapter_folders(tutorials)
    word = str(name).strip("/").lower()
    for folder in folders:
        number, _, topic = folder.name.lower().partition("-")
        if word in (folder.name.lower(), number, topic, shown_number(number)):
            return folder
    names = [folder.name for folder in folders]
    words = {} if word.isdigit() else {one: one.name.lower().split("-")[1:] for one in folders}
    having = [one for one, its_words in words.items() if word in its_words]
    if len(having) == 1:
        return having[0]
    if having:
        several = ", ".join(one.name for one in having)
        raise UnknownNameError(f"Chapter name {str(name)!r} is ambiguous. Use one of: {several}.")
    hint = did_you_mean(word, names)
    raise UnknownNameError(f"No chapter {str(name)!r}. {hint}Use one of: {', '.join(names)}.")
