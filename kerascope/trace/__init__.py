"""Walking through the engine's work and recording it, as pure data. The package prints nothing.

`walking.py` walks through a forward pass step by step with real arrays.

The recorder (`recorder.py`) observes a script and writes `Event`s (`events.py`) on a tape
(`tape_store.py`); it has a part for each kind of stage. The stepper (`stepper.py`) moves from event
to event.
`RunState` (`run_state.py`) is the state of a run after some events. `report.py` and `reporting.py`
turn events into `Record`s (`records.py`), for `kerascope trace`.

The package is also a function, `with kerascope.trace() as tape:`; see `tape.trace`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    """A package that can be called: `kerascope.trace()` records a tape."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return a context manager that records every stage on a tape; see `tape.trace`."""
        return import_module(f"{__name__}.tape").trace(*args, **kwargs)


sys.modules[__name__].__class__ = _Package
