"""`check grads`: compare the gradients of a call's loss with finite differences."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from kerascope.backend.float_settings import with_float_settings
from kerascope.backend.ops.while_loop import GivenGradient
from kerascope.backend.provenance import describe
from kerascope.debugger.changing import call_here
from kerascope.debugger.places import shown_file
from kerascope.debugger.shell import Shell
from kerascope.debugger.tables import lines_of_table
from kerascope.errors import ArgumentError
from kerascope.trace.gradient_check import LossCheck, WeightCheck, WrongOp, check_weights, wrong_ops
from kerascope.trace.statistics import figure
from kerascope.trace.timelines import initial_values

MOST_WRONG = 3  # wrong ops that are printed


def say_checked_gradients(shell: Shell) -> None:
    """Check the gradients of the current call, and print the result."""
    recorder, call = call_here(shell, "check grads")
    facts = call.plan.facts
    loss = None if facts is None else facts.losses.get("total_loss")
    weights = [] if facts is None else [update.param for update in facts.updates]
    if facts is None or loss is None or not weights or loss not in call.plan.slots:
        raise ArgumentError(
            f"check grads: {call.function.name} trains nothing, so it has no gradients. Go to a "
            "batch that does: goto batch 3."
        )
    inputs, values = initial_values(recorder, shell.session.tape, call, "check grads")
    leaves: dict[Any, Any] = dict(zip(call.function.inputs, map(np.asarray, inputs), strict=True))
    leaves.update(values)
    whole = with_float_settings(check_weights, loss, weights, leaves)
    for line in _lines(whole):
        shell.say_text(line)
    if not whole.is_wrong:
        return
    found = with_float_settings(wrong_ops, loss, weights, leaves)
    if not found:
        shell.say_text(
            "no single op has a wrong gradient. Look for an op that reads values other than its "
            "inputs (a global variable, a file), or for a loop with such an op inside."
        )
    for one in found[:MOST_WRONG]:
        for line in _lines_of_op(one, facts.label(one.apply)):
            shell.say_text(line)
    if len(found) > MOST_WRONG:
        shell.say(f"and {len(found) - MOST_WRONG} more")


def _lines(whole: LossCheck) -> list[str]:
    slopes = [slope for one in whole.checked for slope in one.slopes]
    numbers = sum(slope.place is not None for slope in slopes)
    how = "in float64" if not whole.single else f"in float32, for {', '.join(whole.single)}"
    lines = [
        f"the gradient of the loss by {len(whole.checked)} weights, at {numbers} numbers and in "
        f"{len(slopes) - numbers} random directions, against central differences {how}:"
    ]
    rows: list[tuple[str, ...]] = [("", "weight", "at", "gradient", "differences", "apart")]
    rows += [_row(one) for one in whole.checked]
    lines += lines_of_table(rows)
    bends = sum(slope.verdict == "bend" for slope in slopes)
    if bends:
        lines.append(f"{bends} are at a bend (relu at 0, two equal maxima), where neither is right")
    wrong = sum(one.is_wrong for one in whole.checked)
    if not whole.checked:
        return ["the loss depends on no weight"]
    lines.append(f"wrong by {wrong} of the weights" if wrong else "they agree")
    return lines


def _row(one: WeightCheck) -> tuple[str, ...]:
    worst = one.worst
    if worst is None:
        return ("", one.name, "", "", "", "at bends only")
    place = "all at once" if worst.place is None else str(list(worst.place))
    numbers = figure(worst.symbolic), figure(worst.measured)
    return ("!" if one.is_wrong else "", one.name, place, *numbers, f"{worst.apart:.1e}")


def _lines_of_op(one: WrongOp, label: str) -> list[str]:
    """Return the lines that `check grads` prints for an op with a wrong gradient.

    They show the op and the scope of its layer, the computed and the measured gradient at the
    worst element, the source line of the op's gradient, and the user's line that made the op.
    """
    apply, worst = one.apply, one.found.worst
    assert worst is not None
    op: Any = apply.op
    given = isinstance(op, GivenGradient)
    name = getattr(op.function, "__name__", "a function") if given else f"{type(op).__name__}.grad"
    function: Any = op.function if given else type(op).grad
    place = "in a random direction" if worst.place is None else f"at {list(worst.place)}"
    lines = [
        f"wrong is the gradient of {apply.name} ({name}, in {label}) by its input "
        f"{apply.inputs[one.position].name}: {place} it is {figure(worst.symbolic)}, and "
        f"differences give {figure(worst.measured)}"
    ]
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is not None:
        lines.append(f"   {shown_file(code.co_filename)}:{code.co_firstlineno}  {name}")
    made = describe(apply)
    return [*lines, *([f"   {made}"] if made else [])]
