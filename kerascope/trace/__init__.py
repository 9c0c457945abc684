"""Walking and recording what the engine does; pure data, nothing is printed here.

`walking.py` goes through a forward pass step by step with real arrays.

The recorder (`recorder.py`) follows a program, each of its stages with a recorder of its own, and
writes `Event`s (`events.py`) on a tape (`tape_store.py`); the stepper (`stepper.py`) moves among
them. `RunState` (`run_state.py`) is what the events so far say of a run. `report.py` and
`reporting.py` turn them into `Record`s (`records.py`), for `kerascope trace`.

The package is also a function, `with kerascope.trace() as tape:`; see `tape.trace`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    """A package that can be called, and records then."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record every stage that runs inside a `with` block; see `tape.trace`."""
        return import_module(f"{__name__}.tape").trace(*args, **kwargs)


sys.modules[__name__].__class__ = _Package
