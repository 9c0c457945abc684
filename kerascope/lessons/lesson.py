"""The parts of a lesson: sections with prose, executable blocks and pictures.

`parser.py` creates these immutable objects from a file. Line numbers start at 1, as in editors.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from kerascope.errors import ArgumentError
from kerascope.lessons import shown_number, tutorials_folder

LANGUAGES = ("en", "zh")
# The kinds of blocks. Every block that is shown is also run.
KINDS = ("python", "raises", "pycon", "pdb", "kscope")
SESSIONS = ("pdb", "kscope")


class LessonError(ArgumentError):
    """Raised for an invalid lesson. The message names the file, the line, and what to write."""


@dataclass(frozen=True)
class Output:
    """The stored output of a block, which is the content of an `output` fence.

    Attributes
    ----------
    text : str
        The lines of the output, each with its line end.
    first_line : int
        Line of the file on which the text begins.
    span : tuple of int
        First line of the fence and the line after its last one, counted from 0.
    """

    text: str
    first_line: int
    span: tuple[int, int]


@dataclass(frozen=True)
class Block:
    """A block of a lesson that is executed: code, a doctest or a debugger session.

    Attributes
    ----------
    kind : str
        "python", "raises", "pycon", "pdb" or "kscope".
    id : str
        The name in the chapter, the same in both languages.
    words : tuple of str
        The words after the kind: the error of `raises`, or the script and options of a session.
    code : str
        The code to run: Python, debugger commands, or a doctest with its outputs.
    line : int
        Line of the file on which the code begins.
    span : tuple of int
        First line of the fence and the line after its last one, counted from 0.
    predict : bool
        Whether the reader is asked to predict the output before it is shown.
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
    """A piece of Markdown text between blocks and pictures.

    Attributes
    ----------
    text : str
    line : int
        Line of the file on which the text begins.
    """

    text: str
    line: int


@dataclass(frozen=True)
class Picture:
    """A paragraph that contains only a picture or a player.

    Attributes
    ----------
    alt : str
        A description of the picture, for people who cannot see it.
    path : str
        File in the chapter's folder, such as `out/model.svg`.
    made_by : str
        Id of the block that writes the file.
    line : int
        Line of the lesson's file with the picture.
    is_player : bool
    """

    alt: str
    path: str
    made_by: str
    line: int
    is_player: bool = False


LessonPart = Prose | Block | Picture


class Step(NamedTuple):
    """A block or a picture of a section, with the prose that belongs to it.

    Attributes
    ----------
    before : str
        The Markdown text that leads to the block or the picture; may be empty.
    part : Block or Picture or None
        None for the text at the end of a section.
    answer : str
        The text after a block whose output the reader predicts. It explains this output, so it is
        shown together with it.
    """

    before: str
    part: Block | Picture | None
    answer: str = ""

    @property
    def is_predicted(self) -> bool:
        """Whether the reader is asked to predict the output before it is shown."""
        return isinstance(self.part, Block) and self.part.predict and self.part.output is not None


@dataclass(frozen=True)
class Section:
    """A heading and the content up to the next heading.

    Attributes
    ----------
    id : str
        The name in the chapter, the same in both languages.
    title : str
    level : int
        1 for the chapter's title.
    twin_hash : str
        Hash of the section in the other language when the two were last compared.
    line : int
        Line of the file with the heading.
    parts : tuple of Prose, Block or Picture
    """

    id: str
    title: str
    level: int
    twin_hash: str
    line: int
    parts: tuple[LessonPart, ...]

    @property
    def steps(self) -> list[Step]:
        """The blocks and pictures in order, each with its prose; last, the remaining prose.

        The text between a predicted block and the next block, picture or heading is the answer to
        the prediction. If the next block is predicted as well, the last paragraph before it is its
        question, and not a part of the answer.
        """
        steps: list[Step] = []
        before = ""
        for part in (*self.parts, None):
            if isinstance(part, Prose):
                before = part.text
                continue
            step = Step(before, part)
            if steps and steps[-1].is_predicted:
                answer, question = before, ""
                if step.is_predicted:
                    answer, _, question = before.rstrip().rpartition("\n\n")
                steps[-1] = steps[-1]._replace(answer=answer)
                step = step._replace(before=question)
            steps.append(step)
            before = ""
        return steps


@dataclass(frozen=True)
class Lesson:
    """A chapter in one language, parsed from its Markdown file.

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
        """The title of the first section."""
        return self.sections[0].title

    @property
    def chapter(self) -> str:
        """Name of the chapter's folder, such as `00-tools`."""
        return self.path.parent.name

    @property
    def where(self) -> str:
        """The file as messages name it: its folder and name."""
        return f"{self.chapter}/{self.path.name}"

    @property
    def parts(self) -> list[LessonPart]:
        """All pieces of prose, blocks and pictures of the lesson, in order."""
        return [part for section in self.sections for part in section.parts]

    @property
    def blocks(self) -> list[Block]:
        """The executable blocks of the lesson, in order."""
        return [part for part in self.parts if isinstance(part, Block)]

    @property
    def pictures(self) -> list[Picture]:
        """The pictures and players of the lesson, in order."""
        return [part for part in self.parts if isinstance(part, Picture)]


@dataclass(frozen=True)
class Introduction:
    """What a chapter is about: the content of its file `chapter.toml` (`introduction.py`).

    Attributes
    ----------
    minutes : int
        How long it takes to read the chapter and to run its blocks, without the exercises.
    about, for_whom : dict of str to str
        One or two sentences in each language, in Markdown: what the reader sees and can do
        afterwards, and what the reader should know before.
    explains : tuple of str
        Public names of kerascope that the chapter explains, such as "layers.Dense".
    """

    minutes: int
    about: dict[str, str]
    for_whom: dict[str, str]
    explains: tuple[str, ...] = ()


# In a text for the terminal: the line after a predicted output, to be replaced by the prediction.
SAID = "\x02"
MINUTES = {"en": "About {minutes} minutes.", "zh": "约 {minutes} 分钟。"}
# The line at the end of a chapter: for one exercise, and for several.
EXERCISES = {
    "en": ("This chapter has an exercise:", "This chapter has {count} exercises:"),
    "zh": ("本章有一个练习：", "本章有 {count} 个练习："),
}


@dataclass(frozen=True)
class Chapter:
    """A chapter in all its languages.

    Attributes
    ----------
    folder : Path
    lessons : dict of str to Lesson
        Keyed by language, in the order of `LANGUAGES`.
    introduction : Introduction or None
        None if the chapter's folder has no `chapter.toml`.
    """

    folder: Path
    lessons: dict[str, Lesson] = field(default_factory=dict)
    introduction: Introduction | None = None

    @property
    def name(self) -> str:
        """The name of the chapter's folder, such as `00-tools`."""
        return self.folder.name

    @property
    def number(self) -> str:
        """The number or letter in the folder's name, without leading zeros: `0`, `7`, `A`."""
        return shown_number(self.name)

    def introduction_text(self, language: str, has_for_whom: bool = True) -> str:
        """Return the subject of the chapter, its readers and its length, as Markdown.

        Without a `chapter.toml`, or if it lacks this language, return "".
        """
        introduction = self.introduction
        if introduction is None or language not in introduction.about:
            return ""
        minutes = MINUTES[language].format(minutes=introduction.minutes)
        words = [introduction.about[language]]
        words += [introduction.for_whom[language]] if has_for_whom else []
        return "\n\n".join([*words, f"*{minutes}*"]) + "\n"

    def exercises_line(self, language: str, at: str | None = None) -> tuple[str, str]:
        """Return (sentence about the exercises, command); ("", "") without exercises.

        `at` is appended to the command; by default, a course of your own is named by its folder.
        """
        count = len(list(self.folder.glob("exercises/*.toml")))
        if not count:
            return "", ""
        words = EXERCISES[language][count > 1].format(count=count)
        course = self.folder.parent
        if at is None:
            is_own = course.resolve() != tutorials_folder().resolve()
            at = f" --tutorials {shlex.quote(course.name)}" if is_own else ""
        return words, f"kerascope learn {self.number}{at}"

    @property
    def main(self) -> Lesson:
        """The lesson whose blocks are run. Other languages have the same blocks."""
        return next(iter(self.lessons.values()))


def languages_of(tutorials: Path) -> tuple[str, ...]:
    """Return the languages in which a course is written: those of at least one chapter."""
    return tuple(one for one in LANGUAGES if any(tutorials.glob(f"*/lesson.{one}.md")))


# --- Chinese in lines of a text -------------------------------------------------------------------


# Wide characters. Chinese lines are joined without a space.
WIDE = r"[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uff00-\uffef]"
# Marks where a Chinese line may be broken. Rich breaks lines only at white space. This character
# counts as white space without width, and is removed after wrapping.
BREAK = "\x1f"
BREAKS = re.compile(
    rf"(?<={WIDE})(?<![（《“‘「])(?={WIDE})(?![，。、：；？！）》”’」])"
    r"|(?<=[，。、：；？！])(?=[\w.`])|(?<=[\w`])(?=（)",
    re.ASCII,
)


# --- lines of a text, as Python and Markdown count them in a file ---------------------------------
# `str.splitlines` also ends a line at a form feed, at U+2028 and at eight more characters. These do
# not end a line of a file, so code that counts lines must not use it.


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def lines_with_ends(text: str) -> list[str]:
    r"""Return the lines of a text with their line ends; only `\n`, `\r\n` and `\r` end a line.

    Examples
    --------
    >>> lines_with_ends("a\n\n\x0cb")
    ['a\n', '\n', '\x0cb']
    """
    return _LINE.findall(text)


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text without line ends; only `\n`, `\r\n` and `\r` end a line.

    Examples
    --------
    >>> lines_of("one\u2028still one\r\ntwo\n")
    ['one\u2028still one', 'two']
    """
    return [line.rstrip("\r\n") for line in lines_with_ends(text)]
