"""Finding the user's line: the innermost caller that is not kerascope itself.

Warnings point at it, and every layer remembers the one that made it.
"""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType

from kerascope.errors import KerascopeWarning
from kerascope.printable import printable_lines

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def line_outside_the_package() -> tuple[str, int] | None:
    """Return file and line of the innermost caller outside kerascope."""
    frame = frame_outside_the_package()
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def frame_outside_the_package() -> FrameType | None:
    """Return the innermost caller outside kerascope."""
    return _outside()[0]


def warn(message: str, category: type[Warning] = KerascopeWarning) -> None:
    """Warn at the user's own line, however deep in the package we are."""
    warnings.warn(printable_lines(message), category, stacklevel=_outside()[1])


def _outside() -> tuple[FrameType | None, int]:
    frame: FrameType | None = sys._getframe(2)
    level = 2
    while frame is not None:
        if not frame.f_code.co_filename.startswith((_PACKAGE, "<frozen")):
            return frame, level
        frame, level = frame.f_back, level + 1
    return None, 2
