"""What each line of a program stands for: its op, its layer, its phase and its memory.

A statement of the text is an op, the loop that updates many weights at once, a new value that is
written into its variable, or what is returned. Together they are the whole call, so the times of
all phases, of all layers and of all ops have one sum.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kerascope.backend.graph import Op, Spec, Variable
from kerascope.backend.program.bound import Line
from kerascope.backend.program.draft import Draft
from kerascope.backend.program.flat import SCOPE, Group
from kerascope.backend.program.instrumented import statements_of
from kerascope.backend.program.kernels import Kind

PHASES = ("forward", "loss", "metrics", "backward", "update", "return")
OPTIMIZER = "optimizer"  # whose ops belong to no layer


@dataclass(frozen=True)
class MeasuredLine:
    """One op, and what it costs in each call.

    Attributes
    ----------
    op : str
        `dot`; or `update` (a weight's share of a loop over many weights), `commit` (a new value is
        written into its variable), `copy`, `return`.
    name : str
        Of what is computed: `dense_1/dot`.
    phase : str
        One of `PHASES`.
    scope, layer : str
        The scope as the op has it, and the layer that it tells of; "" for none.
    seconds : float
    line : int
        Number of the line in the program's text, from 1.
    inputs, outputs : tuple of Spec
        Shapes and types, as far as they are known.
    n_bytes : int
        Of the results.
    memory : str
        Where they lie: "own", "again: dense_1/dot" (where that lay before), "beside its kind" (in
        the flat array of all gradients), "each call" (allocated anew), "view", "in place"; or "".
    definition : Op or None
    """

    op: str
    name: str
    phase: str
    scope: str
    layer: str
    seconds: float
    line: int
    inputs: tuple[Spec, ...] = ()
    outputs: tuple[Spec, ...] = ()
    n_bytes: int = 0
    memory: str = ""
    definition: Op | None = None

    @property
    def traffic(self) -> int:
        """Bytes that are read and written; a view touches none."""
        if self.memory == "view":
            return 0
        return sum(spec.n_bytes for spec in (*self.inputs, *self.outputs))


def layer_of(scope: str) -> str:
    """Return the layer that a scope tells of.

    Examples
    --------
    >>> layer_of("gradients/encoder/dense_1"), layer_of("update/dense_1/kernel")
    ('encoder/dense_1', 'dense_1')
    >>> layer_of("dense_2_loss"), layer_of("dense_1/weight_regularizer")
    ('dense_2_loss', 'dense_1')
    """
    parts = scope.split("/")
    if parts[0] == "update":
        return "/".join(parts[1:-1])
    while parts and parts[0] in ("gradients", "clip"):
        parts.pop(0)
    if len(parts) > 1 and parts[-1] in ("weight_regularizer", "activity_regularizer", "step"):
        parts.pop()
    return "/".join(parts)


def lines_of(draft: Draft, seconds: Sequence[float]) -> Iterator[MeasuredLine]:
    """Yield what each statement of a program stands for, with its time.

    Parameters
    ----------
    draft : Draft
        Of the program.
    seconds : list of float
        Of each statement of its text.
    """
    yield from _Reading(draft).lines(seconds)


class _Reading:
    """Reads the text of a program together with its plan."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.source = draft.source
        self.bound = draft.plan.bound
        self.positions: dict[int, list[int]] = {}  # several where a stack is one line of the text
        for at, number in self.source.line_numbers.items():
            self.positions.setdefault(number, []).append(at)
        self.tensors = {slot: x.name for x, slot in self.bound.schedule.slots.items()}
        known = [*self.bound.facts, *self.tensors, *draft.plan.slot_of.values()]
        names = self.source.names
        self.slots = {names[slot]: slot for slot in known if slot in names}
        self.variables = {slot: v for v, slot in draft.plan.slot_of.items()}
        steps = self.bound.schedule.steps
        self.has_optimizer = any(step.apply.scope.name.startswith(SCOPE) for step in steps)

    def lines(self, seconds: Sequence[float]) -> Iterator[MeasuredLine]:
        """Yield all lines."""
        groups = dict(zip(self.source.group_lines, self.draft.plan.groups, strict=True))
        for statement, time in zip(statements_of(self.source), seconds, strict=True):
            positions = self._positions(statement)
            if positions:
                for position in positions:
                    yield self._of_op(position, time / len(positions))
            elif statement.lineno in groups:
                yield from self._of_group(groups[statement.lineno], statement, time)
            else:
                yield self._of_end(statement, time)

    def _positions(self, statement: ast.stmt) -> list[int]:
        numbers = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        found = [self.positions[number] for number in numbers if number in self.positions]
        return found[0] if found else []

    def _layer(self, scope: str, phase: str) -> str:
        layer = layer_of(scope)
        return OPTIMIZER if not layer and phase == "update" and self.has_optimizer else layer

    # --- ops --------------------------------------------------------------------------------------

    def _of_op(self, position: int, time: float) -> MeasuredLine:
        line = self.bound.lines[position]
        scope = line.step.apply.scope.name
        phase = line.step.phase.word
        outputs = self._specs(line.outputs)
        is_view = self._kind(position) is Kind.VIEW
        return MeasuredLine(
            op=line.op.name,
            name=line.step.apply.name,
            phase=phase,
            scope=scope,
            layer=self._layer(scope, phase),
            seconds=time,
            line=self.source.line_numbers[position],
            inputs=self._specs(line.inputs),
            outputs=outputs,
            n_bytes=0 if is_view else sum(spec.n_bytes for spec in outputs),
            memory=self._memory(position, line),
            definition=line.op,
        )

    def _kind(self, position: int) -> Kind:
        return self.draft.plan.writings[position].kind

    def _specs(self, slots: Sequence[int]) -> tuple[Spec, ...]:
        facts = [self.bound.facts.get(slot) or self.bound.noted.get(slot) for slot in slots]
        return tuple(fact.spec for fact in facts if fact is not None)

    def _memory(self, position: int, line: Line) -> str:
        kind = self._kind(position)
        if kind is not Kind.CALL:
            return "view" if kind is Kind.VIEW else "each call"
        memory = self.draft.memory
        if line.outputs[0] in memory.places:
            return "beside its kind"
        origin = memory.origin.get(line.outputs[0])
        if origin is None:
            return "own"
        return f"again: {self.tensors.get(origin, '?')}"

    # --- the end ----------------------------------------------------------------------------------

    def _of_group(self, group: Group, loop: ast.stmt, time: float) -> Iterator[MeasuredLine]:
        """Yield each weight's share of a loop: by its size, since numbers all cost the same."""
        sizes = [self._specs(part.roles[:1])[0] for part in group.parts]
        total = sum(spec.n_bytes for spec in sizes) or 1
        for part, spec in zip(group.parts, sizes, strict=True):
            scope = part.lines[0].step.apply.scope.name
            written = [self._specs([part.roles[role]])[0] for role in part.targets.values()]
            yield MeasuredLine(
                op="update",
                name=scope,
                phase="update",
                scope=scope,
                layer=self._layer(scope, "update"),
                seconds=time * spec.n_bytes / total,
                line=loop.lineno,
                inputs=self._specs(part.roles),
                outputs=tuple(written),
                memory="in place",
            )

    def _of_end(self, statement: ast.stmt, time: float) -> MeasuredLine:
        """Return what a statement is that no op has: an output, a new value, a copy."""
        words = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
        slots = [self.slots[word] for word in words if word in self.slots]
        if isinstance(statement, ast.Assign) and "outputs" in words:
            specs = self._specs(self.draft.plan.outputs)
            size = sum(spec.n_bytes for spec in specs)
            return MeasuredLine(
                "return", "return", "return", "", "", time, statement.lineno,
                specs, specs, size, "each call",
            )  # fmt: skip
        written = next((self.variables[slot] for slot in slots if slot in self.variables), None)
        if written is not None:
            return self._of_commit(written, statement, time)
        maker = self.bound.makers.get(slots[-1]) if slots else None
        scope = maker.step.apply.scope.name if maker is not None else ""
        specs = self._specs(slots[-1:])
        return MeasuredLine(
            "copy", self.tensors.get(slots[-1], "") if slots else "", "update", scope,
            self._layer(scope, "update"), time, statement.lineno, specs, specs,
        )  # fmt: skip

    def _of_commit(self, variable: Variable, statement: ast.stmt, time: float) -> MeasuredLine:
        scope = f"{SCOPE}{variable.name}"
        spec = Spec(variable.room.shape, variable.room.dtype)
        layer = self._layer(scope, "update")
        return MeasuredLine(
            "commit", variable.name, "update", scope, layer, time, statement.lineno,
            (spec,), (spec,), memory="in place",
        )  # fmt: skip
