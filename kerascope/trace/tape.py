"""`with trace() as tape:`: record all that the engine does inside the block.

The tape itself is in `tape_store.py`, what writes on it in `recorder.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kerascope.stage import observing
from kerascope.trace.recorder import Recorder
from kerascope.trace.tape_store import HISTORY, Tape

__all__ = ["Tape", "last_tape", "trace"]

_LAST: list[Tape] = []  # one at most


def last_tape() -> Tape | None:
    """Return the tape that `trace` made last; None if it made none."""
    return _LAST[0] if _LAST else None


@contextmanager
def trace(
    model: Any = None,
    level: str = "detail",
    *,
    statistics_only: bool = False,
    history: int | None = HISTORY,
) -> Iterator[Tape]:
    """Record every stage that runs inside the `with` block; the block receives the tape.

    Parameters
    ----------
    model : Model, optional
        Whose functions exist already and are going to be called by themselves. A model that is
        built, compiled or fitted inside the block is known anyway.
    level : {"detail", "op", "node", "phase", "act"}
        The finest grain that is recorded.
    statistics_only : bool
        Keep of each array its figures and not its numbers.
    history : int or None
        How many bytes are kept, of events and arrays; None is no limit.

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
    recorder = Recorder(level, statistics_only=statistics_only, history=history)
    if model is not None:
        recorder.know(model)
    _LAST[:] = [recorder.tape]
    try:
        with observing(recorder):
            yield recorder.tape
    finally:
        recorder.close()
