"""Modules of Keras that are not here yet: importing one says so, and what to use instead.

Python asks the finders in `sys.meta_path` one after the other; this one stands last, so that it
speaks only of modules that really are not there. The table is in `kerascope.not_yet`.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import Any

from kerascope.not_yet import not_yet


class NotYetFinder(MetaPathFinder):
    """A finder that finds nothing, but knows what Keras has."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """Return None.

        Raises
        ------
        NotYetError
            Keras has a module of this name.
        """
        package, _, name = fullname.rpartition(".")
        error = not_yet(package, name)
        if error is not None:
            raise error


def answer_missing_modules() -> None:
    """Let the imports of all modules that are not here yet say so."""
    if not any(isinstance(finder, NotYetFinder) for finder in sys.meta_path):
        sys.meta_path.append(NotYetFinder())
