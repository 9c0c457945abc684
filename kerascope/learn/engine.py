"""`import my_engine`: the engine that the student writes, one part in each of seven chapters.

A part is an exercise whose TOML file has the key `part`. The student's file for it is the module
`my_engine.PART` in the workbook. `import my_engine.graph` executes the student's file if it has
passed its check and was not changed since, and otherwise the reference solution. So the engine is
complete from the first day. `my_engine.parts()` returns where each part comes from.

The package `my_engine`, which `Workbook.prepare` writes, calls `use_my_engine` when it is imported.
So does a chapter, which may be read without a workbook. The process that checks a part also calls
`check_part`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from kerascope.import_hook import OWN_ENGINE, announce
from kerascope.learn.exercises import Exercise, Workbook, all_exercises, default_folder
from kerascope.learn.running import open_places
from kerascope.lessons.sessions import WORKBOOK_VARIABLE
from kerascope.user_frames import warn

__all__ = ["Part", "use_my_engine"]


@dataclass(frozen=True)
class Part:
    """One part of the engine, and the file that `import my_engine.NAME` executes.

    Attributes
    ----------
    exercise : Exercise
    path : Path
    is_own : bool
        Whether the file is the student's. Otherwise it is the reference solution.
    reason : str
        Why an attempt of the student is not used; otherwise "".
    """

    exercise: Exercise
    path: Path
    is_own: bool
    reason: str = ""

    def __repr__(self) -> str:
        return "yours" if self.is_own else "kerascope's"


def parts_of(workbook: Workbook) -> dict[str, Part]:
    """Return the parts of the engine by name, in the order of the course."""
    return {e.part: _part(workbook, e) for e in workbook.exercises if e.part}


def _part(workbook: Workbook, exercise: Exercise) -> Part:
    path = workbook.path_of(exercise)
    is_changed = workbook.is_changed(exercise)
    if workbook.is_passed(exercise) and not is_changed:
        return Part(exercise, path, is_own=True)
    # The stub of another version of kerascope is another program, with as many open places.
    is_begun = path.is_file() and _open_places(path) < _open_places(exercise.stub)
    reason = "was changed after its last check" if is_changed else "has not passed its check"
    return Part(exercise, exercise.solution, is_own=False, reason=reason if is_begun else "")


def _open_places(path: Path) -> int:
    return len(open_places(path.read_bytes()))


class PartFinder(MetaPathFinder):
    """Finds the modules `my_engine.PART` for the import system.

    Parameters
    ----------
    folder : Path
        The workbook. It is read at the first import of a part.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _parts(self) -> dict[str, Part]:
        return parts_of(Workbook(self._folder, all_exercises()))

    def parts(self) -> dict[str, Part]:
        """Return the parts by name; each shows whether it is yours or kerascope's."""
        return dict(self._parts)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        """Return the module spec of a part, with its file; None for a module that is not a part."""
        package, _, name = fullname.rpartition(".")
        part = self._parts.get(name) if package == OWN_ENGINE else None
        if part is None:
            return None
        if part.reason:
            warn(
                f"{fullname} is kerascope's solution, because your {part.exercise.part}.py "
                f"{part.reason}. Check it: kerascope learn check {part.exercise.name}."
            )
        return spec_from_file_location(fullname, part.path)


def use_my_engine(folder: Path | None = None) -> ModuleType:
    """Return the package `my_engine` and make it importable, also without a workbook.

    Parameters
    ----------
    folder : Path, optional
        The workbook. The default is the workbook around the working folder, or the subfolder
        `kerascope-exercises`. The environment variable KERASCOPE_WORKBOOK replaces the working
        folder in notebooks and in `kerascope learn web`, whose blocks run in a temporary folder.

    Examples
    --------
    >>> use_my_engine().parts()["graph"]
    kerascope's
    """
    for name in [name for name in sys.modules if name.partition(".")[0] == OWN_ENGINE]:
        del sys.modules[name]
    here = Path(os.environ.get(WORKBOOK_VARIABLE, Path.cwd()))
    workbook = here / default_folder(here) if folder is None else folder
    finder = PartFinder(workbook)
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, PartFinder)]
    sys.meta_path.insert(0, finder)
    package = ModuleType(OWN_ENGINE, "The engine of a workbook; see kerascope.learn.engine.")
    package.__path__ = [str(workbook / OWN_ENGINE)]  # for other modules of the student's
    vars(package)["parts"] = finder.parts
    sys.modules[OWN_ENGINE] = package
    announce(OWN_ENGINE)  # a debugger's session records it
    return package


def check_part(name: str, module: ModuleType) -> None:
    """Use a student's file as the part `name`, whatever its last verdict was.

    Call it after `use_my_engine`.

    Parameters
    ----------
    name : str
        The name of the part.
    module : module
        The namespace in which the student's file will run.
    """
    module.__name__ = f"{OWN_ENGINE}.{name}"
    module.__package__ = OWN_ENGINE
    sys.modules[module.__name__] = module
    setattr(sys.modules[OWN_ENGINE], name, module)
