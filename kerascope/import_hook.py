"""Calls a function after a script has imported a library, such as the real Keras.

Recording of live libraries and the debugger use it. They change nothing in a library that a script
does not import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


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
                notify(name)
        yield
    finally:
        sys.meta_path.remove(hook)


def announce(name: str) -> None:
    """Notify the active hooks of a module that was put into `sys.modules` without an import."""
    for hook in list(sys.meta_path):
        if isinstance(hook, ImportHook) and name in hook.names:
            hook.notify(name)


class ImportHook(MetaPathFinder):
    """Finds modules as Python does, and calls a function when one of `names` has been loaded."""

    def __init__(self, names: Sequence[str], notify: Callable[[str], Any]) -> None:
        self.names, self.notify = names, notify

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module in `names`; None for others, which Python then finds."""
        if name not in self.names:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _NotifyingLoader(spec.loader, self)  # type: ignore[assignment]
        return spec


class _NotifyingLoader(Loader):
    """Loads a module with its own loader, and then notifies the hook."""

    def __init__(self, loader: Any, hook: ImportHook) -> None:
        self._loader = loader
        self._hook = hook

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module with the original loader. None means that Python creates the module."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code, and then notify the hook."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._hook.notify(module.__name__)
