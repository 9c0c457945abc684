"""The exercises of the course in `tutorials/`, and the student's copies of them.

The first part finds the exercises of the course, in the order of the chapters. The second part
manages the student's folder, with the copies and the progress.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kerascope.errors import ConfigError, UnavailableError
from kerascope.import_hook import OWN_ENGINE
from kerascope.learn.verdicts import LANGUAGES, Outcome, Text, Verdict
from kerascope.lessons import tutorials_folder
from kerascope.lessons.lesson import lines_with_ends
from kerascope.registry import did_you_mean

# --- the exercises of the course ------------------------------------------------------------------


_KEYS = {"number"}
_OPTIONAL = {"facts", "part", *LANGUAGES}
SOLUTIONS = ("after an attempt", "always", "never")
COURSE_FILE = "course.toml"


@dataclass(frozen=True)
class Exercise:
    """One exercise of the course.

    Attributes
    ----------
    folder : Path
        The folder of the chapter.
    name : str
        The name of the exercise, unique in the course.
    number : int
        The position of the exercise in the chapter, from 1.
    facts : tuple of str
        The numbers of the facts of the documents (S0 to S4) that the exercise is about, such as
        R38 and C06.
    task : Text
        What to do; the first line is the title.
    hints : tuple of Text
        The hints, from vague to nearly the answer.
    seen : Text
        What the student has learned from the exercise; printed after a PASS.
    part : str
        The name of the part of `my_engine` that the student writes in this exercise (see
        `engine.py`), such as "graph"; "" for other exercises.
    languages : tuple of str
        The languages in which the exercise is written. If there is only one, both texts of each
        `Text` are in this language.
    """

    folder: Path
    name: str
    number: int
    facts: tuple[str, ...]
    task: Text
    hints: tuple[Text, ...]
    seen: Text
    part: str = ""
    languages: tuple[str, ...] = LANGUAGES

    @property
    def chapter(self) -> str:
        """The chapter's number: `05`, or `a` for the appendix."""
        return chapter_number(self.folder.name)

    @property
    def id(self) -> str:
        """Chapter and name, the key of the student's progress: `05/call_twice`."""
        return f"{self.chapter}/{self.name}"

    @property
    def title(self) -> Text:
        """The first line of the task."""
        return Text(*(words.partition("\n")[0].rstrip("。.") for words in self.task))

    @property
    def stub(self) -> Path:
        """The path of the stub, the file that is copied into the student's folder."""
        return self.folder / "exercises" / f"{self.name}.py"

    @property
    def checker(self) -> Path:
        """The path of the checker, a Python file that checks the student's answer."""
        return self.folder / "checks" / f"{self.name}.py"

    @property
    def solution(self) -> Path:
        """The path of the file with the reference solution."""
        return self.folder / "solutions" / f"{self.name}.py"

    @property
    def wrong_answers(self) -> list[Path]:
        """The paths of the wrong answers: files that must get a FAIL, each with its own message."""
        return sorted((self.folder / "wrong").glob(f"{self.name}__*.py"))

    def stub_in(self, language: str) -> str:
        """Return the source of the stub, whose docstring is the task in the given language.

        If the exercise is not written in this language, its docstring is unchanged.
        """
        source = self.stub.read_text(encoding="utf-8")
        if language not in self.languages[1:]:
            return source
        docstring = ast.parse(source).body[0]
        rest = lines_with_ends(source)[docstring.end_lineno :]
        return f'"""{self.task.within(language).rstrip()}\n"""\n{"".join(rest)}'


def chapter_number(folder_name: str) -> str:
    """Return the chapter number in the name of a folder, in lower case.

    Examples
    --------
    >>> chapter_number("05-node"), chapter_number("A-documents")
    ('05', 'a')
    """
    return folder_name.partition("-")[0].lower()


def all_exercises(folder: Path | None = None) -> list[Exercise]:
    """Return all exercises in the order of the course.

    Raises
    ------
    UnavailableError
        The folder of the course does not exist.
    ConfigError
        The files of an exercise are invalid.
    """
    found = (folder or tutorials_folder()).glob("*/exercises/*.toml")
    exercises = [read_exercise(path) for path in sorted(found)]
    return sorted(exercises, key=lambda e: (e.folder.name, e.number, e.name))


def read_exercise(path: Path) -> Exercise:
    """Read one exercise from its TOML file and the docstring of its stub.

    An exercise in one language has only the table [en] or only the table [zh]; the docstring is the
    task. In an exercise in both languages the docstring is English, and [zh] contains the task.

    Raises
    ------
    ConfigError
        A file is missing or cannot be read, a key is missing or unknown, or the number of hints is
        not the same in both languages.
    """
    facts = _read_toml(path)
    languages = tuple(one for one in LANGUAGES if one in facts)
    _check_keys(path, facts, languages)
    exercise = Exercise(
        folder=path.parent.parent,
        name=path.stem,
        number=facts["number"],
        facts=tuple(facts.get("facts", ())),
        task=_text(_tasks(path, facts, languages)),
        hints=tuple(
            _text(dict(zip(languages, hint, strict=True)))
            for hint in zip(*(facts[one]["hints"] for one in languages), strict=True)
        ),
        seen=_text({one: facts[one]["seen"] for one in languages}),
        part=facts.get("part", ""),
        languages=languages,
    )
    for needed in (exercise.checker, exercise.solution):
        if not needed.is_file():
            raise ConfigError(f"{path}: the exercise also needs the file {needed}.")
    return exercise


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path}: cannot be read ({error}).") from None


def _text(words: Mapping[str, str]) -> Text:
    """Return the words of an exercise as a text; a missing language gets those of the other."""
    first = next(iter(words.values()))
    return Text(*(words.get(language, first).strip() for language in LANGUAGES))


def _tasks(path: Path, facts: dict[str, Any], languages: tuple[str, ...]) -> dict[str, str]:
    """Return the task in each language: the docstring of the stub, and the keys `task`."""
    stub = path.with_suffix(".py")
    try:
        docstring = ast.get_docstring(ast.parse(stub.read_bytes()))
    except (SyntaxError, ValueError, OSError) as error:
        raise ConfigError(f"{stub}: cannot be read ({error}).") from None
    if not docstring:
        raise ConfigError(f"{stub}: expected a docstring at its top: the task. There is none.")
    return {languages[0]: docstring} | {one: facts[one]["task"] for one in languages[1:]}


def _check_keys(path: Path, facts: dict[str, Any], languages: tuple[str, ...]) -> None:
    """Raise if a key is missing or unknown, or has a value of the wrong kind."""
    _check_table(f"{path}:", facts, _KEYS, _OPTIONAL)
    if not languages:
        raise ConfigError(f"{path}: expected a table [en], a table [zh], or both; there is none.")
    for language in languages:
        has_task = language in languages[1:]
        needed = {"hints", "seen"} | ({"task"} if has_task else set())
        _check_table(f"{path}: [{language}]", facts[language], needed, set())
    numbers = [len(facts[language]["hints"]) for language in languages]
    if numbers[0] != numbers[-1]:
        raise ConfigError(f"{path}: {numbers[0]} hints in English, {numbers[1]} in Chinese.")


def _check_table(where: str, table: Any, needed: set[str], optional: set[str]) -> None:
    if not isinstance(table, dict):
        raise ConfigError(f"{where} expected a table, got {table!r}.")
    expected = ", ".join(sorted(needed | optional))
    for key in sorted(needed - table.keys()):
        raise ConfigError(f"{where} the key {key!r} is missing. Expected the keys {expected}.")
    for key in sorted(table.keys() - needed - optional):
        raise ConfigError(f"{where} unknown key {key!r}. Expected the keys {expected}.")
    for key, (wanted, is_right) in _VALUES.items():
        if key in table and not is_right(table[key]):
            raise ConfigError(f"{where} {key}: expected {wanted}, got {table[key]!r}.")


def _are_words(values: Any) -> bool:
    """Return whether a value is a list of texts that are not empty."""
    return isinstance(values, list) and all(isinstance(one, str) and one.strip() for one in values)


# What the value of a key must be, and whether a value is right.
_VALUES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "number": ("the exercise's position in its chapter", lambda value: type(value) is int),
    "task": ("a text", lambda value: _are_words([value])),
    "seen": ("a text", lambda value: _are_words([value])),
    "hints": ("a list of one or more texts", lambda value: value != [] and _are_words(value)),
    "facts": ("a list of texts", _are_words),
}


def when_solutions_are_shown(tutorials: Path) -> str:
    """Return the value of `solutions` in `course.toml`, one of `SOLUTIONS`.

    Without this file it is "after an attempt".

    Raises
    ------
    ConfigError
        The file cannot be read, or contains something else.
    """
    path = tutorials / COURSE_FILE
    if not path.is_file():
        return SOLUTIONS[0]
    facts = _read_toml(path)
    _check_table(f"{path}:", facts, {"solutions"}, set())
    if facts["solutions"] not in SOLUTIONS:
        known = ", ".join(f'"{one}"' for one in SOLUTIONS)
        raise ConfigError(f"{path}: solutions: expected {known}, got {facts['solutions']!r}.")
    return str(facts["solutions"])


def find_exercises(exercises: Sequence[Exercise], word: str) -> tuple[list[Exercise], str]:
    """Return the exercises that a word names: by name, id, path, or number of the chapter.

    Returns
    -------
    found : list of Exercise
    hint : str
        A suggestion with the most similar name if no exercise is found, otherwise "".
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
    known = ("", exercise.folder.name, own, *([OWN_ENGINE] if exercise.part else []))
    return folder in known or folder.zfill(2) == own


# --- the student's copies -------------------------------------------------------------------------
# No file is ever overwritten: a stub is copied only if the file does not exist, and `reset` keeps
# the file that it replaces.


FOLDER = "kerascope-exercises"
PROGRESS = ".kerascope-learn.json"
# Written next to the exercises, so that `python exercise.py` runs as `kerascope learn run` does.
KERAS = '''"""Lets `python exercise.py` import kerascope under the name keras."""

from kerascope.compat import keras_imports_for_good

keras_imports_for_good()
import keras
'''
# Written as the package of the engine, and into each folder with a file that imports the engine.
ENGINE_IMPORT = '''"""Lets Python import your own engine; other parts are reference solutions.

`my_engine.parts()` shows which parts are yours.
"""

from pathlib import Path

from kerascope.learn.engine import use_my_engine

use_my_engine(Path(__file__).resolve().parents[1])
'''


@dataclass
class Progress:
    """A student's progress in one exercise.

    Attributes
    ----------
    verdict : str
        The last verdict.
    hints : int
        How many hints were shown.
    written : str
        A hash of the student's file at the time of the verdict.
    """

    verdict: str = Verdict.NOT_ATTEMPTED.value
    hints: int = 0
    written: str = ""


def default_folder(here: Path) -> Path:
    """Return the workbook that contains the folder `here`, or the path for a new one."""
    for folder in (here, *here.parents):
        if (folder / PROGRESS).is_file():
            return Path(os.path.relpath(folder, here))
    return Path(FOLDER)


@dataclass
class Workbook:
    """A student's folder with exercises, and the progress stored in it.

    Parameters
    ----------
    folder : Path
    exercises : list of Exercise
        The exercises of the course.
    """

    folder: Path
    exercises: Sequence[Exercise]
    language: str | None = None
    notice: str = ""
    _progress: dict[str, Progress] = field(default_factory=dict)
    _is_damaged: bool = False  # the stored progress; `save` keeps a copy

    def __post_init__(self) -> None:
        self._load()

    def path_of(self, exercise: Exercise) -> Path:
        """Return the path of the student's file for an exercise."""
        if exercise.part:
            return self.folder / OWN_ENGINE / f"{exercise.part}.py"
        return self.folder / exercise.folder.name / f"{exercise.name}.py"

    def progress(self, exercise: Exercise) -> Progress:
        """Return the student's progress in an exercise; create an empty one at the first call."""
        return self._progress.setdefault(exercise.id, Progress())

    def is_passed(self, exercise: Exercise) -> bool:
        """Return whether the last verdict on an exercise was PASS."""
        return self.progress(exercise).verdict == Verdict.PASS.value

    def is_changed(self, exercise: Exercise) -> bool:
        """Return whether the student's file was changed since its last verdict."""
        known = self.progress(exercise).written
        return bool(known) and known != hash_of_file(self.path_of(exercise))

    def may_see_solution(self, exercise: Exercise) -> bool:
        """Return whether the student may see the reference solution of an exercise now.

        `course.toml` in the tutorials folder decides: always, never, or (by default) after the
        student's answer has been checked, whether it passed or failed.
        """
        when = when_solutions_are_shown(exercise.folder.parent)
        is_tried = self.progress(exercise).verdict != Verdict.NOT_ATTEMPTED.value
        return when == "always" or (when == "after an attempt" and is_tried)

    def next_hint(self, exercise: Exercise) -> int:
        """Count one more hint as shown, and return its number; at the end, that of the last one."""
        progress = self.progress(exercise)
        progress.hints = min(progress.hints + 1, len(exercise.hints))
        self.save()
        return progress.hints

    def next_exercise(self, after: Exercise | None = None) -> Exercise | None:
        """Return the first exercise that is not passed; None if all are passed.

        With `after`, exercises that come after this one are preferred.
        """
        later = self.exercises[self.exercises.index(after) + 1 :] if after else []
        return next((e for e in (*later, *self.exercises) if not self.is_passed(e)), None)

    def remember(self, exercise: Exercise, outcome: Outcome) -> None:
        """Store the verdict on an exercise, with a hash of the student's file."""
        progress = self.progress(exercise)
        progress.verdict = outcome.verdict.value
        progress.written = hash_of_file(self.path_of(exercise))
        self.save()

    # --- files ------------------------------------------------------------------------------------

    def prepare(self, language: str) -> list[Path]:
        """Copy the exercises that the folder lacks; return the new files.

        If the language has changed, untouched stubs are replaced by those in the new language.

        Raises
        ------
        UnavailableError
            The folder cannot be written.
        """
        written = []
        for exercise in self.exercises:
            path = self.path_of(exercise)
            if not path.exists():
                self._write(path, exercise.stub_in(language))
                written.append(path)
            elif self.language not in (None, language) and _is_stub(exercise, path):
                self._write(path, exercise.stub_in(language))
            for name, text in _helpers(exercise).items():
                if not (helper := path.with_name(name)).exists():
                    self._write(helper, text)
        self.language = language
        self.save()
        return written

    def reset(self, exercise: Exercise, language: str) -> Path | None:
        """Restore the stub, and return the path of the backup of the student's file.

        Return None if the student has not changed the file.
        """
        path = self.path_of(exercise)
        is_own = path.exists() and not _is_stub(exercise, path)
        kept = _free_name(path) if is_own else None
        if kept is not None:
            path.rename(kept)
        self._write(path, exercise.stub_in(language))
        self._progress.pop(exercise.id, None)
        self.save()
        return kept

    def save(self) -> None:
        """Write the progress file atomically."""
        data: dict[str, Any] = {
            "schema": "kerascope-learn-progress/1",
            "language": self.language,
            "exercises": {name: asdict(p) for name, p in sorted(self._progress.items())},
        }
        path = self.folder / PROGRESS
        if self._is_damaged and path.is_file():
            os.replace(path, path.with_name(f"{PROGRESS}.damaged"))
        self._is_damaged = False
        self._write(path.with_name(f"{PROGRESS}.part"), json.dumps(data, indent=1) + "\n")
        os.replace(path.with_name(f"{PROGRESS}.part"), path)

    def _load(self) -> None:
        path = self.folder / PROGRESS
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            self.language = data["language"]
            self._progress = {name: Progress(**p) for name, p in data["exercises"].items()}
        except (FileNotFoundError, NotADirectoryError):
            return
        except (ValueError, KeyError, TypeError, AttributeError, OSError):
            self.notice = f"'{path}' could not be read; it is kept as '{PROGRESS}.damaged'"
            self.language, self._progress = None, {}
            self._is_damaged = True

    def _write(self, path: Path, text: str) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UnavailableError(
                f"learn: cannot write '{path}' ({error.strerror}). "
                f"Choose a folder of your own: --folder DIR."
            ) from None


def _helpers(exercise: Exercise) -> dict[str, str]:
    """Return the names and texts of the files to write next to the student's file."""
    helpers = {"keras.py": KERAS}
    if exercise.part:
        helpers["__init__.py"] = ENGINE_IMPORT
    if exercise.part or OWN_ENGINE in exercise.stub.read_text(encoding="utf-8"):
        helpers[f"{OWN_ENGINE}.py"] = ENGINE_IMPORT
    return helpers


def _is_stub(exercise: Exercise, path: Path) -> bool:
    """Return whether a file is equal to the exercise's stub in English or in Chinese."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return text in [exercise.stub_in(language) for language in LANGUAGES]


def _free_name(path: Path) -> Path:
    """Return an unused path for a backup of a file, in the same folder."""
    number = 1
    while (kept := path.with_name(f"{path.name}.bak{number}")).exists():
        number += 1
    return kept


def hash_of_file(path: Path) -> str:
    """Return a hash of a file's content; "" if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError:
        return ""
