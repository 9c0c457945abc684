"""Calls that run without events although there is an observer.

An observer may store only the inputs of a call, because it can repeat the call later to get the
events (`trace/journal.py`). Such an observer uses `UnrecordedRunner`, which notifies it before each
call. A call that fails without events is repeated with events, to show where it fails.
"""

from __future__ import annotations

from typing import Any

from kerascope.stage import Stage, WatchedRunner
from kerascope.user_frames import boundary


class RepeatWithEvents(Exception):
    """Raised if a call must be repeated with events. In training, `args` contains the batch."""


class UnrecordedRunner(WatchedRunner):
    """Runs stages for an observer, without events where the observer allows this.

    Parameters
    ----------
    observer : object
        Its `unrecorded_call(function, inputs)` returns a generator that computes a call, or None.
        Its `unrecorded_batches(function, feed, callbacks)` returns a generator that computes the
        next batches, or None.
    """

    def __init__(self, observer: Any) -> None:
        self._observer = observer
        self.batches = observer.unrecorded_batches

    @boundary
    def run(self, stage: Stage) -> Any:
        """Run a stage, without events if the observer allows this, and return its result."""
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
