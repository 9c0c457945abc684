"""A draft of a program: everything needed to write its text; `function.explain()` shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

from kerascope.backend.program.emit import Kind
from kerascope.backend.program.flat import FlatText, Homes, stored_together
from kerascope.backend.program.memory import Memory, check_plan, places_for_stacks, runs_of
from kerascope.backend.program.plan import Plan
from kerascope.backend.program.source import Source
from kerascope.backend.provenance import short_line
from kerascope.display import renderer


class Draft:
    """Writes the text of a program from its plan.

    A program keeps only the code and the arrays of its draft. `explain` and `profile` make an
    equal draft again.

    Parameters
    ----------
    plan : Plan
    homes : dict
        The flat arrays in which the function's variables are stored; new arrays are added.
    name : str
        The name of the function.

    Attributes
    ----------
    plan : Plan
    memory : Memory
    source : Source
    name : str
    n_bytes : int
        The size of the planned memory.
    """

    def __init__(self, plan: Plan, homes: Homes, name: str) -> None:
        self.plan = plan
        self.name = name
        computed = plan.slots_in_planned_memory
        flats: list[FlatText] = []
        placed: set[int] = set()
        for group in plan.groups:
            flat = FlatText(group, plan.bound, homes, computed, placed)
            placed.update(flat.places)
            flats.append(flat)
        for commit in plan.commits.values():
            if commit.variable.is_lent:
                stored_together(homes, [commit.variable])  # all programs use this place
        places = {slot: v.room for v, slot in plan.slot_of.items()}
        for flat in flats:
            places.update(flat.places)
        kept = _slots_read_at_the_end(plan, flats)
        stacked = places_for_stacks(plan, places, kept)
        places.update(stacked)
        self.memory = Memory(plan.bound, plan.writings, kept, places)
        runs = runs_of(plan, self.memory)
        check_plan(plan, self.memory, runs, kept)
        self.source = Source(plan, self.memory, flats, runs, name)
        apart = {id(array): array.nbytes for array in stacked.values()}  # shared places count once
        self.n_bytes = self.memory.n_bytes + self.source.n_bytes + sum(apart.values())


def _slots_read_at_the_end(plan: Plan, flats: Sequence[FlatText]) -> list[int]:
    """Return the slots that are read after the last line.

    They are those of outputs, of new values that are copied at the end of a call, of arrays that
    are copied into flat arrays, of scalars that updates of groups read, and of conditions for
    writing new values.
    """
    return [
        *plan.outputs,
        *(commit.new_slot for commit in plan.commits.values()),
        *(slot for flat in flats for _, slot in flat.copies),
        *plan.scalars_of_groups,
        *plan.conditions_at_the_end,
    ]


# --- the table of `function.explain()` ------------------------------------------------------------


COLUMNS = ("line", "step", "result", "written as", "memory", "made at")


class Row(NamedTuple):
    """One step in the table of an explanation.

    Attributes
    ----------
    line : int or None
        The line number in the source, from 1; None if the step is not in the source.
    step : str
        The op's call in the graph: "multiply(x, y) -> dense_1/multiply".
    result : str
        Dtype and shape of the array.
    written_as : str
        The text in the source, or the rule that removed the step.
    memory : str
        The memory of the result: its own, that of an earlier array, or a view.
    made_at : str
        The user's line that made the op or its layer, such as "train.py:11".
    """

    line: int | None
    step: str
    result: str
    written_as: str
    memory: str
    made_at: str = ""


class Explanation:
    """A table of all steps of a program, shown when printed, in a terminal and in a notebook.

    Attributes
    ----------
    name : str
        The name of the function.
    shapes : list of tuple of int
        The input shapes for which the program was made.
    rows : list of Row
        One for each step, in the order of the schedule.
    n_bytes : int
        The size of the planned memory.
    """

    def __init__(self, draft: Draft) -> None:
        bound = draft.plan.bound
        self.name = draft.name
        n_inputs = len(bound.schedule.inputs)
        self.shapes = [bound.facts[slot].spec.shape for slot in range(n_inputs)]
        self.n_bytes = draft.n_bytes
        known = {row_of[0]: row_of[1] for row_of in _rows(draft)}
        self.rows: list[Row] = [known[id(step)] for step in bound.schedule.steps]

    @property
    def title(self) -> str:
        """The heading of the explanation's table, with the numbers of steps and lines."""
        written = sum(row.line is not None for row in self.rows)
        return (
            f"{self.name}{self.shapes}: {written} of {len(self.rows)} steps are written, "
            f"{self.n_bytes:,} bytes planned"
        )

    def __repr__(self) -> str:
        return f"<Explanation of {self.title}>"

    def __str__(self) -> str:
        rows = [COLUMNS, *(tuple(map(_cell, row)) for row in self.rows)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([self.title, *lines])

    def __rich__(self) -> Any:
        return renderer("explanation", str)(self)

    def _repr_html_(self) -> str:
        def line(tag: str, cells: Sequence[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(line("td", tuple(map(_cell, row))) for row in self.rows)
        return f"<p>{escape(self.title)}</p><table>{line('th', COLUMNS)}{body}</table>"


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _rows(draft: Draft) -> Iterator[tuple[int, Row]]:
    plan, text = draft.plan, draft.source.text.splitlines()
    bound = plan.bound
    for position, (line, writing) in enumerate(zip(bound.lines, plan.writings, strict=True)):
        slot = line.outputs[0]
        number = draft.source.line_numbers.get(position)
        if writing.kind is Kind.CALL:
            memory = _place(draft, slot)
        elif number is None:
            memory = "a view, made once"
        else:
            memory = writing.kind.value
        written = text[number - 1].strip() if number is not None else writing.kind.value
        facts = (number, repr(line.step), _result(draft, slot), written, memory)
        yield id(line.step), Row(*facts, short_line(line.step.apply))
    for step, rule in bound.removed:
        result = _result(draft, step.outputs[0])
        made_at = short_line(step.apply)
        yield id(step), Row(None, repr(step), result, f"({rule})", "", made_at)
    for number, group in zip(draft.source.group_lines, plan.groups, strict=True):
        weights = f"with {len(group.parts)} weights, in blocks"
        for part in group.parts:
            for line in part.lines:
                result = _result(draft, line.outputs[0])
                facts = (number, repr(line.step), result, weights, "one flat array")
                yield id(line.step), Row(*facts, short_line(line.step.apply))


def _place(draft: Draft, slot: int) -> str:
    before = draft.memory.origin.get(slot)
    if slot in draft.memory.places:
        return "together with others of its kind"
    return "its own" if before is None else f"that of {draft.source.names[before]}"


def _result(draft: Draft, slot: int) -> str:
    fact = draft.plan.bound.recorded.get(slot)
    if fact is None:
        return ""
    short = re.sub(r"^(f|i|u|b)\w*?(\d*)$", r"\1\2", fact.spec.dtype.name)
    return f"{short}{list(fact.spec.shape)}".replace(" ", "")
