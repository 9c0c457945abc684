"""Calls that run without events although they are observed.

An observer may need only the inputs of a call, since it can repeat the call later to get its events
(`trace/journal.py`). Such an observer has this runner, which asks it before each call. A call that
fails without events is repeated with events, which show where it failed.
"""

from __future__ import annotations

from typing import Any

from kerascope.callers import boundary
from kerascope.stage import Stage, WatchedRunner


class RepeatWithEvents(Exception):
    """A call has to be repeated with events; `args` holds the batch, if it is one of training."""


class UnrecordedRunner(WatchedRunner):
    """Runs calls without events where the observer allows it.

    Parameters
    ----------
    observer : object
        `unrecorded_call(function, inputs)` returns what computes a call, or None;
        `unrecorded_batches(function, feed, callbacks)` what computes the next batches, or None.
    """

    def __init__(self, observer: Any) -> None:
        self._observer = observer
        self.batches = observer.unrecorded_batches

    @boundary
    def run(self, stage: Stage) -> Any:
        """Return the result of a stage that is not done."""
        if stage.shortcut is not None and not stage.is_started:
            given = stage.names
            if "inputs" in given:
                call = self._observer.unrecorded_call(stage.subject, given["inputs"])
                if call is not None:
                    try:
                        return stage.take(call)
                    except RepeatWithEvents:
                        stage.begin_again()
        return super().run(stage)
