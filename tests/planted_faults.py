"""Faults to be planted: patches of the planner, of a rewrite or of the emitter.

Each is as somebody could have written it. What it is given is pytest's `monkeypatch`. Some are
found while a program is written; `unchecked` lets them through, so that it runs, and tells lies.
"""

import weakref

import numpy as np

from kerascope.backend.ops.scan import Scan
from kerascope.backend.ops.shaping import Reshape
from kerascope.backend.program import draft, emit, plan, rules
from kerascope.backend.program.bound import Bound
from kerascope.backend.program.dispatch import Programs
from kerascope.backend.program.loops import plan as loop_plan
from kerascope.backend.program.loops.program import LoopText, LoopViews
from kerascope.backend.program.memory import Memory
from kerascope.backend.program.plan import Plan
from kerascope.backend.program.source import Source


def unchecked(patch):
    """Do without the check of plans."""
    patch.setattr(draft, "check_plan", lambda *arguments: None)


def a_buffer_is_free_one_step_early(patch):
    right = Memory._last_readers

    def early(self, kept):
        return {max(at - 1, 0): roots for at, roots in right(self, kept).items()}

    patch.setattr(Memory, "_last_readers", early)


def a_free_buffer_is_given_twice(patch):
    right = Memory._take

    def twice(self, slot, block, fact, before):
        right(self, slot, block, fact, before)
        if before is not None:
            self._free.setdefault(len(block), []).append((block, slot))

    patch.setattr(Memory, "_take", twice)


def what_is_read_at_the_end_is_not_kept(patch):
    patch.setattr(draft, "_slots_read_at_the_end", lambda plan, flats: [])


def operands_are_swapped(patch):
    right = emit.call_of

    def swapped(ufunc, operands, out):
        is_difference = ufunc is np.subtract
        return right(ufunc, "{1}, {0}" if is_difference else operands, out)

    patch.setattr(emit, "call_of", swapped)


def a_variable_is_taken_for_a_constant(patch):
    right = Bound._add_inputs

    def stale(self, arrays):
        right(self, arrays)
        for slot, variable in self.schedule.variables:
            self._set_constant(slot, variable.room.copy())

    patch.setattr(Bound, "_add_inputs", stale)


def a_reshape_does_not_say_that_it_is_a_view(patch):
    patch.setattr(Reshape, "may_share", lambda self, inputs, outputs: ())


def a_loop_without_steps_does_not_say_what_it_hands_back(patch):
    patch.setattr(Scan, "may_share", lambda self, inputs, outputs: ())


def a_guard_is_left_out(patch):
    right = Plan._open_guards

    def unguarded(self, new_slots):
        return dict.fromkeys(right(self, new_slots), ())

    patch.setattr(Plan, "_open_guards", unguarded)


def a_program_serves_both_phases(patch):
    patch.setattr(Programs, "_key", lambda self, arrays: tuple([x.shape for x in arrays]))


def an_output_is_not_copied(patch):
    patch.setattr(Source, "_output", lambda self, slot: f"np.asarray({self._name(slot)})[()]")


def equal_ops_may_have_other_parameters(patch):
    right = rules.MergeEqual.__call__

    def careless(self, bound, line):
        kind = type(line.op)
        original = kind.__repr__, kind.__eq__, kind.__hash__
        kind.__repr__ = kind.__name__.__str__
        kind.__eq__, kind.__hash__ = (lambda a, b: type(a) is type(b)), (lambda a: 1)
        try:
            return right(self, bound, line)
        finally:
            kind.__repr__, kind.__eq__, kind.__hash__ = original

    patch.setitem(rules.RULES, "merge_equal", type("Careless", (rules.MergeEqual,), {
        "__call__": careless}))  # fmt: skip


def a_difference_is_turned_round(patch):
    right = rules.subtract_negative

    def turned(bound, line):
        before = list(line.inputs)
        right(bound, line)
        if line.inputs != before:
            line.inputs.reverse()

    patch.setitem(rules.RULES, "subtract_negative", lambda: turned)


def any_two_transpositions_cancel(patch):
    def cancel(bound, line):
        first = bound.makers.get(line.inputs[0]) if line.inputs else None
        if first is None or {type(first.op).__name__, type(line.op).__name__} != {"Transpose"}:
            return None
        bound.replace(line, first.inputs[0])
        return "transposed twice"

    patch.setitem(rules.RULES, "undo_transposes", lambda: cancel)


def new_values_are_not_kept_from_each_other(patch):
    patch.setattr(plan.Plan, "is_at_risk", lambda self, slot: False)
    right = plan.Commit

    def careless(variable, new_slot, guards, is_at_risk):
        return right(variable, new_slot, guards, False)

    patch.setattr(plan, "Commit", careless)


def every_kernel_may_write_over_its_input(patch):
    right = emit.Writing

    def careless(kind, text, kernel=None, can_overwrite=False):
        return right(kind, text, kernel, True)

    patch.setattr(emit, "Writing", careless)


def a_product_with_one_keeps_what_is_too_small(patch):
    patch.setattr(rules, "_is_rounded", lambda bound, slot: True)


# --- loops ----------------------------------------------------------------------------------------


def operands_are_swapped_in_loops(patch):
    right = loop_plan.call_of

    def swapped(ufunc, operands, out):
        return right(ufunc, "{1}, {0}" if ufunc is np.subtract else operands, out)

    patch.setattr(loop_plan, "call_of", swapped)


def a_loop_begins_with_zeros(patch):
    right = LoopViews.__call__

    def from_zeros(self, outs, ins):
        first, n = self.text.step.layout.sequences, self.text.step.layout.states
        zeros = [np.zeros_like(x) for x in ins[first : first + n]]
        return right(self, outs, [*ins[:first], *zeros, *ins[first + n :]])

    patch.setattr(LoopViews, "__call__", from_zeros)


def a_loop_goes_through_the_views_of_its_first_inputs(patch):
    right = LoopViews.__call__
    kept = weakref.WeakKeyDictionary()

    def stale(self, outs, ins):
        first = kept.setdefault(self, ins)
        same = [x.shape for x in first] == [x.shape for x in ins]
        return right(self, outs, first if same else ins)

    patch.setattr(LoopViews, "__call__", stale)


def a_sum_over_the_steps_does_not_begin_with_zero(patch):
    right = LoopText._first_totals

    def from_one(self):
        return (line.replace("fill(-0.0)", "fill(1)") for line in right(self))

    patch.setattr(LoopText, "_first_totals", from_one)


SOON = [
    a_buffer_is_free_one_step_early,
    operands_are_swapped,
    a_variable_is_taken_for_a_constant,
    an_output_is_not_copied,
    operands_are_swapped_in_loops,
    a_loop_begins_with_zeros,
    a_loop_goes_through_the_views_of_its_first_inputs,
]
FAULTS = [
    a_free_buffer_is_given_twice,
    what_is_read_at_the_end_is_not_kept,
    a_reshape_does_not_say_that_it_is_a_view,
    a_loop_without_steps_does_not_say_what_it_hands_back,
    a_guard_is_left_out,
    a_program_serves_both_phases,
    equal_ops_may_have_other_parameters,
    a_difference_is_turned_round,
    any_two_transpositions_cancel,
    new_values_are_not_kept_from_each_other,
    every_kernel_may_write_over_its_input,
    a_product_with_one_keeps_what_is_too_small,
]
# Those that a plan shows.
IN_THE_PLAN = [
    a_buffer_is_free_one_step_early,
    a_free_buffer_is_given_twice,
    a_reshape_does_not_say_that_it_is_a_view,
]
