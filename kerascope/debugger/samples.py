"""Which row of a batch, and which sample of the data: `row`, and what a stop says of a NaN."""

from __future__ import annotations

import numpy as np

from kerascope.debugger.shell import Shell
from kerascope.errors import ArgumentError
from kerascope.trace.history import value_of_event
from kerascope.trace.rows import BatchAt, batch_at, losses_by_row, spoilt_rows
from kerascope.trace.statistics import figure
from kerascope.trace.stepper import Stop

OF_NUMBERS = ("nan", "inf")


def say_rows_of_stop(shell: Shell, stop: Stop) -> None:
    """Print in which rows a caught number came into being, if that can be followed."""
    event, session = stop.event, shell.session
    if event is None or not any(finding.condition in OF_NUMBERS for finding in stop.findings):
        return
    found = spoilt_rows(session.recorder, session.tape, event)
    if found is not None:
        batch, rows = found
        shell.say(f"   {batch.words(rows)}; `row {rows[0]}` shows its inputs")


def say_row(shell: Shell, words: str) -> None:
    """Print what a row of the batch was fed with: of the one asked for, or the most striking one.

    Raises
    ------
    ArgumentError
        Here is no batch, it has no such row, or nothing tells which row is meant.
    """
    session = shell.session
    t = session.stepper.now
    batch = batch_at(session.recorder, session.tape, t)
    if batch is None or batch.call is None:
        raise ArgumentError("row: here is no batch of fit; `goto batch 17` goes to one.")
    row, why = (_number(words, batch), "") if words.strip() else _striking(shell, t)
    shell.say(f"{batch.words([row])}{why}")
    arrays = value_of_event(batch.call, "inputs") or ()
    names = value_of_event(batch.call, "feed_names") or ()
    for name, array in zip(names, arrays, strict=False):
        if np.shape(array)[:1] == (batch.size,):
            numbers = np.array2string(array[row], threshold=12, separator=", ")
            shell.say(f"{name} = {' '.join(numbers.split())}")


def _number(words: str, batch: BatchAt) -> int:
    if not words.strip().isdigit() or int(words) >= batch.size:
        last = batch.size - 1
        raise ArgumentError(f"row: got {words!r}; batch {batch.number} has rows 0 to {last}.")
    return int(words)


def _striking(shell: Shell, t: int) -> tuple[int, str]:
    """Return the row in which a number is spoilt here, or else the one with the largest loss."""
    session = shell.session
    event = session.stepper.event
    spoilt = None if event is None else spoilt_rows(session.recorder, session.tape, event)
    if spoilt is not None:
        return spoilt[1][0], ""
    found = losses_by_row(session.recorder, session.tape, t)
    if found is None:
        raise ArgumentError(
            "row: which one? The losses of the rows are not known here: they are not computed yet, "
            "or not apart. `row 3` shows row 3."
        )
    losses = np.where(np.isnan(found[1]), np.inf, found[1])
    row = int(np.argmax(losses))
    return row, f", which has the largest loss: {figure(found[1][row])}"
