"""`with trace() as tape:`: record everything that the engine does inside the block.

The tape itself is in `tape_store.py`, and the recorder in `recorder.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

from kerascope import display
from kerascope.backend.function import Function
from kerascope.engine.network import Network
from kerascope.errors import DtypeError
from kerascope.stage import Stage, observing
from kerascope.trace.recorder import Recorder
from kerascope.trace.stepper import Passage
from kerascope.trace.tape_store import HISTORY, Tape
from kerascope.unrecorded import UnrecordedRunner
from kerascope.unsupported import got_instead

__all__ = ["Tape", "last_tape", "trace"]

ANYTHING = Passage(inf)
_LAST: list[Tape] = []  # one at most


def last_tape() -> Tape | None:
    """Return the tape of the last call of `trace`; None if there was none."""
    return _LAST[0] if _LAST else None


@contextmanager
def trace(
    model: Any = None,
    level: str = "detail",
    *,
    statistics_only: bool | None = None,
    history: int | None = HISTORY,
) -> Iterator[Tape]:
    """Return a context manager that records every stage inside its block on a tape.

    At the finest grain only the first call of each function is recorded while it runs. Later calls
    are executed again when their events are read (`trace/journal.py`). So do not change your data
    arrays in place before you have read these events.

    Parameters
    ----------
    model : Model, optional
        A model that was compiled before the block and whose functions are called directly. A model
        that is built, compiled or fitted inside the block is recorded without this argument. For a
        model of another library, its calls inside the block are recorded.
    level : {"detail", "op", "node", "phase", "act"}
        The finest grain to record.
    statistics_only : bool, optional
        Whether to keep the statistics of arrays instead of their values. The default is True for
        models of other libraries, and False otherwise.
    history : int or None
        The limit in bytes for events and arrays; None for unlimited.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.layers import Dense
    >>> from kerascope.models import Sequential
    >>> with trace() as tape:
    ...     model = Sequential([Dense(1, input_shape=(2,), name="d")])
    ...     model.compile("sgd", "mse")
    ...     history = model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=1, verbose=0)
    >>> [event.name for event in tape.filter(kind="update.apply")]
    ['d/kernel/momentum', 'd/kernel', 'd/bias/momentum', 'd/bias', 'iterations']
    """
    if model is not None and not isinstance(model, Network):
        figures_only = statistics_only is not False
        options = {"statistics_only": figures_only, "history": history}
        foreign = display.show("tracing", model, _nothing, **options)
        if foreign is not None:
            with foreign as tape:
                _LAST[:] = [tape]
                yield tape
            return
        raise DtypeError(
            f"trace: expected a model or nothing, {got_instead(model, 'ks.trace(model)')}"
        )
    recorder = Recorder(level, statistics_only=bool(statistics_only), history=history)
    if model is not None:
        recorder.know(model)
    tape = recorder.tape
    tape.expands_all, tape.settle = True, recorder.settle
    _LAST[:] = [tape]
    try:
        with observing(TracingObserver(recorder)):
            yield tape
    finally:
        recorder.close()
        tape.settle = None


def _nothing(model: Any, **options: Any) -> None:
    return None


class TracingObserver:
    """Observes a run for a tape. The first call of each function is recorded as it runs.

    Later calls run at full speed and are recorded when their events are read.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def __call__(self, stage: Stage, event: Any) -> None:
        """Record an event of a stage."""
        self.recorder(stage, event)

    @property
    def runner(self) -> UnrecordedRunner:
        """The object that runs stages if this is the only observer; it runs some without events."""
        return UnrecordedRunner(self)

    def unrecorded_batches(self, function: Function, feed: Any, callbacks: Any) -> Any:
        """Return an object that trains on the next batches without events, or None.

        None means that the next batch must be recorded while it runs.
        """
        return self.recorder.batches_of(function, feed, callbacks, ANYTHING)

    def unrecorded_call(self, function: Function, fed: Any) -> Any:
        """Return a function that computes a call without events, or None.

        None means that the call must be recorded while it runs.
        """
        return self.recorder.call_of(function, fed, ANYTHING)
