"""Walking and recording what the engine does; pure data, nothing is printed here.

`walking.py` goes through a forward pass step by step with real arrays.

Two observers follow a program, each stage of it with an observer of its own (`observers.py`). The
recorder (`recorder.py`) writes `Event`s (`events.py`) on a tape (`tape_store.py`), and the stepper
(`stepper.py`) moves among them. The story (`story.py`), for `kerascope trace`, tells `Record`s
(`records.py`): what is told of each kind of stage is in `story.py` and `story_training.py`.

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
