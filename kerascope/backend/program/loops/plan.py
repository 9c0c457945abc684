"""The plan of a loop: its calls, and where each of its arrays is stored."""

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
from kerascope.backend.program.bound import dummy_array
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

# --- places: in memory that is reused in each step, or in an array of all steps -------------------
#
# A slot whose values of all steps are needed is stored in a *whole*: an array with time as the
# first axis. A step computes its value directly into it. All other slots of a step share a few
# arrays, which the next step overwrites.


WHOLES = (Join, Reshaped)  # ops whose inputs are computed inside their output's memory


class Home(Enum):
    """A kind of memory in which a loop stores the array of a slot."""

    STATIC = "in a fixed array"
    NAMED = "in an array that a line of the text names"
    WHOLE = "in an array of all steps"
    BLOCK = "in memory for several steps, which the next steps reuse"
    STATE = "in the array that the previous step computed"


# Homes with a different array in each step.
MOVING = (Home.WHOLE, Home.STATE, Home.BLOCK)


def kernel_of(step: StepCalls, call: Call) -> Any:
    """Return the kernel of a call in one step, as a text or a function; None if it has none."""
    if call.op.is_view or isinstance(call.op, WHOLES):
        return None
    if call.op.ufunc is not None:
        return call_of(call.op.ufunc, listed(call), "{out}")
    specs = [step.specs[slot] for slot in call.inputs]
    return call.op.kernel(specs, [step.specs[slot] for slot in call.outputs])


def can_be_placed(step: StepCalls, call: Call) -> bool:
    """Return whether a call has a single output and can compute it into any given array."""
    is_single = len(call.outputs) == 1
    return is_single and (isinstance(call.op, WHOLES) or kernel_of(step, call) is not None)


def listed(call: Call) -> str:
    """Return the inputs of a call as a template: "{0}, {1}"."""
    return ", ".join(f"{{{number}}}" for number in range(len(call.inputs)))


class Places:
    """Decides where a loop stores the array of each slot.

    Parameters
    ----------
    step : StepCalls
    wholes : set of int
        Slots whose values of all steps are needed.
    block : int
        The number of steps in a block: calls that depend on no states are computed for a whole
        block at once.
    kept : iterable of int
        Slots that are read at the end of each step.

    Attributes
    ----------
    homes : dict of int to Home
        The kind of memory for each slot.
    arrays : dict of int to array
        The arrays of slots in fixed memory and in blocks.
    inside : dict of int to (int, int)
        For each slot that is computed as a part of another slot: (that slot, index of the part).
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
        """Let elementwise calls compute the parts of joined arrays directly inside these arrays."""
        makers = {slot: call for call in self.step.calls for slot in call.outputs}
        reshaped = {c.inputs[0] for c in self.step.calls if isinstance(c.op, InShape)}
        for call in self.step.calls:
            if not isinstance(call.op, WHOLES):
                continue
            for number, part in enumerate(call.inputs):
                op = makers[part].op if part in makers else None
                # Only these can write into memory that is not contiguous.
                can_be_part = op is not None and (op.ufunc is not None or isinstance(op, Copy))
                if can_be_part and part not in self.wholes.union(reshaped, self.inside):
                    self.inside[part] = (call.outputs[0], number)

    def owner(self, slot: int) -> int:
        """Return the slot whose array contains the array of this slot.

        If its array is not a part of a joined array, return the slot itself.
        """
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
            self.arrays[slot] = call.op.perform(*self.dummy_arrays(call, self.arrays[source]))

    def dummy_arrays(self, call: Call, first: Any) -> list[Any]:
        """Return inputs for a call that makes a view: `first`, then zeros for its other inputs."""
        specs = [self.step.specs[slot] for slot in call.inputs[1:]]
        return [first, *map(dummy_array, specs)]

    # --- memory that is reused
    # ------------------------------------------------------------------------

    def _give(self, slot: int, place: int, call: Call) -> None:
        spec = self._spec_of_array(slot)
        self.homes[slot] = Home.BLOCK if place == GIVEN else Home.STATIC
        # The gaps between the parts of a whole array stay zero.
        is_shared = place != FIXED and not (isinstance(call.op, Join) and call.op.has_gaps)
        free = self._free.get((place, spec), []) if is_shared else []
        self.arrays[slot] = free.pop() if free else room(spec)
        if is_shared:
            self._roots[slot] = {slot}

    def _spec_of_array(self, slot: int) -> Spec:
        """Return shape and dtype of the array in which a slot is stored.

        If the slot is computed for several steps at once, the array has a place for each of them.
        """
        shape, dtype = self.step.specs[slot]
        is_given = self.step.place_of[slot] == GIVEN
        return Spec((self.block, *shape) if is_given else shape, dtype)

    def _last_readers(self) -> dict[int, int]:
        """Return, for each slot, the index of the last call that reads it, or reads a part of it.

        Values that are computed for several steps at once are needed until these steps are done.
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
        """Release memory that no call after the one at `position` reads, even through a view."""
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
    """Return the views of an array at each step; time is its first axis."""
    return list(array) if array.ndim > 1 else [array[t, ...] for t in range(len(array))]


# --- sums over all steps: added in each step, or computed after the loop --------------------------


@dataclass
class Term:
    """How a loop computes a term, which is a result that it adds up over all steps.

    Attributes
    ----------
    spec : Spec
        The shape and dtype of the sum.
    products : list of (int, int)
        Slots a and b of matrices with equal numbers of rows, whose product a.T · b is added.
    reduced : list of (int, tuple of int)
        Slots, each with the axes over which it is summed in addition to time.
    summed : list of int
        Slots whose values are added step by step.
    """

    spec: Spec
    products: list[tuple[int, int]] = field(default_factory=list)
    reduced: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    summed: list[int] = field(default_factory=list)

    @property
    def wholes(self) -> list[int]:
        """The slots that are read after the loop, with their values of all steps."""
        return [*(x for pair in self.products for x in pair), *(x for x, _ in self.reduced)]

    @property
    def read(self) -> list[int]:
        """All slots from which the term is computed, those read after the loop first."""
        return [*self.wholes, *self.summed]

    def text(self, out: str, whole: Callable[[int], str], names: Names) -> Iterator[str]:
        """Yield the lines of text that compute the term after the loop."""
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
    """Return a `Term` for each term of a step: how it is summed over the steps.

    Parameters
    ----------
    step : StepCalls
    first_term : int
        The index of the first term among the results.
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
    """Return the slots a, b if a call computes the matrix product a.T · b, otherwise None."""
    if not isinstance(call.op, Dot):
        return None
    left = makers.get(call.inputs[0])
    if left is None or not isinstance(left.op, Transpose) or left.op.pattern != (1, 0):
        return None
    return left.inputs[0], call.inputs[1]


# --- the plan -------------------------------------------------------------------------------------


BLOCK = 1 << 15  # elements of the largest array of a block of steps


class LoopPlan:
    """The plan of a loop: its calls, results and places.

    Parameters
    ----------
    step : StepCalls
        The calls of one step; rewritten in place.
    is_backwards : bool
        Whether the loop starts with the last step.
    wanted : collection of int, optional
        The results of the loop that are read, in the order of Scan's outputs; by default all.

    Attributes
    ----------
    results : list of int
        The slots of the outputs and new states of a step.
    specs_of_results : list of Spec
        Shapes and dtypes of `results`, then of all terms.
    terms : list of Term
        The terms that are wanted.
    handed : set of int
        New states that are not needed in one array of all steps. Each is computed directly into
        its history, or into memory for the next step.
    places : Places
        Where the array of each slot is stored.
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
        """Return the slots whose calls can compute into any given array."""
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
