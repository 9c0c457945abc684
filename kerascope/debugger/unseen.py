"""Models that the debugger does not record, because they are trained in another thread.

Stages are recorded in the thread that observes them, the program's main thread. A profile hook of
`threading` notes that another thread has started; each thread calls the hook once and then removes
it. If no other thread has started, the debugger does not search for models that were trained
without being recorded.
"""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kerascope.backend.function import Function
from kerascope.engine.network import Network
from kerascope.trace.recorder import Recorder
from kerascope.trace.records import listed


class UnseenModels:
    """Finds models that a debugged program trains in other threads.

    Attributes
    ----------
    has_threads : bool
        Whether another thread has started.
    """

    def __init__(self) -> None:
        self.has_threads = False
        self._before: weakref.WeakSet[Function] = weakref.WeakSet()

    @contextmanager
    def noting_threads(self) -> Iterator[None]:
        """Detect threads that start inside a `with` block."""
        before: Any = threading.getprofile()

        def started(*event: Any) -> None:
            if not self.has_threads:
                self.has_threads = True
                self._before.update(f for _, f in _trained_models())
            sys.setprofile(before)

        threading.setprofile(started)
        try:
            yield
        finally:
            threading.setprofile(before)

    def trained(self, recorder: Recorder | None) -> list[str]:
        """Return the names of models that were trained only in other threads."""
        if recorder is None or not self.has_threads:
            return []
        recorded = recorder.memory.plans
        trained = _trained_models()
        return sorted({name for name, f in trained if f not in recorded and f not in self._before})

    def words(self, recorder: Recorder | None) -> str:
        """Return advice about models that were trained in other threads; "" without such models."""
        names = self.trained(recorder)
        if not names:
            return ""
        verb = "was" if len(names) == 1 else "were"
        return (
            f"{listed(names, 3)} {verb} trained in another thread, which the debugger does not "
            "watch. Call `fit` in the main thread."
        )


def _trained_models() -> list[tuple[str, Function]]:
    """Return (model name, train function) for each existing model with a train function."""
    models = [x for x in gc.get_objects() if issubclass(type(x), Network)]
    pairs = [(model.name, vars(model).get("train_function")) for model in models]
    return [(name, function) for name, function in pairs if function is not None]
