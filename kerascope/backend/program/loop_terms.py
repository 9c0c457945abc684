"""What a loop adds up over its steps: at each step, or in one go when all steps are there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from kerascope.backend.graph import Spec
from kerascope.backend.ops.broadcasting import Sum
from kerascope.backend.ops.elementwise import Add
from kerascope.backend.ops.linalg import Dot
from kerascope.backend.ops.long_products import product_of_rows
from kerascope.backend.ops.shaping import Transpose
from kerascope.backend.program.loop_calls import FIXED, STEP, Call, StepCalls
from kerascope.backend.program.loop_places import room
from kerascope.backend.program.names import Names


@dataclass
class Term:
    """One sum over all steps.

    Attributes
    ----------
    spec : Spec
    products : list of (int, int)
        Slots a and b of matrices with equally many rows: the sum of all a.T · b.
    reduced : list of (int, tuple of int)
        Slots, and over which axes besides time they are summed.
    summed : list of int
        Slots that are added up step by step.
    """

    spec: Spec
    products: list[tuple[int, int]] = field(default_factory=list)
    reduced: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    summed: list[int] = field(default_factory=list)

    @property
    def wholes(self) -> list[int]:
        """The slots whose numbers of all steps are read."""
        return [*(x for pair in self.products for x in pair), *(x for x, _ in self.reduced)]

    @property
    def read(self) -> list[int]:
        """All slots that are read."""
        return [*self.wholes, *self.summed]

    def text(
        self, out: str, whole: Callable[[int], str], scope: dict[str, Any], names: Names
    ) -> Iterator[str]:
        """Yield the lines that compute the sum when all steps are there."""
        is_first = not self.summed
        for a, b in self.products:
            rows, columns = self.spec.shape
            left = f"{whole(a)}.reshape(-1, {rows})"
            right = f"{whole(b)}.reshape(-1, {columns})"
            scope["product_of_rows"] = product_of_rows
            text = f"product_of_rows({left}, {right}, {{}})"
            yield from self._added(text, out, is_first, scope, names)
            is_first = False
        for x, axes in self.reduced:
            shifted = (0, *(axis + 1 for axis in axes))
            text = f"np.add.reduce({whole(x)}, {shifted}, None, {{}})"
            yield from self._added(text, out, is_first, scope, names)
            is_first = False

    def _added(
        self, text: str, out: str, is_first: bool, scope: dict[str, Any], names: Names
    ) -> Iterator[str]:
        if is_first:
            yield text.format(out)
            return
        own = names.free("addend")
        scope[own] = room(self.spec)
        yield text.format(own)
        yield f"np.add({out}, {own}, {out})"


def sum_rows(x: np.ndarray, out: np.ndarray) -> None:
    """Sum an array over all axes but the last; see `is_sum_of_rows` for why it is done so."""
    rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    np.dot(_ones(len(rows), x.dtype), rows, out)


@lru_cache(maxsize=8)
def _ones(count: int, dtype: np.dtype) -> np.ndarray:
    return np.ones(count, dtype)


def terms_of(step: StepCalls, first_term: int, placeable: set[int]) -> list[Term]:
    """Return how each term of a step is summed.

    Parameters
    ----------
    step : StepCalls
    first_term : int
        Its number among the results.
    placeable : set of int
        Slots that can be computed into an array of all steps.
    """
    makers = {slot: call for call in step.calls for slot in call.outputs}
    states = range(step.layout.sequences, step.layout.sequences + step.layout.states)

    def can_be_whole(slot: int) -> bool:
        place = step.place_of[slot]
        return slot in placeable if place == STEP else place != FIXED

    def sort(slot: int, term: Term) -> None:
        call = makers.get(slot)
        if not step.rewrites or call is None or step.place_of[slot] != STEP or slot in states:
            term.summed.append(slot)
        elif isinstance(call.op, Add) and all(step.specs[x] == term.spec for x in call.inputs):
            for x in call.inputs:
                sort(x, term)
        elif (pair := _product(call, makers)) and all(map(can_be_whole, pair)):
            term.products.append(pair)
        elif isinstance(call.op, Sum) and not call.op.keepdims and can_be_whole(call.inputs[0]):
            term.reduced.append((call.inputs[0], call.op.axes))
        else:
            term.summed.append(slot)

    terms = []
    for slot in step.results[first_term:]:
        terms.append(Term(step.specs[slot]))
        sort(slot, terms[-1])
    return terms


def _product(call: Call, makers: dict[int, Call]) -> tuple[int, int] | None:
    """Return a and b of a product a.T · b of matrices."""
    if not isinstance(call.op, Dot):
        return None
    left = makers.get(call.inputs[0])
    if left is None or not isinstance(left.op, Transpose) or left.op.pattern != (1, 0):
        return None
    return left.inputs[0], call.inputs[1]
