"""What a loop has to do and where each of its arrays lies, before it is written down."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from kerascope.backend.arrays import Spec, room
from kerascope.backend.ops.broadcasting import Sum
from kerascope.backend.ops.elementwise import Add
from kerascope.backend.ops.linalg import Dot, product_of_rows
from kerascope.backend.ops.shaping import Transpose
from kerascope.backend.program.bound import stand_in
from kerascope.backend.program.emit import Names, call_of
from kerascope.backend.program.loops.calls import (
    FIXED,
    GIVEN,
    STEP,
    Call,
    Copy,
    InShape,
    Join,
    Reshaped,
    Rewriter,
    StepCalls,
    with_copies,
    with_dense_copies,
    with_reshaped_views,
    without_unused,
)

# --- places: in memory used at every step again, or in one that has all steps ---------------------
#
# A slot whose numbers of all steps are wanted lies in a *whole*: an array with time as first axis.
# What is computed in a step is written straight into its place there. All other slots of a step
# share a few arrays that are overwritten at the next step.


WHOLES = (Join, Reshaped)  # ops whose inputs are computed where their output lies


class Home(Enum):
    """Where the array of a slot is found."""

    STATIC = "always at the same place"
    NAMED = "under the name that a line of the text gives it"
    WHOLE = "in an array with all steps"
    BLOCK = "in memory for some steps at once, used again for the next ones"
    STATE = "where the step before has left it"


# Homes that are elsewhere at each step.
MOVING = (Home.WHOLE, Home.STATE, Home.BLOCK)


def kernel_of(step: StepCalls, call: Call) -> Any:
    """Return the kernel of a call on the arrays of one step: a text, a function or None."""
    if call.op.is_view or isinstance(call.op, WHOLES):
        return None
    if call.op.ufunc is not None:
        return call_of(call.op.ufunc, listed(call), "{out}")
    specs = [step.specs[slot] for slot in call.inputs]
    return call.op.kernel(specs, [step.specs[slot] for slot in call.outputs])


def can_be_placed(step: StepCalls, call: Call) -> bool:
    """Tell whether a call of one output can write where it is told to."""
    is_single = len(call.outputs) == 1
    return is_single and (isinstance(call.op, WHOLES) or kernel_of(step, call) is not None)


def listed(call: Call) -> str:
    """Return the inputs of a call as a template: "{0}, {1}"."""
    return ", ".join(f"{{{number}}}" for number in range(len(call.inputs)))


class Places:
    """The homes of all slots.

    Parameters
    ----------
    step : StepCalls
    wholes : set of int
        Slots whose numbers of all steps are wanted.
    block : int
        How many steps are computed at once before the loop.
    kept : iterable of int
        Slots that are read at the end of each step.

    Attributes
    ----------
    homes : dict of int to Home
    arrays : dict of int to array
        Of the slots that always lie at the same place, and the memory of those in blocks.
    inside : dict of int to (int, int)
        Slots that are computed as a part of another one, and which.
    """

    def __init__(
        self, step: StepCalls, wholes: set[int], block: int, kept: Iterable[int] = ()
    ) -> None:
        self.step = step
        self.kept = set(kept)
        self.wholes = wholes
        self.block = block
        self.homes: dict[int, Home] = dict.fromkeys(step.constants, Home.STATIC)
        self.arrays: dict[int, np.ndarray] = dict(step.constants)
        self.inside: dict[int, tuple[int, int]] = {}
        self._find_parts()
        self._roots: dict[int, set[int]] = {}
        self._free: dict[tuple[int, Spec], list[np.ndarray]] = {}
        for slot in range(len(step.schedule.inputs)):
            home = {FIXED: Home.NAMED, GIVEN: Home.WHOLE, STEP: Home.STATE}
            self.homes[slot] = home[step.place_of[slot]]
        last = self._last_readers()
        for position, call in enumerate(step.calls):
            for slot in call.outputs:
                self._settle(slot, call)
            self._free_after(position, last)

    # --- parts of joined arrays -------------------------------------------------------------------

    def _find_parts(self) -> None:
        """Let parts be computed inside the whole where an elementwise op makes them."""
        makers = {slot: call for call in self.step.calls for slot in call.outputs}
        reshaped = {c.inputs[0] for c in self.step.calls if isinstance(c.op, InShape)}
        for call in self.step.calls:
            if not isinstance(call.op, WHOLES):
                continue
            for number, part in enumerate(call.inputs):
                op = makers[part].op if part in makers else None
                # Only these write into memory that does not lie row by row.
                can_be_part = op is not None and (op.ufunc is not None or isinstance(op, Copy))
                if can_be_part and part not in self.wholes.union(reshaped, self.inside):
                    self.inside[part] = (call.outputs[0], number)

    def owner(self, slot: int) -> int:
        """Return the slot in whose memory this one lies."""
        while slot in self.inside:
            slot = self.inside[slot][0]
        return slot

    # --- homes ------------------------------------------------------------------------------------

    def _settle(self, slot: int, call: Call) -> None:
        if slot in self.homes:
            return
        if slot in self.inside:
            outer, number = self.inside[slot]
            self._settle(outer, self._maker(outer))
            self.homes[slot] = self.homes[outer]
            if self.homes[outer] == Home.STATIC:
                join: Any = self._maker(outer).op
                self.arrays[slot] = join.part(self.arrays[outer], number)
            self._roots[slot] = self._roots.get(outer, set())
            return
        place = self.step.place_of[slot]
        if call.op.is_view:
            self._settle_view(slot, call)
        elif slot in self.wholes:
            self.homes[slot] = Home.WHOLE
        elif place == GIVEN:
            self._give(slot, place, call)
        elif not isinstance(call.op, WHOLES) and kernel_of(self.step, call) is None:
            self.homes[slot] = Home.NAMED
            self._roots[slot] = set().union(*(self._roots.get(x, set()) for x in call.inputs))
        else:
            self._give(slot, place, call)

    def _maker(self, slot: int) -> Call:
        return next(call for call in self.step.calls if slot in call.outputs)

    def _settle_view(self, slot: int, call: Call) -> None:
        source = call.inputs[0]
        home = self.homes[source]
        self.homes[slot] = home
        self._roots[slot] = self._roots.get(source, set())
        if home == Home.STATIC:
            self.arrays[slot] = call.op.perform(*self.stand_ins(call, self.arrays[source]))

    def stand_ins(self, call: Call, first: Any) -> list[Any]:
        """Return the inputs of a view: the first as given, of the others only the shapes."""
        specs = [self.step.specs[slot] for slot in call.inputs[1:]]
        return [first, *map(stand_in, specs)]

    # --- memory that is used again ----------------------------------------------------------------

    def _give(self, slot: int, place: int, call: Call) -> None:
        spec = self._spec_of_array(slot)
        self.homes[slot] = Home.BLOCK if place == GIVEN else Home.STATIC
        # What lies between the parts of a whole is zero once and for all.
        is_shared = place != FIXED and not (isinstance(call.op, Join) and call.op.has_gaps)
        free = self._free.get((place, spec), []) if is_shared else []
        self.arrays[slot] = free.pop() if free else room(spec)
        if is_shared:
            self._roots[slot] = {slot}

    def _spec_of_array(self, slot: int) -> Spec:
        """Return shape and type of the memory of a slot: in blocks, of several steps."""
        shape, dtype = self.step.specs[slot]
        is_given = self.step.place_of[slot] == GIVEN
        return Spec((self.block, *shape) if is_given else shape, dtype)

    def _last_readers(self) -> dict[int, int]:
        """Return for each slot the call, by number, that reads it last; joined parts count too.

        What is computed for some steps at once has to stay until these are done.
        """
        last: dict[int, int] = {}
        place_of = self.step.place_of
        for position, call in enumerate(self.step.calls):
            for slot in (*call.inputs, *call.outputs):
                last[slot] = max(position, last.get(slot, 0))
                last[self.owner(slot)] = last[slot]
                if place_of[slot] == GIVEN and place_of[call.outputs[0]] == STEP:
                    last[slot] = len(self.step.calls)
        for slot in self.kept:
            last[slot] = last[self.owner(slot)] = len(self.step.calls)
        return last

    def _free_after(self, position: int, last: dict[int, int]) -> None:
        """Set memory free that nobody reads after a call, through views neither."""
        until: dict[int, int] = {}
        for slot, roots in self._roots.items():
            for root in roots:
                until[root] = max(until.get(root, 0), last.get(slot, 0))
        for call in self.step.calls[: position + 1]:
            for slot in call.outputs:
                if self._roots.get(slot) == {slot} and until.get(slot) == position:
                    self._roots_gone(slot)

    def _roots_gone(self, slot: int) -> None:
        key = (self.step.place_of[slot], self._spec_of_array(slot))
        self._free.setdefault(key, []).append(self.arrays[slot])
        self._roots[slot] = set()


def sequences_of(array: np.ndarray) -> Sequence[Any]:
    """Return the parts of a whole, one for each step."""
    return list(array) if array.ndim > 1 else [array[t, ...] for t in range(len(array))]


# --- what a loop adds up: at each step, or in one go when all steps are there ---------------------


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

    def text(self, out: str, whole: Callable[[int], str], names: Names) -> Iterator[str]:
        """Yield the lines that compute the sum when all steps are there."""
        is_first = not self.summed
        for a, b in self.products:
            rows, columns = self.spec.shape
            left = f"{whole(a)}.reshape(-1, {rows})"
            right = f"{whole(b)}.reshape(-1, {columns})"
            names.scope["product_of_rows"] = product_of_rows
            text = f"product_of_rows({left}, {right}, {{}})"
            yield from self._added(text, out, is_first, names)
            is_first = False
        for x, axes in self.reduced:
            shifted = (0, *(axis + 1 for axis in axes))
            text = f"np.add.reduce({whole(x)}, {shifted}, None, {{}})"
            yield from self._added(text, out, is_first, names)
            is_first = False

    def _added(self, text: str, out: str, is_first: bool, names: Names) -> Iterator[str]:
        if is_first:
            yield text.format(out)
            return
        own = names.given("addend", room(self.spec))
        yield text.format(own)
        yield f"np.add({out}, {own}, {out})"


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


# --- the plan -------------------------------------------------------------------------------------


BLOCK = 1 << 15  # elements of the largest array of a block of steps


class LoopPlan:
    """The calls of a loop, what it gives, and where everything lies.

    Parameters
    ----------
    step : StepCalls
        Rewritten here.
    is_backwards : bool
    wanted : collection of int, optional
        The results of the loop that somebody reads, in the order of Scan's outputs; by default all.

    Attributes
    ----------
    results : list of int
        Slots of the outputs and new states of a step.
    specs_of_results : list of Spec
        Of these and of the terms.
    terms : list of Term
        Those that are wanted.
    handed : set of int
        New states of which nobody reads all steps in one array: each is computed where the next
        step, or the history, has it.
    places : Places
    """

    def __init__(
        self, step: StepCalls, is_backwards: bool, wanted: Collection[int] | None = None
    ) -> None:
        self.step = step
        self.is_backwards = is_backwards
        first_term = step.layout.outputs + step.layout.states
        n_results = len(step.results) + step.layout.states
        self.wanted: Collection[int] = range(n_results) if wanted is None else wanted
        if step.rewrites:
            Rewriter(step)
        without_unused(step)
        with_dense_copies(step)
        with_reshaped_views(step, self._placeable())
        with_copies(step, self._placeable())
        self.results = step.results[:first_term]
        self.specs_of_results = [step.specs[x] for x in step.results]
        terms = enumerate(terms_of(step, first_term, self._placeable()), first_term)
        self.terms: list[Term] = [
            term for number, term in terms if number + step.layout.states in self.wanted
        ]
        n = step.layout.outputs
        outputs = [x for number, x in enumerate(self.results[:n]) if number in self.wanted]
        self._kept = [*outputs, *self.results[n:]]
        step.results = [*self._kept, *(x for term in self.terms for x in term.read)]
        without_unused(step)
        self.handed = self._handed(set(outputs))
        self.places = self._places()

    def _placeable(self) -> set[int]:
        """Return the slots that can be computed where they are wanted."""
        calls = [call for call in self.step.calls if can_be_placed(self.step, call)]
        return {slot for call in calls for slot in call.outputs}

    def _handed(self, outputs: set[int]) -> set[int]:
        states = self.results[self.step.layout.outputs :]
        read = outputs.union(*(term.wholes for term in self.terms))
        for call in self.step.calls:
            if isinstance(call.op, Join) and call.op.has_gaps:
                read.update(call.outputs)
        return {x for x in states if states.count(x) == 1 and x not in read}

    def _places(self) -> Places:
        step = self.step
        summed = {x for term in self.terms for x in term.summed}
        wholes = {x for x in self._kept if step.place_of[x] != FIXED}
        wholes.update(x for term in self.terms for x in term.wholes)
        for call in reversed(step.calls):
            if call.op.is_view and call.outputs[0] in wholes:
                wholes.update(x for x in call.inputs if step.place_of[x] == GIVEN)
        specs = [step.specs[x] for call in step.calls for x in call.outputs]
        largest = max([int(np.prod(spec.shape)) for spec in specs], default=1)
        return Places(step, wholes, max(1, BLOCK // max(largest, 1)), summed)
