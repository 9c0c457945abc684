"""Access to the programs of a function, and notes in the errors of its ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kerascope import display
from kerascope.backend.engines import programs_of_engine
from kerascope.backend.program.draft import Explanation
from kerascope.backend.program.program import Program
from kerascope.backend.provenance import provenance_of
from kerascope.backend.schedule import Step
from kerascope.backend.scopes import COMPILE, LAYER
from kerascope.errors import ArgumentError


class Inspectable:
    """The part of `Function` that shows its programs."""

    name: str
    _programs: Any

    @property
    def programs(self) -> list[Program]:
        """The compiled programs of the function, one for each set of input shapes."""
        return list(self._programs.programs.values())

    @property
    def source(self) -> str:
        """The text of the newest program: Python, with one NumPy call on each line.

        The texts of the loops that it calls follow after it.

        Raises
        ------
        ArgumentError
            No program was made yet. Call the function again with arrays of the same shapes.
        """
        return self._last_program().listing

    def explain(self) -> Any:
        """Return a table of all steps: the program text of each, and the memory of its result.

        For a step without program text, the table shows the reason instead. On the engine JAX,
        return an `XlaExplanation`: the devices, and how often they exchange arrays.

        Raises
        ------
        ArgumentError
            No program was made yet.
        """
        programs = programs_of_engine(self)
        if programs is self._programs:
            return Explanation(self._last_program().draft())
        return programs.explain()

    def profile(self, inputs: Sequence[Any] | None = None, **options: Any) -> Any:
        """Measure where the time of a call is spent; the variables keep their values.

        Parameters
        ----------
        inputs : list of array_like, optional
            As for a call; by default random arrays with the shapes of the newest program.
        **options
            As for `kerascope.profile`.

        Returns
        -------
        Profile
            A table by phase, layer and op, which can be printed and drawn.
        """
        return display.show("profile", self, x=inputs, **options)

    def _last_program(self) -> Program:
        if not self.programs:
            raise ArgumentError(
                f"{self.name}: no program was made yet. It is compiled when inputs of the same "
                f"shapes come for the second time. Call the function twice first."
            )
        return self.programs[-1]


def add_context(error: Exception, step: Step | None, values: list[Any]) -> None:
    """Add notes to an error about the op that failed.

    They contain the shapes of its input arrays, and the user's lines that made the op (or compiled
    its model) and its layer.
    """
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
