"""What a function shows of its programs, and what an error says of the op that failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kerascope import edge
from kerascope.backend.program.draft import Explanation
from kerascope.backend.program.program import Program
from kerascope.backend.provenance import provenance_of
from kerascope.backend.schedule import Step
from kerascope.backend.scopes import COMPILE, LAYER
from kerascope.errors import ArgumentError


class Inspectable:
    """What a function shows of its programs."""

    name: str
    _programs: Any

    @property
    def programs(self) -> list[Program]:
        """The NumPy code that this function became: one program for each set of input shapes."""
        return list(self._programs.programs.values())

    @property
    def source(self) -> str:
        """The text of the program that was made last: Python, with one NumPy call on each line.

        Below it stand the loops that it calls.

        Raises
        ------
        ArgumentError
            There is none yet: it is written when arrays of the same shapes come again.
        """
        return self._last_program().listing

    def explain(self) -> Explanation:
        """Return a table of all steps: how each is written, and where its result lies.

        A step that is not written has the reason in its place.

        Raises
        ------
        ArgumentError
            There is no program yet.
        """
        return Explanation(self._last_program().draft())

    def profile(self, inputs: Sequence[Any] | None = None, **options: Any) -> Any:
        """Measure where the time of a call goes; the variables keep their values.

        Parameters
        ----------
        inputs : list of array_like, optional
            As for a call; by default made up, with the shapes of the last program.
        **options
            As for `kerascope.profile`.

        Returns
        -------
        Profile
            A table by phase, layer and op, which prints itself, and can be drawn.
        """
        return edge.show("profile", self, x=inputs, **options)

    def _last_program(self) -> Program:
        if not self.programs:
            raise ArgumentError(
                f"{self.name}: no program is written yet. That is done for the shapes of the "
                f"inputs when they come for the second time: call the function twice first."
            )
        return self.programs[-1]


def add_context(error: Exception, step: Step | None, values: list[Any]) -> None:
    """Say in the traceback which op failed, on what, and which line made its layer."""
    if step is None:
        return
    shapes = [getattr(values[slot], "shape", None) for slot in step.inputs]
    error.add_note(
        f"while computing {step.apply.name!r} = {step.apply!r} on arrays of shapes {shapes}"
    )
    found = provenance_of(step.apply)
    if found is not None and found.kind != LAYER:
        of = f"the op {found.gradient_of!r}, whose gradient it is," if found.gradient_of else "it"
        what = "its model was compiled" if found.kind == COMPILE else f"{of} was made"
        file, line, function, *_ = found.line
        error.add_note(f"{what} at {file}, line {line}, in {function}")
    if step.apply.scope.made_at is not None:
        path, line = step.apply.scope.made_at
        error.add_note(f"its layer was made at {path}, line {line}")
