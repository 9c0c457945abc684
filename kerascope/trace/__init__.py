"""Walking and recording what the engine does; pure data, nothing is printed here.

`walking.py` goes through a forward pass step by step with real arrays. `story.py` is an observer
that turns the events of every stage into `Record`s (`records.py`), for `kerascope trace`; what it
says of each kind of stage is in the `tell_*.py` files, in the order of a script: build, compile,
train, call.

`recorder.py` writes `Event`s on a `tape.py`, and `stepper.py` moves among them.

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
