"""Show a chapter in the terminal: `kerascope learn read 7`.

`chapter_text` returns it as text, wrapped to a width, with or without colors.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from kerascope.errors import UnknownNameError
from kerascope.lessons.lesson import SESSIONS, Block, Lesson, LessonPart, Picture, Prose, lines_of
from kerascope.lessons.parser import find_chapter, read_chapter
from kerascope.lessons.render_html import LESSON_LINK, PREDICT, WIDE, session_command, shown_text
from kerascope.lessons.stops import number_places

DEFAULT_WIDTH = 80
PICTURE = {"en": "Picture", "zh": "图"}
PLAYER = {
    "en": "[Player, to be stepped through in a browser: {alt} Open {path}]",
    "zh": "[播放器，在浏览器里一步步看：{alt} 请打开 {path}]",
}
OUTPUT = {"en": "Output:", "zh": "输出："}
# Marks where a Chinese line may be broken. Rich breaks lines only at white space. This character
# counts as white space without width, and is removed after wrapping.
BREAK = "\x1f"
BREAKS = re.compile(rf"(?<={WIDE})(?<![（《“‘「])(?={WIDE})(?![，。、：；？！）》”’」])")


def chapter_text(
    name: str | int,
    language: str = "en",
    *,
    width: int = DEFAULT_WIDTH,
    color: bool = False,
    at: str = "",
    tutorials: Path | None = None,
) -> str:
    """Return a chapter as text for a terminal or a pipe.

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
        Text to append to the command for the exercises at the end: ` --folder ann`.
    tutorials : Path, optional
        Folder of the chapters; default `tutorials_folder()`.

    Raises
    ------
    UnknownNameError
        The chapter does not exist, or does not exist in this language.
    """
    chapter = read_chapter(find_chapter(name, tutorials))
    if language not in chapter.lessons:
        known = ", ".join(chapter.lessons)
        raise UnknownNameError(f"{chapter.name} has no language {language!r}. Use one of: {known}.")
    text = lesson_text(
        chapter.lessons[language],
        width=width,
        color=color,
        introduction=chapter.introduction_text(language),
    )
    words, command = chapter.exercises_line(language, at)
    return f"{text}\n{words} {command}\n" if words else text


def lesson_text(
    lesson: Lesson, *, width: int = DEFAULT_WIDTH, color: bool = False, introduction: str = ""
) -> str:
    """Return one lesson as text for a terminal; see `chapter_text`.

    `introduction` is Markdown that is shown below the title.
    """
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=color, no_color=not color, color_system="256" if color
        else None, highlight=False, emoji=False, markup=False, legacy_windows=False,
    )  # fmt: skip
    for section in lesson.sections:
        console.print(f"{'#' * section.level} {section.title}", style="bold")
        console.print()
        if section.level == 1 and introduction:
            _print_part(console, Prose(introduction, 0), lesson.language, lesson.path.parent)
        for part in section.parts:
            _print_part(console, part, lesson.language, lesson.path.parent)
    lines = [line.rstrip() for line in out.getvalue().replace(BREAK, "").split("\n")]
    return "\n".join(lines).strip("\n") + "\n"


def _print_part(console: Console, part: LessonPart, language: str, folder: Path) -> None:
    if isinstance(part, Prose):
        text = LESSON_LINK.sub(lambda match: match["chapter"], shown_text(part.text))
        text = re.sub(r"\[([^\]]+)\]\([\w-]+\)", r"\1", text)
        console.print(Markdown(BREAKS.sub(BREAK, text), hyperlinks=False))
        console.print()
    elif isinstance(part, Block):
        _print_block(console, part, language)
    else:
        console.print(_picture_line(part, language, folder), soft_wrap=False)
        console.print()


def _picture_line(picture: Picture, language: str, folder: Path) -> str:
    """Return the line shown in place of a picture: its description, and the file of a player."""
    if not picture.is_player:
        return f"[{PICTURE[language]}: {picture.alt}]"
    path = folder / picture.path
    if path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return PLAYER[language].format(alt=picture.alt, path=path.as_posix())


def _print_block(console: Console, block: Block, language: str) -> None:
    """Print the code of a block with a bar before each line, then its output; wrap no lines."""
    output = number_places(block.output.text) if block.output else ""
    if block.kind in SESSIONS:
        _print_lines(console, f"$ {session_command(block)}\n{output}", "| ", "")
    else:
        _print_lines(console, block.code, "| ", "bold")
        if output:
            said = PREDICT[language] if block.predict else OUTPUT[language]
            console.print(said, style="italic")
            _print_lines(console, output, "  ", "")
    console.print()


def _print_lines(console: Console, text: str, before: str, style: str) -> None:
    for line in lines_of(text):
        console.print(f"{before}{line}", style=style or None, soft_wrap=True)
