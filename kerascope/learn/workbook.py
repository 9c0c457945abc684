"""The student's own folder: copies of the exercises, and how far the student has come.

Nothing that stands in it is ever written over: a file is copied only where there is none, `reset`
keeps what it replaces.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kerascope.errors import UnavailableError
from kerascope.learn.catalog import Exercise
from kerascope.learn.texts import LANGUAGES
from kerascope.learn.verdicts import Outcome, Verdict

FOLDER = "kerascope-exercises"
PROGRESS = ".kerascope-learn.json"


@dataclass
class Progress:
    """What is remembered of one exercise.

    Attributes
    ----------
    verdict : str
        The last one.
    hints : int
        How many were shown.
    written : str
        A hash of the file that the verdict was about.
    """

    verdict: str = Verdict.NOT_ATTEMPTED.value
    hints: int = 0
    written: str = ""


def default_folder(here: Path) -> Path:
    """Return the workbook that a student stands in, or the one below where they stand."""
    for folder in (here, *here.parents):
        if (folder / PROGRESS).is_file():
            return Path(os.path.relpath(folder, here))
    return Path(FOLDER)


@dataclass
class Workbook:
    """A student's folder.

    Parameters
    ----------
    folder : Path
    exercises : list of Exercise
        Those of the course.
    """

    folder: Path
    exercises: Sequence[Exercise]
    language: str | None = None
    notice: str = ""
    _progress: dict[str, Progress] = field(default_factory=dict)
    _is_damaged: bool = False  # what was remembered; `save` keeps it aside

    def __post_init__(self) -> None:
        self._load()

    def path_of(self, exercise: Exercise) -> Path:
        """Return where the student's file lies."""
        return self.folder / exercise.folder.name / f"{exercise.name}.py"

    def progress(self, exercise: Exercise) -> Progress:
        """Return what is remembered of an exercise."""
        return self._progress.setdefault(exercise.id, Progress())

    def is_passed(self, exercise: Exercise) -> bool:
        """Tell whether its last verdict was PASS."""
        return self.progress(exercise).verdict == Verdict.PASS.value

    def is_changed(self, exercise: Exercise) -> bool:
        """Tell whether the file is another than the one that its verdict was about."""
        known = self.progress(exercise).written
        return bool(known) and known != _hash(self.path_of(exercise))

    def next_exercise(self) -> Exercise | None:
        """Return the first one that has not been passed."""
        return next((e for e in self.exercises if not self.is_passed(e)), None)

    def remember(self, exercise: Exercise, outcome: Outcome) -> None:
        """Write down a verdict."""
        progress = self.progress(exercise)
        progress.verdict = outcome.verdict.value
        progress.written = _hash(self.path_of(exercise))
        self.save()

    # --- files ------------------------------------------------------------------------------------

    def prepare(self, language: str) -> list[Path]:
        """Copy every exercise that is not there yet; return what was added.

        Where the language has changed, a file that is exactly as it was given is given anew.

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
        self.language = language
        self.save()
        return written

    def reset(self, exercise: Exercise, language: str) -> Path | None:
        """Put the stub back; return where the student's work was kept, None if there was none."""
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
        """Write the progress; a reader never sees half of it."""
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


def _is_stub(exercise: Exercise, path: Path) -> bool:
    """Tell whether a file is, letter by letter, what the student was given."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return text in [exercise.stub_in(language) for language in LANGUAGES]


def _free_name(path: Path) -> Path:
    """Return a name beside a file that no other file has."""
    number = 1
    while (kept := path.with_name(f"{path.name}.bak{number}")).exists():
        number += 1
    return kept


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError:
        return ""
