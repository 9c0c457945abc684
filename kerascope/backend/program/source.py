"""The source text of a program: a Python function with one NumPy call on each line."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kerascope.backend.arrays import Spec, room
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.broadcasting import Stretch
from kerascope.backend.program.bound import Bound, Line
from kerascope.backend.program.commit import fill
from kerascope.backend.program.emit import Kind, Literals, Names, Writing, is_better_full
from kerascope.backend.program.flat import FlatText
from kerascope.backend.program.memory import Memory, Run
from kerascope.backend.program.plan import Commit, Plan
from kerascope.backend.schedule import Guards, Phase, phase_of_scope

INDENT = "    "


def given(value: Any) -> Any:
    """Return a copy of an output array for the caller; a scalar if the array has no axes."""
    array = np.asarray(value)
    return array.copy() if array.ndim else array[()]


class Source:
    """Writes the text of a program.

    Parameters
    ----------
    plan : Plan
    memory : Memory
    flats : list of FlatText
        One for each group of weights.
    runs : dict of int to Run
        Lines that are written as one call, by the position of the first.
    name : str
        The name of the function.

    Attributes
    ----------
    text : str
    scope : dict of str to object
        The objects that the names in the text refer to.
    line_numbers : dict of int to int
        The line of the text (from 1) for each line of the plan.
    group_lines : list of int
        For each group of weights, the line of the text with the loop that updates it.
    n_bytes : int
        The size of the memory for new values that wait to be written.
    """

    def __init__(
        self,
        plan: Plan,
        memory: Memory,
        flats: Sequence[FlatText],
        runs: Mapping[int, Run],
        name: str,
    ) -> None:
        self.plan = plan
        self.memory = memory
        self.bound: Bound = plan.bound
        self.names = Names(given=given, fill=fill)
        self.scope = self.names.scope
        self.n_bytes = 0
        self._literals = Literals(self.names)
        self.line_numbers: dict[int, int] = {}
        self.group_lines: list[int] = []
        self._tensors: dict[int, Tensor] = {
            slot: tensor for tensor, slot in self.bound.schedule.slots.items()
        }
        self.name = self.names.free(name)
        inputs = [self._name(slot) for slot in range(len(self.bound.schedule.inputs))]
        self._lines = [f"def {self.name}({', '.join(inputs)}):"]
        self._heading = ""
        for position, line in enumerate(self.bound.lines):
            if position in runs:
                self._write_run(position, runs[position])
            elif position not in self.line_numbers:
                self._write_line(position, line, plan.writings[position])
        self._write_end(flats)
        self.text = "\n".join(self._lines) + "\n"

    def positions_of(self, statement: ast.stmt) -> list[int]:
        """Return the positions of the lines of the plan that a statement computes."""
        numbers = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        return [at for number in numbers for at in self._positions.get(number, ())]

    @cached_property
    def _positions(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for at, number in self.line_numbers.items():
            found.setdefault(number, []).append(at)
        return found

    # --- names ------------------------------------------------------------------------------------

    def _name(self, slot: int) -> str:
        if slot not in self.names:
            array = self.memory.arrays.get(slot)
            if slot in self.bound.constants and array is not None:
                self.names.set(slot, self._literals.name_of(array))
            else:
                self.names.add(slot, self._wish(slot))
            if array is not None:
                self.scope[self.names[slot]] = array
        return self.names[slot]

    def _wish(self, slot: int) -> str:
        """Return the preferred name of a slot: the name of its tensor."""
        tensor, maker = self._tensors.get(slot), self.bound.makers.get(slot)
        if tensor is not None:
            return _short(tensor.name)
        if maker is not None and isinstance(maker.op, Stretch):
            return f"{self._wish(maker.inputs[0])}_stretched"
        return "x"

    def _guard(self, guards: Guards) -> str:
        several = [
            " and ".join(f"{'' if wanted else 'not '}{self._name(slot)}" for slot, wanted in own)
            for own in guards
        ]
        return several[0] if len(several) == 1 else " or ".join(f"({text})" for text in several)

    # --- lines ------------------------------------------------------------------------------------

    def _write_line(self, position: int, line: Line, writing: Writing) -> None:
        if writing.kind is Kind.VIEW and line.outputs[0] in self.memory.arrays:
            return  # the view was made in advance
        self._write_heading(line)
        out = ", ".join(self._name(slot) for slot in line.outputs)
        inputs = [self._operand(line, slot) for slot in line.inputs]
        text = self._call(line, writing, inputs, out if len(line.outputs) == 1 else f"({out})")
        if writing.kind is not Kind.CALL:
            text = f"{out} = {text}"
        self.line_numbers[position] = len(self._lines) + (2 if line.guards else 1)
        if not line.guards:
            self._lines.append(INDENT + text)
            return
        self._lines += [f"{INDENT}if {self._guard(line.guards)}:", 2 * INDENT + text]
        if writing.kind is not Kind.CALL:
            nothing = " = ".join(self._name(slot) for slot in line.outputs)
            self._lines += [f"{INDENT}else:", f"{2 * INDENT}{nothing} = None"]

    def _operand(self, line: Line, slot: int) -> str:
        if not self.bound.has(slot):
            return "None"
        array, fact = self.bound.constants.get(slot), self.bound.facts.get(line.outputs[0])
        if array is None or array.ndim or fact is None:
            return self._name(slot)
        is_worth_it = is_better_full(line.op.ufunc, math.prod(fact.spec.shape))
        return (
            self._literals.name_of_full(array, fact.spec.shape) if is_worth_it else self._name(slot)
        )

    def _call(self, line: Line, writing: Writing, inputs: Sequence[str], out: str) -> str:
        words: dict[str, Any] = {"out": out}
        fact = self.bound.facts.get(line.outputs[0])
        if fact is not None:
            words |= self._literals.words(fact.spec.dtype, fact.spec.shape)
        if writing.kernel is not None:
            words["kernel"] = self.names.given(line.op.name, writing.kernel)
        return writing.text.format(*inputs, **words)

    def _write_run(self, position: int, run: Run) -> None:
        """Write the lines of a stack as one call."""
        first = run.lines[0]
        self._write_heading(first, f", and {len(run.lines) - 1} more at once")
        names = []
        for slot, array in zip((*first.inputs, *first.outputs), run.arrays, strict=True):
            names.append(self._name(slot) if array is None else self._name_of_all(slot, array))
        for at in range(position, position + len(run.lines)):
            self.line_numbers[at] = len(self._lines) + 1
        self._lines.append(INDENT + self._call(first, run.writing, names[:-1], names[-1]))

    def _name_of_all(self, slot: int, array: np.ndarray) -> str:
        return self.names.given(f"all_{self._wish(slot)}", array)

    def _write_heading(self, line: Line, addition: str = "") -> None:
        """Add a comment that names the layer of the next ops, if the layer or phase changes."""
        outer, _, inner = line.step.apply.scope.name.partition("/")
        phase = phase_of_scope(outer)
        is_outer = phase < Phase.BACKWARD
        heading = outer if is_outer else f"{phase.word}: {inner.split('/')[0] or 'loss'}"
        # Names may come from files: remove characters that could end the comment.
        heading = re.sub(r"[^\w /.:-]", "_", heading) + addition
        if heading != self._heading:
            self._heading = heading
            self._lines.append(f"{INDENT}# {heading}" if heading else "")

    def _write_end(self, flats: Sequence[FlatText]) -> None:
        outputs = [self._output(slot) for slot in self.plan.outputs]
        self._lines += [f"{INDENT}# outputs", f"{INDENT}outputs = [{', '.join(outputs)}]"]
        if self.plan.written:
            self._write_new_values(flats)
        else:
            self._lines.append(f"{INDENT}return outputs")

    def _write_new_values(self, flats: Sequence[FlatText]) -> None:
        """Write the lines that prepare new values, and the function `new_values` that writes them.

        All arrays that `new_values` reads have a fixed place, and do not change while it writes.
        """
        targets = [self._name(slot) for slot in self.plan.commits]
        copies = [text for flat in flats for text in flat.copy(self._name, self.names)]
        copies += self._keep_numbers()
        values = []
        for commit in self.plan.commits.values():
            value, text = self._keep_new_value(commit)
            values.append(value)
            copies += text
        self._lines.append(f"{INDENT}# new values")
        self._lines += [INDENT + text for text in copies]
        self._lines += [f"{INDENT}write()", f"{INDENT}return outputs", "", ""]
        self._lines += [
            "def new_values():",
            f"{INDENT}# `write` makes these calls, without interruption",
        ]
        for flat in flats:
            texts = list(flat.write(self._name, self.names))
            start = next(i for i, text in enumerate(texts) if text.startswith("for "))
            self.group_lines.append(len(self._lines) + start + 1)
            self._lines += [INDENT + text for text in texts]
        self._lines += [
            f"{INDENT}np.copyto({target}, {value})"
            for target, value in zip(targets, values, strict=True)
        ]

    def _output(self, slot: int) -> str:
        name, array = self._name(slot), self.memory.arrays.get(slot)
        if array is None:
            return f"given({name})"
        return f"{name}.copy()" if array.ndim else f"{name}[()]"

    def _keep_numbers(self) -> Iterator[str]:
        """Yield the text that copies scalars which updates of groups read, such as the rate `lr`.

        Only scalars are copied that could change while variables are written.
        """
        for slot in dict.fromkeys(self.plan.scalars_of_groups):
            if slot not in self.memory.arrays or self.plan.is_at_risk(slot):
                value, spec = self._name(slot), self.bound.facts[slot].spec
                self.names.set(slot, self._room(f"old_{value}", spec))
                yield f"np.copyto({self._name(slot)}, {value})"

    def _keep_new_value(self, commit: Commit) -> tuple[str, list[str]]:
        """Return the name of the array that holds a new value until it is written.

        Return also the lines of text that copy the new value to this array. There are none if the
        value was computed directly into the array.
        """
        value = self._name(commit.new_slot)
        if not (commit.is_at_risk or commit.guards):
            return value, []
        v = commit.variable
        kept = self._room(f"new_{value}", Spec(v.room.shape, v.room.dtype))
        if commit.guards:
            own = self._name(self.plan.slot_of[v])
            value = f"{value} if {self._guard(commit.guards)} else {own}"
        is_sure = commit.new_slot in self.bound.facts
        return kept, [f"{'np.copyto' if is_sure else 'fill'}({kept}, {value})"]

    def _room(self, wanted: str, spec: Spec) -> str:
        """Return the name of a new, uninitialized array of this shape and dtype."""
        self.n_bytes += spec.n_bytes
        return self.names.given(wanted, room(spec))


def _short(name: str) -> str:
    """Return a tensor's name, with "d_" instead of "gradients/" for a gradient, as in dL/dx.

    Examples
    --------
    >>> _short("gradients/dense_1/dot"), _short("dense_1/dot")
    ('d_dense_1/dot', 'dense_1/dot')
    """
    rest = name.removeprefix("gradients/")
    return name if rest == name else f"d_{rest}"
