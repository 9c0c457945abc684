"""A script that trains with a real library, watched: `kerascope run --live`, `trace --live`.

The library comes when the script imports it, so that is waited for. From then on its adapter's
`watching(writer)` hears every model; none of the script's lines is changed.
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
    """What is being watched.

    Attributes
    ----------
    libraries : list of str
        Those whose models are heard, in the order in which they were imported.
    """

    def __init__(self, writer: TapeWriter) -> None:
        self.writer = writer
        self.libraries: list[str] = []
        self._watched = ExitStack()

    def hear(self, library: str) -> None:
        """Hear the models of a library that has been imported."""
        if library not in self.libraries:
            self.libraries.append(library)
            adapter = adapter_named(library, library)
            self._watched.enter_context(adapter.watching(self.writer))

    def close(self) -> None:
        """Hear nothing any more; all that was changed in the libraries is as it was."""
        self._watched.close()


@contextmanager
def watching(writer: TapeWriter) -> Iterator[LiveWatch]:
    """Tell a writer of all models of real libraries that run in a `with` block."""
    watch = LiveWatch(writer)
    finder = _Finder(watch)
    sys.meta_path.insert(0, finder)
    try:
        for library in WATCHED:
            if library in sys.modules:
                watch.hear(library)
        yield watch
    finally:
        sys.meta_path.remove(finder)
        watch.close()
        writer.close()


class _Finder(MetaPathFinder):
    """Finds a library as Python does, and says so when it has been imported."""

    def __init__(self, watch: LiveWatch) -> None:
        self._watch = watch

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a library is; None for all else, which others find."""
        if name not in WATCHED:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Announcing(spec.loader, self._watch)  # type: ignore[assignment]
        return spec


class _Announcing(Loader):
    """Loads a library as its own loader does; then its models are heard."""

    def __init__(self, loader: Any, watch: LiveWatch) -> None:
        self._loader = loader
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Make the module, or leave it to Python."""
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code, and hear its models from then on."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._watch.hear(module.__name__)
