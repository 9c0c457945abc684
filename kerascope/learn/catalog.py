"""The exercises of the course: found in `tutorials/`, in the order of the chapters."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kerascope.errors import ConfigError
from kerascope.learn.texts import LANGUAGES, Text
from kerascope.lessons.lines import lines_with_ends
from kerascope.lessons.places import tutorials_folder
from kerascope.registry import did_you_mean

_KEYS = {"number", "facts", "en", "zh"}


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Attributes
    ----------
    folder : Path
        That of its chapter.
    name : str
        Unique in the course.
    number : int
        Its place in the chapter, from 1.
    facts : tuple of str
        The R and C numbers that it is about.
    task : Text
        What is to be done; the first line is the title.
    hints : tuple of Text
        From a nudge to nearly the answer.
    seen : Text
        What the student has shown by solving it.
    """

    folder: Path
    name: str
    number: int
    facts: tuple[str, ...]
    task: Text
    hints: tuple[Text, ...]
    seen: Text

    @property
    def chapter(self) -> str:
        """The chapter's number: `05`, or `a` for the appendix."""
        return chapter_number(self.folder.name)

    @property
    def id(self) -> str:
        """What progress is keyed by: `05/call_twice`."""
        return f"{self.chapter}/{self.name}"

    @property
    def title(self) -> Text:
        """The first line of the task."""
        return Text(*(words.partition("\n")[0].rstrip("。.") for words in self.task))

    @property
    def stub(self) -> Path:
        """What the student gets."""
        return self.folder / "exercises" / f"{self.name}.py"

    @property
    def checker(self) -> Path:
        """What looks at the student's file."""
        return self.folder / "checks" / f"{self.name}.py"

    @property
    def solution(self) -> Path:
        """One way to solve it."""
        return self.folder / "solutions" / f"{self.name}.py"

    @property
    def wrong_answers(self) -> list[Path]:
        """Files that must fail, each with its own message."""
        return sorted((self.folder / "wrong").glob(f"{self.name}__*.py"))

    def stub_in(self, language: str) -> str:
        """Return the stub with its docstring, the task, in one language."""
        source = self.stub.read_text(encoding="utf-8")
        if language == "en":
            return source
        docstring = ast.parse(source).body[0]
        rest = lines_with_ends(source)[docstring.end_lineno :]
        return f'"""{self.task.within(language).rstrip()}\n"""\n{"".join(rest)}'


def chapter_number(folder_name: str) -> str:
    """Return the number of a chapter's folder.

    Examples
    --------
    >>> chapter_number("05-node"), chapter_number("A-documents")
    ('05', 'a')
    """
    return folder_name.partition("-")[0].lower()


def all_exercises(folder: Path | None = None) -> list[Exercise]:
    """Return the exercises in the order of the course.

    Raises
    ------
    UnavailableError
        The folder of the course is not there.
    ConfigError
        An exercise is not written as it must be.
    """
    found = (folder or tutorials_folder()).glob("*/exercises/*.toml")
    exercises = [read_exercise(path) for path in sorted(found)]
    return sorted(exercises, key=lambda e: (e.folder.name, e.number, e.name))


def read_exercise(path: Path) -> Exercise:
    """Read one exercise from its TOML file and the stub beside it.

    Raises
    ------
    ConfigError
        Something that must be there is not.
    """
    where = f"exercise '{path.parent.parent.name}/{path.stem}'"
    try:
        facts = tomllib.loads(path.read_text(encoding="utf-8"))
        stub = ast.parse(path.with_suffix(".py").read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, SyntaxError, OSError) as error:
        raise ConfigError(f"{where}: cannot be read ({error}).") from None
    _check_keys(where, facts)
    tasks = {"en": ast.get_docstring(stub) or "", "zh": facts["zh"]["task"].strip()}
    if not all(tasks.values()):
        raise ConfigError(f"{where}: has no task; expected a docstring in the stub, [zh] task.")
    hints = zip(facts["en"]["hints"], facts["zh"]["hints"], strict=True)
    return Exercise(
        folder=path.parent.parent,
        name=path.stem,
        number=facts["number"],
        facts=tuple(facts["facts"]),
        task=Text(**tasks),
        hints=tuple(Text(en.strip(), zh.strip()) for en, zh in hints),
        seen=Text(facts["en"]["seen"].strip(), facts["zh"]["seen"].strip()),
    )


def _check_keys(where: str, facts: dict) -> None:
    if facts.keys() != _KEYS:
        raise ConfigError(f"{where}: keys {sorted(facts)}; expected {sorted(_KEYS)}.")
    for language in LANGUAGES:
        expected = {"hints", "seen"} | ({"task"} if language == "zh" else set())
        if facts[language].keys() != expected:
            raise ConfigError(
                f"{where}: [{language}] holds {sorted(facts[language])}; "
                f"expected {sorted(expected)}."
            )
    numbers = [len(facts[language]["hints"]) for language in LANGUAGES]
    if numbers[0] != numbers[1]:
        raise ConfigError(f"{where}: {numbers[0]} hints in English, {numbers[1]} in Chinese.")


def find_exercises(exercises: Sequence[Exercise], word: str) -> tuple[list[Exercise], str]:
    """Return what a student means by a word: a name, an id, a path, or a chapter's number.

    Returns
    -------
    found : list of Exercise
    hint : str
        If there is none, the nearest name.
    """
    path = Path(word.replace("\\", "/"))
    by_name = [e for e in exercises if word == e.name or _is_path_of(e, path)]
    if by_name:
        return by_name, ""
    number = word.zfill(2) if word.isdigit() else word.lower().rstrip("/")
    in_chapter = [e for e in exercises if number in (e.chapter, e.folder.name)]
    if in_chapter:
        return in_chapter, ""
    return [], did_you_mean(path.stem, [e.name for e in exercises])


def _is_path_of(exercise: Exercise, path: Path) -> bool:
    if path.stem != exercise.name or path.suffix not in (".py", ""):
        return False
    folder = path.parent.name.lower()
    own = exercise.chapter
    return folder in ("", exercise.folder.name, own) or folder.zfill(2) == own
