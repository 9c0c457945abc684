"""Repeated blocks of a summary, folded: equal runs of rows that follow each other stand there once.

Two rows are equal if all that the table says of them is equal, but for names and depths; a source
counts by how many rows of the same level it stands before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kerascope.engine.costs import Cost
from kerascope.engine.summary_rows import SummaryRow

LONGEST_BLOCK = 200  # rows; a longer block is not looked for


class _Run(NamedTuple):
    """`copies` equal blocks of `length` rows, one behind the other."""

    start: int
    length: int
    copies: int

    @property
    def end(self) -> int:
        return self.start + self.length * self.copies

    @property
    def rows_saved(self) -> int:
        return self.length * (self.copies - 1) - 1  # the heading is one row more


def folded(rows: Sequence[SummaryRow]) -> list[SummaryRow]:
    """Return the rows with every run of equal blocks as a heading and the rows of one block.

    The heading names the first and the last, and carries the sums over all copies; its `is_again`
    says that they are calls of the same layers. The rows of the block stand one level deeper.
    """
    marks = _marks(rows)
    result: list[SummaryRow] = []
    place = 0
    while place < len(rows):
        run = _best_run(marks, rows, place)
        if run is None:
            result.append(rows[place])
            place += 1
            continue
        result.extend(rows[place : run.start])
        result.append(_heading(rows, run))
        block = rows[run.start : run.start + run.length]
        result.extend(replace(row, level=row.level + 1) for row in block)
        place = run.end
    return result


def _marks(rows: Sequence[SummaryRow]) -> list[int]:
    """Return a number for each row: the same for equal rows."""
    numbers: dict[Any, int] = {}
    places: dict[str, int] = {}
    rows_of_level: Counter[int] = Counter()
    marks = []
    for row in rows:
        rows_of_level[row.level] += 1
        place = rows_of_level[row.level]
        sources = tuple(place - places[x] if x in places else x for x in row.connected_to)
        plain = replace(row, layer="", name="", depth=None, connected_to=(), output_shape=None)
        facts = (plain, str(row.output_shape), sources)
        marks.append(numbers.setdefault(facts, len(numbers)))
        places[row.layer] = place
    return marks


def _best_run(marks: list[int], rows: Sequence[SummaryRow], place: int) -> _Run | None:
    """Return the run that begins here, or a few rows on, and saves most rows."""
    best: _Run | None = None
    for length in range(1, min(LONGEST_BLOCK, (len(marks) - place) // 2) + 1):
        end = place
        while end + length < len(marks) and marks[end] == marks[end + length]:
            end += 1
        copies, left = divmod(end - place, length)
        run = _Run(place, length, copies + 1)
        if copies and run.rows_saved > max(0, best.rows_saved if best else 0):
            best = _turned(run, rows, left)
    return best


def _turned(run: _Run, rows: Sequence[SummaryRow], left: int) -> _Run:
    """Return the run that begins where a block does, if `left` rows leave a choice.

    A block begins at an outer row, and its names have most in common.
    """

    def merit(start: int) -> tuple[int, int]:
        block = rows[start : start + run.length]
        names = [row.layer for row in block if row.level == block[0].level]
        return -rows[start].level, len(_common_beginning(names))

    starts = range(run.start, run.start + left + 1)
    return run._replace(start=max(starts, key=merit))


def _heading(rows: Sequence[SummaryRow], run: _Run) -> SummaryRow:
    every = rows[run.start : run.end]
    outer = [row for row in every if row.level == every[0].level]
    block = len(outer) // run.copies
    names = _name_of_block(outer[:block]), _name_of_block(outer[-block:])
    if not all(names):
        names = outer[0].layer, outer[-1].layer
    return SummaryRow(
        layer=" … ".join(names),
        class_name="",
        depth=None,
        output_shape=None,
        parameters=sum(row.parameters for row in outer if not row.is_again),
        connected_to=(),
        trainable=all(row.trainable for row in outer),
        level=every[0].level,
        is_again=all(row.name == every[place % run.length].name for place, row in enumerate(every)),
        multiply_adds=_sum_of_costs(outer),
        weight_bytes=sum(row.weight_bytes for row in outer if not row.is_again),
        activation_bytes=_sum_of_bytes(outer),
        copies=run.copies,
    )


def _common_beginning(names: Sequence[str]) -> str:
    first, last = min(names), max(names)  # what these have in common, all between them have
    same = (a == b for a, b in zip(first, last, strict=False))
    return first[: next((place for place, equal in enumerate(same) if not equal), len(first))]


def _name_of_block(rows: Sequence[SummaryRow]) -> str:
    """Return what the names of a block have in common, up to the end of a word, and a star.

    "" if they have nothing in common, or there is only one.
    """
    common = _common_beginning([row.layer for row in rows])
    end = max(common.rfind(sign) for sign in "_/-.@") + 1
    return f"{common[:end]}*" if end and len(rows) > 1 else ""


def _sum_of_costs(rows: Sequence[SummaryRow]) -> Cost | None:
    known = [row.multiply_adds for row in rows if row.multiply_adds is not None]
    if len(known) < len(rows):
        return None
    return Cost(sum(cost.fixed for cost in known), sum(cost.per_step for cost in known))


def _sum_of_bytes(rows: Sequence[SummaryRow]) -> int | None:
    known = [row.activation_bytes for row in rows if row.activation_bytes is not None]
    return sum(known) if len(known) == len(rows) else None
