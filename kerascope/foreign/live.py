"""Watch a script that trains with a real library: `kerascope run --live` and `trace --live`.

An import hook waits until the script imports the library. From then on, the function `watching` of
the library's adapter (a module of this package) records every model, without a change to the
script.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from kerascope.foreign import WATCHED, adapter_named
from kerascope.foreign.writer import TapeWriter


class LiveWatch:
    """Records the models of each watched library that a script imports.

    Attributes
    ----------
    libraries : list of str
        Names of the libraries, in the order in which they were imported.
    """

    def __init__(self, writer: TapeWriter) -> None:
        self.writer = writer
        self.libraries: list[str] = []
        self._watched = ExitStack()

    def watch(self, library: str) -> None:
        """Record the models of a library that has been imported."""
        if library not in self.libraries:
            self.libraries.append(library)
            adapter = adapter_named(library, library)
            self._watched.enter_context(adapter.watching(self.writer))

    def close(self) -> None:
        """Stop recording, and restore everything that was changed in the libraries."""
        self._watched.close()


@contextmanager
def watching(writer: TapeWriter) -> Iterator[LiveWatch]:
    """Record all models of the libraries in `WATCHED` that run in a `with` block."""
    watch = LiveWatch(writer)
    finder = _Finder(watch)
    sys.meta_path.insert(0, finder)
    try:
        for library in WATCHED:
            if library in sys.modules:
                watch.watch(library)
        yield watch
    finally:
        sys.meta_path.remove(finder)
        watch.close()
        writer.close()


class _Finder(MetaPathFinder):
    """An import hook that starts to record the models of a library when it is imported."""

    def __init__(self, watch: LiveWatch) -> None:
        self._watch = watch

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module spec of a watched library; None leaves other modules to Python."""
        if name not in WATCHED:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _WatchingLoader(spec.loader, self._watch)  # type: ignore[assignment]
        return spec


class _WatchingLoader(Loader):
    """Loads a library with its own loader, and then records its models."""

    def __init__(self, loader: Any, watch: LiveWatch) -> None:
        self._loader = loader
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module with the original loader. None means that Python creates the module."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code, and then record its models."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._watch.watch(module.__name__)
