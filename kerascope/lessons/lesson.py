"""What a lesson is made of: sections of prose, executable blocks, pictures.

`parser.py` makes these of a file; nothing here changes afterwards. Lines are counted from 1, as
editors do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from kerascope.errors import ArgumentError

LANGUAGES = ("en", "zh")
# What a block can be. There is no kind that is shown without being run.
KINDS = ("python", "raises", "pycon", "pdb", "kscope")
SESSIONS = ("pdb", "kscope")


class LessonError(ArgumentError):
    """A lesson cannot be read. The message names the file and the line, and what to write."""


@dataclass(frozen=True)
class Output:
    """The stored output of a block: an `output` fence.

    Attributes
    ----------
    text : str
        Its lines, each with its end.
    first_line : int
        Line of the file on which the text begins.
    span : tuple of int
        First line of the fence and the line behind its last one, counted from 0.
    """

    text: str
    first_line: int
    span: tuple[int, int]


@dataclass(frozen=True)
class Block:
    """An executable block.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    id : str
        Its name in the chapter, the same in both languages.
    words : tuple of str
        What follows the kind: the error of `raises`, the script and options of `pdb`, `kscope`.
    code : str
        What is run: Python, or commands, or a doctest with its outputs.
    line : int
        Line of the file on which the code begins.
    span : tuple of int
        First line of the fence and the line behind its last one, counted from 0.
    predict : bool
        Whether the reader should say what comes out before it is shown.
    output : Output or None
    """

    kind: str
    id: str
    words: tuple[str, ...]
    code: str
    line: int
    span: tuple[int, int]
    predict: bool = False
    output: Output | None = None


@dataclass(frozen=True)
class Prose:
    """Markdown between blocks.

    Attributes
    ----------
    text : str
    line : int
        Line of the file on which it begins.
    """

    text: str
    line: int


@dataclass(frozen=True)
class Picture:
    """A paragraph that is a picture, or a player.

    Attributes
    ----------
    alt : str
        What it shows, for those who cannot see it.
    path : str
        File below the chapter's folder, as `out/model.svg`.
    made_by : str
        Id of the block that writes the file.
    line : int
    is_player : bool
    """

    alt: str
    path: str
    made_by: str
    line: int
    is_player: bool = False


Part = Prose | Block | Picture


@dataclass(frozen=True)
class Section:
    """A heading and what follows it, to the next heading.

    Attributes
    ----------
    id : str
        Its name in the chapter, the same in both languages.
    title : str
    level : int
        1 for the chapter's title.
    twin_hash : str
        Hash of the section in the other language as it was when this one was last held beside it.
    line : int
    parts : tuple of Prose, Block or Picture
    """

    id: str
    title: str
    level: int
    twin_hash: str
    line: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Lesson:
    """One chapter in one language.

    Attributes
    ----------
    path : Path
    language : str
    source : str
        The text of the file.
    sections : tuple of Section
    """

    path: Path
    language: str
    source: str
    sections: tuple[Section, ...]

    @property
    def title(self) -> str:
        """The first heading."""
        return self.sections[0].title

    @property
    def chapter(self) -> str:
        """Name of the chapter's folder, such as `00-tools`."""
        return self.path.parent.name

    @property
    def where(self) -> str:
        """What messages call the file: its last two names."""
        return f"{self.chapter}/{self.path.name}"

    @property
    def parts(self) -> list[Part]:
        """All parts of all sections, in order."""
        return [part for section in self.sections for part in section.parts]

    @property
    def blocks(self) -> list[Block]:
        """The executable blocks, in order."""
        return [part for part in self.parts if isinstance(part, Block)]

    @property
    def pictures(self) -> list[Picture]:
        """The pictures and players, in order."""
        return [part for part in self.parts if isinstance(part, Picture)]


# What stands at the end of a chapter: for one exercise, and for more.
EXERCISES = {
    "en": ("This chapter has an exercise:", "This chapter has {count} exercises:"),
    "zh": ("本章有一个练习：", "本章有 {count} 个练习："),
}


@dataclass(frozen=True)
class Chapter:
    """A chapter in all the languages that it is written in.

    Attributes
    ----------
    folder : Path
    lessons : dict of str to Lesson
        Keyed by language, in the order of `LANGUAGES`.
    """

    folder: Path
    lessons: dict[str, Lesson] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the folder, such as `00-tools`."""
        return self.folder.name

    @property
    def number(self) -> str:
        """What stands before the hyphen, without leading zeros: `0`, `7`, `A`."""
        return self.name.partition("-")[0].lstrip("0") or "0"

    def exercises_line(self, language: str) -> tuple[str, str]:
        """Return what is said of its exercises, and the command that shows them; "" without any."""
        count = len(list(self.folder.glob("exercises/*.toml")))
        if not count:
            return "", ""
        words = EXERCISES[language][count > 1].format(count=count)
        return words, f"kerascope learn {self.number}"

    @property
    def main(self) -> Lesson:
        """The lesson whose blocks are run: the others hold the same ones."""
        return next(iter(self.lessons.values()))


# --- lines of a text, as Python and Markdown count them in a file ---------------------------------
# `str.splitlines` ends a line at a form feed, at U+2028 and at eight more signs. In a file they are
# signs like any other, so that whatever counts lines must not use it.


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def lines_with_ends(text: str) -> list[str]:
    r"""Return the lines of a text, each with what ends it.

    Examples
    --------
    >>> lines_with_ends("a\n\n\x0cb")
    ['a\n', '\n', '\x0cb']
    """
    return _LINE.findall(text)


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text.

    Examples
    --------
    >>> lines_of("one\u2028still one\r\ntwo\n")
    ['one\u2028still one', 'two']
    """
    return [line.rstrip("\r\n") for line in lines_with_ends(text)]
