"""The compiled program of a loop: NumPy code for the op Scan.

The interpreter in `run.py` repeats the schedule of one step, and every op makes a new array. Here
the step is compiled, as the schedule of a function is, with all memory planned. The program first
computes what is the same in each step. The loop then goes through blocks of steps: it computes some
calls for all steps of a block at once, and the others step by step. The remaining calls follow
after the loop. Blocks are short, so that their arrays stay in the cache.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from kerascope.backend.arrays import Spec, room
from kerascope.backend.atomic import Exclusive
from kerascope.backend.ops.linalg import Dot
from kerascope.backend.program.alarms import Alarms, current_alarms
from kerascope.backend.program.checks import own_failure
from kerascope.backend.program.emit import TAKEN, Literals, Names, hide, is_better_full, show
from kerascope.backend.program.loops.calls import (
    FIXED,
    GIVEN,
    STEP,
    Call,
    Join,
    Layout,
    Reshaped,
    StepCalls,
    can_be_compiled,
    with_time,
)
from kerascope.backend.program.loops.plan import (
    MOVING,
    Home,
    LoopPlan,
    kernel_of,
    sequences_of,
)
from kerascope.backend.schedule import Schedule

# --- the text: a Python function with one NumPy call on each line ---------------------------------


INDENT = "    "


class LoopText:
    """Writes the text of a loop.

    Parameters
    ----------
    plan : LoopPlan

    Attributes
    ----------
    source : str
        The text of the loop.
    scope : dict of str to object
        The objects that the names in the text refer to.
    in_blocks, in_steps : list of int
        Slots in the text of a block whose arrays differ from block to block, and slots in the text
        of a step whose arrays differ from step to step.
    blockwise : list of int
        Slots that are computed for a whole block of steps.
    has_blocks, has_steps : bool
        Whether the loop has calls for blocks, and for single steps.
    fixed : list of int
        The inputs that are the same in each step.
    outs : dict of int to str
        The names of the results, by index.
    whole_names : dict of int to str
        The names of the arrays with the values of all steps, by slot. Negative keys are for initial
        states.
    """

    def __init__(self, plan: LoopPlan) -> None:
        self.step: StepCalls = plan.step
        self.is_backwards = plan.is_backwards
        self.wanted = plan.wanted
        self.results = plan.results
        self.terms = plan.terms
        self.handed = plan.handed
        self.places = plan.places
        taken = (*TAKEN, "in_rows", "product_of_rows", "loop", "blocks", "steps")
        self.names = Names(taken, in_rows=in_rows)
        self.scope = self.names.scope
        self._literals = Literals(self.names)
        self._tensors = {slot: tensor for tensor, slot in self.step.schedule.slots.items()}
        self.whole_names: dict[int, str] = {}
        self.source = self._written()

    # --- names ------------------------------------------------------------------------------------

    def _name(self, slot: int) -> str:
        if slot not in self.names:
            tensor = self._tensors.get(slot)
            self.names.add(slot, tensor.name if tensor is not None else "x")
            if self.places.homes[slot] == Home.STATIC:
                self.scope[self.names[slot]] = self.places.arrays[slot]
        return self.names[slot]

    def _whole(self, slot: int) -> str:
        if slot not in self.whole_names:
            self.whole_names[slot] = self.names.free(f"all_{self._name(slot)}")
        return self.whole_names[slot]

    # --- text -------------------------------------------------------------------------------------

    def _written(self) -> str:
        step = self.step
        self.fixed = [x for x in range(len(step.schedule.inputs)) if step.place_of[x] == FIXED]
        before = list(self._before())
        self.blockwise = [c.outputs[0] for c in step.calls if step.place_of[c.outputs[0]] == GIVEN]
        given = [*range(step.layout.sequences), *self.blockwise]
        read = {x for c in step.calls if step.place_of[c.outputs[0]] == GIVEN for x in c.inputs}
        self.in_blocks = [x for x in given if x in read or x in self.blockwise]
        blocks = list(self._calls(GIVEN))
        body = list(self._calls(STEP))
        for number, term in enumerate(self.terms):
            total = self._total(number) if term.summed else ""
            body += [f"np.add({total}, {self._name(x)}, {total})" for x in term.summed]
        self._name_wholes()
        self.in_steps = self._loop_variables()
        self.outs = {number: self.names.free(f"out_{number}") for number in sorted(self.wanted)}
        text: list[str] = []
        self.has_blocks, self.has_steps = bool(blocks), bool(body)
        lines = _loop([self._name(x) for x in self.in_steps], "steps", body) if body else []
        if blocks:
            variables = [*map(self._name, self.in_blocks), *(["steps"] if body else [])]
            lines = _loop(variables, "blocks", [*blocks, *lines])
        text += [INDENT + line for line in [*before, *self._first_totals(), *lines]]
        text += [INDENT + line for line in self._ending()]
        words = ["blocks" if blocks else "steps", *self.outs.values()]
        words += map(self._name, self.fixed)
        words += self.whole_names.values()
        return "\n".join([f"def loop({', '.join(words)}):", *text]) + "\n"

    def _before(self) -> Iterator[str]:
        yield from self._calls(FIXED)
        for call in self.step.calls:
            slot = call.outputs[0]
            has_gaps = isinstance(call.op, Join) and call.op.has_gaps
            if has_gaps and self.places.homes[slot] == Home.WHOLE:
                yield f"{self._whole(slot)}.fill(0)"
        if not self.step.rewrites:
            return
        turned: set[int] = set()
        for call in self.step.calls:
            if not isinstance(call.op, Dot) or self.step.place_of[call.outputs[0]] != STEP:
                continue
            for x in call.inputs:
                is_fixed = self.places.homes[x] == Home.NAMED and self.step.place_of[x] == FIXED
                if is_fixed and x not in turned:
                    turned.add(x)
                    own = self.names.given(f"{self._name(x)}_room", room(self.step.specs[x]))
                    yield f"{self._name(x)} = in_rows({self._name(x)}, {own})"

    def _calls(self, place: int) -> Iterator[str]:
        for call in self.step.calls:
            if self.step.place_of[call.outputs[0]] == place:
                yield from self._call(call, place)

    def _call(self, call: Call, place: int) -> Iterator[str]:
        homes, step = self.places.homes, self.step
        ins = [self._name(x) for x in call.inputs]
        outs = [self._name(x) for x in call.outputs]
        out = outs[0] if len(outs) == 1 else f"({', '.join(outs)})"
        home = homes[call.outputs[0]]
        if isinstance(call.op, Join):
            for number, part in enumerate(call.inputs):
                if self.places.inside.get(part) != (call.outputs[0], number):
                    yield f"np.copyto({out}[{_written(call.op.index(number))}], {ins[number]})"
            return
        if isinstance(call.op, Reshaped) or (call.op.is_view and home != Home.NAMED):
            return
        kernel = kernel_of(step, call)
        if place == GIVEN and isinstance(call.op, Dot):
            inner, width = step.specs[call.inputs[1]].shape
            left, right = f"{ins[0]}.reshape(-1, {inner})", ins[1]
            yield f"np.dot({left}, {right}, {out}.reshape(-1, {width}))"
        elif isinstance(kernel, str):
            shape, dtype = step.specs[call.outputs[0]]
            words = self._literals.words(dtype, shape if place == STEP else ())
            yield kernel.format(*self._full(call, place, ins), out=out, **words)
        else:
            word = self.names.given(call.op.name, call.op.perform if kernel is None else kernel)
            arguments = ", ".join(ins)
            written = f"{out} = {word}({arguments})"
            yield written if kernel is None else f"{word}({out}, {arguments})"

    def _full(self, call: Call, place: int, ins: list[str]) -> list[str]:
        """Return the names of a call's operands.

        The operands of maximum and minimum are faster as arrays. So a constant scalar is replaced
        by an array filled with it.
        """
        shape, dtype = self.step.specs[call.outputs[0]]
        if place != STEP or not is_better_full(call.op.ufunc, prod(shape)):
            return ins
        names = []
        for name, slot in zip(ins, call.inputs, strict=True):
            x = self.step.constants.get(slot)
            if x is not None and not x.shape and x.dtype == dtype:
                name = self._literals.name_of_full(x, shape)
            names.append(name)
        return names

    def _loop_variables(self) -> list[int]:
        """Return the slots that the text of a step uses, if their arrays differ between steps."""
        found = []
        for call in self.step.calls:
            if self.step.place_of[call.outputs[0]] == STEP:
                found += [*call.inputs, *call.outputs]
        found += [x for term in self.terms for x in term.summed]
        return [x for x in dict.fromkeys(found) if self.places.homes[x] in MOVING]

    # --- after the loop ---------------------------------------------------------------------------

    def _total(self, number: int) -> str:
        return self.names.add(-1 - number, "total")

    def _outs_of_terms(self) -> list[str]:
        first = len(self.results) + self.step.layout.states
        return [name for number, name in self.outs.items() if number >= first]

    def _first_totals(self) -> Iterator[str]:
        for number, (term, out) in enumerate(zip(self.terms, self._outs_of_terms(), strict=True)):
            if term.summed:
                yield f"{self._total(number)} = {out}"
                yield f"{self._total(number)}.fill(-0.0)"

    def _name_wholes(self) -> None:
        for term in self.terms:
            for x in term.wholes:
                self._whole(x)
        for number, x in enumerate(self.results):
            is_state = number >= self.step.layout.outputs
            is_wanted = x not in self.handed if is_state else number in self.wanted
            if is_wanted and self.step.place_of[x] != FIXED:
                self._whole(x)

    def _ending(self) -> Iterator[str]:
        step, layout = self.step, self.step.layout
        first, last = ("-1", "0") if self.is_backwards else ("0", "-1")
        before, after = (":-1", "1:") if self.is_backwards else ("1:", ":-1")
        seen: set[int] = set()
        for number, slot in enumerate(self.results[: layout.outputs]):
            if number not in self.wanted:
                continue
            if step.place_of[slot] == FIXED:
                yield f"np.copyto({self.outs[number]}, {self._name(slot)})"
            elif slot in seen or step.place_of[slot] == GIVEN:
                yield f"np.copyto({self.outs[number]}, {self._whole(slot)})"
            seen.add(slot)
        for k, slot in enumerate(self.results[layout.outputs :]):
            history = self.outs.get(layout.outputs + k)
            end = self.outs.get(layout.outputs + layout.states + k)
            if history is not None:
                yield f"np.copyto({history}[{first}, ...], {self._start_name(k)})"
            if slot in self.handed:
                continue
            whole = self._whole(slot)
            if history is not None:
                yield f"np.copyto({history}[{before}], {whole}[{after}])"
            if end is not None:
                yield f"np.copyto({end}, {whole}[{last}])"
        for term, out in zip(self.terms, self._outs_of_terms(), strict=True):
            yield from term.text(out, self._whole, self.names)

    def _start_name(self, k: int) -> str:
        """Return the name of the initial value of state number `k`."""
        return self.whole_names.setdefault(-1 - k, self.names.free(f"first_state_{k}"))


def in_rows(x: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return `x` if it is contiguous, otherwise copy it into `own` and return `own`."""
    if x.flags.c_contiguous:
        return x
    np.copyto(own, x)
    return own


def _written(index: tuple[Any, ...]) -> str:
    """Return the text of an index without brackets, such as "..., 2:5"."""
    words = [
        "..." if i is ... else f"{i.start or ''}:{i.stop or ''}" if isinstance(i, slice) else str(i)
        for i in index
    ]
    return ", ".join(words)


def _loop(variables: list[str], words: str, body: list[str]) -> list[str]:
    """Return the text of a `for` loop with this body: `for variables in words:`."""
    names = ", ".join(variables)
    head = f"for {names}{',' if len(variables) == 1 else ''} in {words}:"
    return [head, *(INDENT + line for line in body)]


# --- the views that a loop iterates over: one tuple for each step or block ------------------------


class LoopViews:
    """Makes the arguments of a loop's code, and owns the arrays with the values of all steps.

    Only the arrays of the loop's results belong to the caller.

    Parameters
    ----------
    text : LoopText
    """

    def __init__(self, text: LoopText) -> None:
        self.text = text
        self._rooms: dict[int, np.ndarray] = {}
        self._spare: dict[int, list[np.ndarray]] = {}
        self._n_steps = -1

    def __call__(self, outs: list[np.ndarray], ins: list[np.ndarray]) -> tuple[Any, ...]:
        """Return the arguments of the loop's code for these output and input arrays."""
        layout = self.text.step.layout
        n_steps = len(ins[0])
        if n_steps != self._n_steps:
            self._rooms, self._n_steps = {}, n_steps
        wholes: dict[int, np.ndarray] = {x: ins[x] for x in range(layout.sequences)}
        own_outs = dict(zip(self.text.outs, outs, strict=True))
        for number, slot in enumerate(self.text.results[: layout.outputs]):
            if self.text.step.place_of[slot] == STEP and number in own_outs:
                wholes.setdefault(slot, own_outs[number])
        each: dict[int, Sequence[Any]] = {}
        self._fill_wholes(wholes, n_steps)
        for slot, array in wholes.items():
            each[slot] = sequences_of(array)
        for k, slot in enumerate(self.text.results[layout.outputs :]):
            start = ins[layout.sequences + k]
            if slot in self.text.handed:
                each[slot] = self._handed(k, own_outs, n_steps)
            after = each[slot]
            each[layout.sequences + k] = (
                [*after[1:], start] if self.text.is_backwards else [start, *after[:-1]]
            )
        self._fill_steps(each)
        steps: list[Any] = list(zip(*[each[x] for x in self.text.in_steps], strict=True))
        order = -1 if self.text.is_backwards else 1
        loop = self._blocks(wholes, n_steps, steps) if self.text.has_blocks else steps
        firsts = {-1 - k: ins[layout.sequences + k] for k in range(layout.states)}
        named = [firsts[x] if x in firsts else wholes[x] for x in self.text.whole_names]
        fixed = [ins[x] for x in self.text.fixed]
        return (loop[::order], *outs, *fixed, *named)

    def forget(self) -> None:
        """Release the arrays that hold values of all steps."""
        self._rooms, self._n_steps = {}, -1

    def _fill_wholes(self, wholes: dict[int, np.ndarray], n_steps: int) -> None:
        """Add to `wholes` the loop's own arrays with the values of all steps, and views of them."""
        for call in self.text.step.calls:
            slot = call.outputs[0]
            if (
                self.text.places.homes[slot] != Home.WHOLE
                or slot in wholes
                or slot in self.text.handed
                or slot in self.text.places.inside
            ):
                continue
            if call.op.is_view:
                if self.text.step.place_of[slot] == GIVEN:
                    source = wholes[call.inputs[0]]
                    wholes[slot] = with_time(call.op).perform(
                        *self.text.places.dummy_arrays(call, source)
                    )
                continue
            if slot not in self._rooms:
                shape, dtype = self.text.step.specs[slot]
                self._rooms[slot] = room(Spec((n_steps, *shape), dtype))
            wholes[slot] = self._rooms[slot]

    def _handed(self, k: int, outs: dict[int, np.ndarray], n_steps: int) -> list[np.ndarray]:
        """Return, for each step, the array into which the new state number `k` is computed.

        In the last step it is the array of the last state. Before, it is the next place in the
        state's history, or if no history is wanted, one of two arrays in turn.
        """
        layout = self.text.step.layout
        slot = self.text.results[layout.outputs + k]
        if slot not in self._spare:
            self._spare[slot] = [room(self.text.step.specs[slot]) for _ in range(3)]
        *pair, last = self._spare[slot]
        history = outs.get(layout.outputs + k)
        end = outs.get(layout.outputs + layout.states + k, last)
        before = (pair * n_steps)[:n_steps] if history is None else sequences_of(history)
        return [end, *before[:-1]] if self.text.is_backwards else [*before[1:], end]

    def _fill_steps(self, each: dict[int, Sequence[Any]]) -> None:
        """Add to `each` the arrays of all steps, for slots whose array differs from step to step.

        A slot may be stored in memory for a block of steps, as a part of a joined array, or as a
        view of another slot.
        """
        calls = {call.outputs[0]: call for call in self.text.step.calls}
        n_steps = self._n_steps

        def fill(slot: int) -> None:
            if slot in each or self.text.places.homes[slot] not in MOVING:
                return
            call: Any = calls[slot]
            if self.text.places.homes[slot] == Home.BLOCK and not call.op.is_view:
                array = self.text.places.arrays[slot]
                each[slot] = [array[t % len(array), ...] for t in range(n_steps)]
                return
            if slot in self.text.places.inside:
                outer, number = self.text.places.inside[slot]
                fill(outer)
                join: Any = calls[outer].op
                each[slot] = [join.part(array, number) for array in each[outer]]
            elif call.op.is_view:
                fill(call.inputs[0])
                each[slot] = [
                    call.op.perform(*self.text.places.dummy_arrays(call, array))
                    for array in each[call.inputs[0]]
                ]

        for slot in self.text.in_steps:
            fill(slot)

    def _blocks(
        self, wholes: dict[int, np.ndarray], n_steps: int, steps: list[Any]
    ) -> list[tuple[Any, ...]]:
        size = self.text.places.block
        calls = {call.outputs[0]: call for call in self.text.step.calls}
        blocks = []
        order = -1 if self.text.is_backwards else 1
        for start in range(0, n_steps, size):
            stop = min(start + size, n_steps)
            views: dict[int, Any] = {}
            for slot in self.text.in_blocks:
                if slot in wholes:
                    views[slot] = wholes[slot][start:stop]
                elif calls[slot].op.is_view:
                    source = views[calls[slot].inputs[0]]
                    views[slot] = with_time(calls[slot].op).perform(source)
                else:
                    views[slot] = self.text.places.arrays[slot][: stop - start]
            own = [views[slot] for slot in self.text.in_blocks]
            if self.text.has_steps:
                own.append(steps[start:stop][::order])
            blocks.append(tuple(own))
        return blocks


# --- the program ----------------------------------------------------------------------------------


_numbers = itertools.count(1)


class LoopProgram(Exclusive):
    """The compiled code of a loop, for steps of certain shapes and any number of steps.

    Parameters
    ----------
    step : StepCalls
    is_backwards : bool
        Whether the loop starts with the last step.
    wanted : collection of int, optional
        The results to compute; by default all.

    Attributes
    ----------
    plan : LoopPlan
    text : LoopText
    source : str
        The text of the program.
    """

    inspects_itself = True  # callers need not inspect its results for NaN

    def __init__(
        self, step: StepCalls, is_backwards: bool, wanted: Collection[int] | None = None
    ) -> None:
        super().__init__()
        self.file = f"<kerascope loop {next(_numbers)}>"
        self.plan = LoopPlan(step, is_backwards, wanted)
        self.text = LoopText(self.plan)
        self.source = self.text.source
        self._guarded: tuple[Alarms, Callable[..., None]] | None = None
        self._known: list[Any] = []
        self._arguments: tuple[Any, ...] = ()
        self._views = LoopViews(self.text)
        code = compile(self.source, self.file, "exec")
        show(self.file, self.source, self.source.splitlines(keepends=True))
        scope = dict(self.text.scope)
        exec(code, scope)
        self._run: Callable[..., None] = scope["loop"]

    def __del__(self) -> None:
        hide(self.file)

    def __call__(self, outputs: Any, *inputs: Any) -> None:
        """Compute the loop into given arrays; there must be at least one step.

        The program's memory exists once, so no other call may be running.
        """
        several = [outputs] if isinstance(outputs, np.ndarray) else list(outputs)
        given = [*several, *inputs]
        are_known = len(given) == len(self._known) and all(
            a is b for a, b in zip(given, self._known, strict=True)
        )
        if not are_known:
            arrays = [np.asarray(x) for x in inputs]
            self._known = []
            self._arguments = self._views(several, arrays)
            self._known = given
        alarms = current_alarms()
        run = self._run if alarms is None else self._guarded_by(alarms)
        run(*self._arguments)

    def _guarded_by(self, alarms: Alarms) -> Callable[..., None]:
        if self._guarded is None or self._guarded[0] is not alarms:
            self._guarded = alarms, alarms.guarded(self._run, self.source)
        return self._guarded[1]

    def forget(self) -> None:
        """Release the arrays of the last call, and the loop's own arrays of all steps."""
        self._known, self._arguments = [], ()
        self._views.forget()


def loop_program(
    schedule: Schedule,
    layout: Layout,
    inputs: Sequence[Spec],
    is_backwards: bool,
    rewrites: bool = True,
    wanted: Collection[int] | None = None,
) -> LoopProgram | None:
    """Return the program of a loop, or None if it must be interpreted.

    Parameters
    ----------
    schedule : Schedule
        The schedule of one step.
    layout : Layout
        How many inputs and results of each kind a step has.
    inputs : list of Spec
        The inputs of one step: slices of the sequences, states, others.
    is_backwards : bool
        Whether the loop starts with the last step.
    rewrites : bool
        Whether the rules of `calls.py` are applied.
    wanted : collection of int, optional
        The results to compute; by default all.
    """
    if not layout.sequences or not can_be_compiled(schedule):
        return None
    write = functools.partial(StepCalls, schedule, layout, inputs, rewrites)
    try:
        step = write()
    except Exception as error:  # it may fail only on zeros
        own_failure(write, error)
        return None
    return LoopProgram(step, is_backwards, wanted) if step.is_whole else None
