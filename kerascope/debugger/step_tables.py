"""The steps of a loop as tables: `info steps`, `info steps 7`, and a stop inside a loop."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from kerascope.debugger.rendering import text_of_value
from kerascope.debugger.shell import Shell
from kerascope.debugger.tables import lines_of_table
from kerascope.errors import ArgumentError
from kerascope.trace.loop_steps import LoopAt, LoopStep, is_loop, loop_at, steps_of
from kerascope.trace.statistics import figure, norm, statistics_of
from kerascope.trace.stepper import Stop

MOST_STEPS, NEAR = 24, 4  # rows of a long loop: its ends, and those near the first NaN


def say_steps(shell: Shell, words: str) -> None:
    """Print all steps of a loop, or the step whose number is in `words`.

    Of a single step, the output of each op is printed.
    """
    found = re.fullmatch(r"(?:(\S*[^\d\s]\S*) ?)?(?:step )?(\d+)?", words.strip())
    if found is None:
        raise ArgumentError(
            f"info steps: expected nothing, a step (7), a layer (lstm_1) or both (lstm_1 7), got "
            f"{words!r}."
        )
    loop = _loop(shell, found[1] or "")
    if found[2] is None:
        _say_all(shell, loop)
    else:
        _say_one(shell, loop, int(found[2]))


def say_step_of_stop(shell: Shell, stop: Stop) -> None:
    """Print which step of a loop the stop is about.

    For a breakpoint at a step, print this step. If a NaN or infinity was caught, print where it
    first appeared.
    """
    event, hit = stop.event, stop.breakpoint
    if event is None or not is_loop(event):
        return
    if hit is not None and hit.selector.what == "step":
        _say_one(shell, _loop(shell, event.name), hit.selector.number)
    elif any(finding.condition in ("nan", "inf") for finding in stop.findings):
        loop = _loop(shell, event.name)
        first = _first_spoilt(steps_of(loop))
        if first is not None:
            name, number, count = first.spoilt, first.number, loop.count
            shell.say(f"   first in step {number} of {count} (0 to {count - 1}), at {name}")
            shell.say(f"   `info steps {number}` shows that step, `info steps` all of them")


def _loop(shell: Shell, name: str) -> LoopAt:
    session = shell.session
    return loop_at(session.recorder, session.tape, session.stepper.now, name)


def _first_spoilt(steps: Iterable[LoopStep]) -> LoopStep | None:
    return next((step for step in steps if step.spoilt), None)


def _say_all(shell: Shell, loop: LoopAt) -> None:
    """Print the norms of the states, or without states of the last output, after every step."""
    rows: list[list[str]] = []
    names: list[str] = []
    place_of_spoilt: int | None = None
    for place, step in enumerate(steps_of(loop)):
        shown = step.states or dict([(name, x) for name, (_, x) in step.made.items()][-1:])
        names = list(shown)
        spoilt = step.spoilt
        note = f"<- {spoilt}: {alarm(step.made[spoilt][1])}" if spoilt else ""
        if spoilt and place_of_spoilt is None:
            place_of_spoilt = place
        sizes = [figure(norm(x)) + (" " + alarm(x) if alarm(x) else "") for x in shown.values()]
        rows.append([str(step.number), *sizes, note])
    kept = _worth_showing(len(rows), place_of_spoilt)
    backwards = ", the last step first" if loop.op.backwards else ""
    shell.say(f"{loop.name}: {loop.count} steps{backwards}; sizes after each")
    header = ["step", *(f"|{name}|" for name in names), ""]
    table: list[Sequence[str]] = [header, *(rows[place] for place in kept)]
    for line in lines_of_table(table):
        shell.say_line(line)
    if len(kept) < len(rows):
        shell.say(f"{len(rows) - len(kept)} more between them; `info steps 7` shows one")


def alarm(array: Any) -> str:
    """Return the count of non-finite elements of an array, such as "3 NaN!"; "" if all are finite.

    Examples
    --------
    >>> alarm([1.0, float("inf")]), alarm([1.0])
    ('1 Inf!', '')
    """
    found = statistics_of(array)
    counts = ((found.nans, "NaN!"), (found.infinities, "Inf!"))
    return ", ".join(f"{count} {word}" for count, word in counts if count)


def _worth_showing(count: int, spoilt: int | None) -> list[int]:
    if count <= MOST_STEPS:
        return list(range(count))
    ends = (*range(2 * NEAR), *range(count - 2 * NEAR, count))
    near = () if spoilt is None else range(spoilt - NEAR, spoilt + NEAR)
    return sorted(place for place in {*ends, *near} if 0 <= place < count)


def _say_one(shell: Shell, loop: LoopAt, number: int) -> None:
    """Print the inputs of a step, the output of each of its ops, and the states after the step."""
    if number >= loop.count:
        raise ArgumentError(f"steps: {loop.name} has steps 0 to {loop.count - 1}, got {number}.")
    step = next(step for step in steps_of(loop) if step.number == number)
    rows: list[Sequence[str]] = [("in step", "op", "value")]
    rows += [(name, "", text_of_value(x)) for name, x in step.given.items()]
    spoilt = step.spoilt
    for name, (op, value) in step.made.items():
        rows.append((name, op, text_of_value(value) + ("  <-" if name == spoilt else "")))
    rows += [(f"{name} after", "", text_of_value(x)) for name, x in step.states.items()]
    shell.say(f"{loop.name}: step {number} of {loop.count} (0 to {loop.count - 1})")
    for line in lines_of_table(rows):
        shell.say_line(line)
