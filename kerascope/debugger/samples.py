"""Rows of a batch and samples of the data: the command `row`, and the rows of a caught NaN."""

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
    """Print the numbers of the rows in which a caught NaN or infinity first appeared.

    Print nothing if the stop has no such condition, or if the rows cannot be determined.
    """
    event, session = stop.event, shell.session
    if event is None or not any(finding.condition in OF_NUMBERS for finding in stop.findings):
        return
    found = spoilt_rows(session.recorder, session.tape, event)
    if found is not None:
        batch, rows = found
        shell.say(f"   {batch.words(rows)}; `row {rows[0]}` shows its inputs")


def say_row(shell: Shell, words: str) -> None:
    """Print the inputs of a row of the batch.

    Without a number, this is the row with a NaN or infinity at the current event. If no row has
    one, it is the row with the largest loss.

    Raises
    ------
    ArgumentError
        The stop is not in a batch, the row does not exist, or no row can be chosen.
    """
    session = shell.session
    t = session.stepper.now
    batch = batch_at(session.recorder, session.tape, t)
    if batch is None or batch.call is None:
        raise ArgumentError("row: needs a batch of fit. `goto batch 17` goes to one.")
    row, why = (_number(words, batch), "") if words.strip() else _conspicuous_row(shell, t)
    shell.say(f"{batch.words([row])}{why}")
    arrays = value_of_event(batch.call, "inputs") or ()
    names = value_of_event(batch.call, "feed_names") or ()
    for name, array in zip(names, arrays, strict=False):
        if np.shape(array)[:1] == (batch.size,):
            numbers = np.array2string(array[row], threshold=12, separator=", ")
            shell.say(f"{name} = {' '.join(numbers.split())}")


def _number(words: str, batch: BatchAt) -> int:
    if not words.strip().isdigit() or int(words) >= batch.size:
        raise ArgumentError(
            f"row: batch {batch.number} has rows 0 to {batch.size - 1}, got {words!r}."
        )
    return int(words)


def _conspicuous_row(shell: Shell, t: int) -> tuple[int, str]:
    """Return the row with a NaN or infinity at the current event, or else with the largest loss."""
    session = shell.session
    event = session.stepper.event
    spoilt = None if event is None else spoilt_rows(session.recorder, session.tape, event)
    if spoilt is not None:
        return spoilt[1][0], ""
    found = losses_by_row(session.recorder, session.tape, t)
    if found is None:
        raise ArgumentError(
            "row: needs a number here, because the losses of the rows are not known: they are not "
            "computed yet, or not per row. `row 3` shows row 3."
        )
    losses = np.where(np.isnan(found[1]), np.inf, found[1])
    row = int(np.argmax(losses))
    return row, f", which has the largest loss: {figure(found[1][row])}"
