"""Watch a script that trains with a real library: `kerascope run --live` and `trace --live`.

An import hook waits until the script imports the library. From then on, the function `watching` of
the library's adapter (a module of this package) records every model, without a change to the
script.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from kerascope.foreign import WATCHED, adapter_named
from kerascope.foreign.writer import TapeWriter
from kerascope.import_hook import OWN_ENGINE, when_imported


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
        self.libraries.append(library)
        adapter = adapter_named(library, library)
        self._watched.enter_context(adapter.watching(self.writer))

    def close(self) -> None:
        """Stop recording, and restore everything that was changed in the libraries."""
        self._watched.close()


@contextmanager
def watching(writer: TapeWriter) -> Iterator[LiveWatch]:
    """Record all models of the watched libraries that run in a `with` block."""
    watch = LiveWatch(writer)
    try:
        with when_imported((*WATCHED, OWN_ENGINE), watch.watch):
            yield watch
    finally:
        watch.close()
        writer.close()
