"""Show a chapter in the terminal: `kerascope learn read 7`.

`chapter_text` returns it as text, wrapped to a width, with or without colors. `chapter_pages`
returns it in pieces, for a reader who goes through it section by section (`learn/reader.py`).
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.table import Table

from kerascope.errors import UnknownNameError
from kerascope.lessons.lesson import (
    BREAK,
    BREAKS,
    SAID,
    SESSIONS,
    Block,
    Lesson,
    Picture,
    Section,
    lines_of,
)
from kerascope.lessons.parser import find_chapter, read_chapter
from kerascope.lessons.references import CODE, note_on_codes
from kerascope.lessons.render_html import LESSON_LINK, PREDICT, session_command, shown_text
from kerascope.lessons.stops import number_places

DEFAULT_WIDTH = 80
PICTURE = {"en": "Picture: ", "zh": "图："}
PLAYER = {
    "en": "[Player, to be stepped through in a browser: {alt} Open {path}]",
    "zh": "[播放器，在浏览器里一步步看：{alt} 请打开 {path}]",
}
OUTPUT = {"en": "Output:", "zh": "输出："}
# Ends a text where the reader is asked for a prediction.
ASK = "\x01"


def chapter_text(name: str | int, language: str = "en", **options: Any) -> str:
    """Return a chapter as text for a terminal or a pipe; for the options, see `chapter_pages`.

    Raises
    ------
    UnknownNameError
        The chapter does not exist, or does not exist in this language.
    """
    pages = chapter_pages(name, language, **options)
    return "\n".join(text for page in pages for text in page)


def chapter_pages(
    name: str | int,
    language: str = "en",
    *,
    width: int = DEFAULT_WIDTH,
    color: bool = False,
    at: str = "",
    tutorials: Path | None = None,
    asks: bool = False,
) -> list[list[str]]:
    """Return a chapter as one page for each section; a page is a list of texts.

    Parameters
    ----------
    name : str or int
        The chapter's number or name: `7`, `"A"`, `"07-dense"`.
    language : {"en", "zh"}
    width : int
        Number of columns for prose; code is not wrapped.
    color : bool
        Whether to write escape sequences for colors and bold text.
    at : str
        Text to append to the `kerascope learn` commands in the text: ` --folder ann`.
    tutorials : Path, optional
        Folder of the chapters; default `tutorials_folder()`.
    asks : bool
        Whether a text ends where the reader is asked for a prediction. The next text begins with
        the output and the line `SAID`, which the caller replaces by the prediction. Otherwise each
        page has one text.

    Raises
    ------
    UnknownNameError
        The chapter does not exist, or does not exist in this language.
    """
    chapter = read_chapter(find_chapter(name, tutorials))
    if language not in chapter.lessons:
        known = ", ".join(chapter.lessons)
        raise UnknownNameError(f"{chapter.name} has no language {language!r}. Use one of: {known}.")
    lesson = chapter.lessons[language]
    note = note_on_codes(lesson.source, language, chapter.folder.parent, at)
    printer = _Printer(lesson, width, color, asks, note)
    introduction = chapter.introduction_text(language)
    pages = [printer.page(section, introduction) for section in lesson.sections]
    words, command = chapter.exercises_line(language, at or None)
    if words:
        pages[-1][-1] += f"\n{words} {command}\n"
    return pages


class _WholeTable(TableElement):
    """A Markdown table whose long words are divided; rich would cut them off with `…`."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for content in super().__rich_console__(console, options):
            if isinstance(content, Table):
                for column in content.columns:
                    column.overflow = "fold"
            yield content


class _LessonMarkdown(Markdown):
    """Markdown for the terminal, with whole tables."""

    elements: ClassVar = {**Markdown.elements, "table_open": _WholeTable}


@dataclass
class _Printer:
    """Prints the sections of a lesson as texts of a given width.

    Attributes
    ----------
    lesson : Lesson
    width : int
    color, asks : bool
        See `chapter_pages`.
    note : str
        A note in Markdown that is printed before the first prose with a code such as S4:51.
    """

    lesson: Lesson
    width: int
    color: bool
    asks: bool
    note: str

    def page(self, section: Section, introduction: str) -> list[str]:
        """Return a section as texts. The introduction is printed below the chapter's title."""
        out = io.StringIO()
        self.console = Console(
            file=out, width=self.width, force_terminal=self.color, no_color=not self.color,
            color_system="256" if self.color else None, highlight=False, emoji=False, markup=False,
            legacy_windows=False,
        )  # fmt: skip
        self.console.print(f"{'#' * section.level} {section.title}", style="bold")
        self.console.print()
        if section.level == 1:
            self._print_prose(introduction)
        for step in section.steps:
            self._print_prose(step.before)
            if isinstance(step.part, Block):
                self._print_block(step.part, self.asks and step.is_predicted)
            elif step.part is not None:
                self.console.print(BREAKS.sub(BREAK, self._picture_line(step.part)))
                self.console.print()
            self._print_prose(step.answer)
        lines = [line.rstrip() for line in out.getvalue().replace(BREAK, "").split("\n")]
        return [text.strip("\n") + "\n" for text in "\n".join(lines).split(ASK)]

    def _print_prose(self, text: str) -> None:
        if not text.strip():
            return
        if self.note and CODE.search(text):
            text, self.note = f"{self.note}\n\n{text}", ""
        text = LESSON_LINK.sub(lambda match: match["chapter"], shown_text(text))
        text = re.sub(r"\[([^\]]+)\]\([\w-]+\)", r"\1", text)
        self.console.print(_LessonMarkdown(BREAKS.sub(BREAK, text), hyperlinks=False))
        self.console.print()

    def _picture_line(self, picture: Picture) -> str:
        """Return the line shown in place of a picture: its description, the file of a player."""
        language = self.lesson.language
        if not picture.is_player:
            return f"[{PICTURE[language]}{picture.alt}]"
        path = self.lesson.path.parent / picture.path
        if path.is_relative_to(Path.cwd()):
            path = path.relative_to(Path.cwd())
        return PLAYER[language].format(alt=picture.alt, path=path.as_posix())

    def _print_block(self, block: Block, asks: bool) -> None:
        """Print the code of a block with a bar before each line, then its output; wrap no lines.

        A session contains its commands, so before a question its commands are printed alone.
        """
        language = self.lesson.language
        output = number_places(block.output.text) if block.output else ""
        if block.kind not in SESSIONS:
            self._print_lines(block.code, "| ", "bold")
        elif asks:
            self._print_lines(f"$ {session_command(block)}\n{block.code}", "| ", "bold")
        if asks:
            self.console.print(ASK)
        if block.kind in SESSIONS:
            self._print_lines(f"$ {session_command(block)}\n{output}", "| ", "")
        elif output:
            said = PREDICT[language] if block.predict and not asks else OUTPUT[language]
            self.console.print(said, style="italic")
            self._print_lines(output, "  ", "")
        if asks:
            self.console.print(SAID)
        self.console.print()

    def _print_lines(self, text: str, before: str, style: str) -> None:
        for line in lines_of(text):
            self.console.print(f"{before}{line}", style=style or None, soft_wrap=True)
