"""Calls a function after a script has imported a library, such as the real Keras.

Recording of live libraries and the debugger use it. They change nothing in a library that a script
does not import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

OWN_ENGINE = "my_engine"  # the package that a student writes with `kerascope learn`


@contextmanager
def when_imported(names: Sequence[str], notify: Callable[[str], Any]) -> Iterator[None]:
    """In a `with` block, call `notify(name)` for each of these modules when it is imported.

    For modules that are already imported, it is called at once.
    """
    hook = ImportHook(names, notify)
    sys.meta_path.insert(0, hook)
    try:
        for name in names:
            if name in sys.modules:
                hook.loaded(name)
        yield
    finally:
        sys.meta_path.remove(hook)


def announce(name: str) -> None:
    """Notify the active hooks of a module that was put into `sys.modules` without an import."""
    for hook in list(sys.meta_path):
        if isinstance(hook, ImportHook):
            hook.loaded(name)


class ImportHook(MetaPathFinder):
    """Finds modules as Python does, and calls a function once for each of `names` after loading."""

    def __init__(self, names: Sequence[str], notify: Callable[[str], Any]) -> None:
        self._waiting, self._notify = set(names), notify

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of one of the modules; None leaves other modules to Python."""
        if name not in self._waiting:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = partial(self._execute, spec.loader.exec_module)
            spec.loader.exec_module = execute  # type: ignore[method-assign]
        return spec

    def _execute(self, execute: Callable[[ModuleType], Any], module: ModuleType) -> None:
        execute(module)
        self.loaded(module.__name__)

    def loaded(self, name: str) -> None:
        """Notify of a module that has been loaded, if it is one of `names`, and only once."""
        if name in self._waiting:
            self._waiting.remove(name)
            self._notify(name)
