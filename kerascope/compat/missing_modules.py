"""Names and modules of Keras that are not here yet: importing one says so, and what to use.

Python asks the finders in `sys.meta_path` one after the other; this one stands last, so that it
speaks only of what really is not there. For `from package import name` Python asks too, once it has
seen that the package has no such attribute. The table is in `kerascope.not_yet`.
"""

from __future__ import annotations

import sys
from typing import Any

from kerascope.errors import NotYetImportError
from kerascope.not_yet import words_for


class NotYetFinder:
    """A finder that finds nothing, but knows what Keras has."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """Return None.

        Raises
        ------
        NotYetImportError
            Keras has a module of this name, or a module with this name in it.
        """
        package, _, name = fullname.rpartition(".")
        words = words_for(package, name)
        if words is not None:
            raise NotYetImportError(words)


def answer_missing_modules() -> None:
    """Let the imports of all modules that are not here yet say so."""
    if not any(isinstance(finder, NotYetFinder) for finder in sys.meta_path):
        finder: Any = NotYetFinder()  # no MetaPathFinder: importlib.abc takes long to import
        sys.meta_path.append(finder)
