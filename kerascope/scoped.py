"""Values that are in force during a `with` block, even if Ctrl-C ends the block.

A context variable that is set before a `try` and reset in its `finally` stays set if Ctrl-C comes
between the two. So the block ends by a single call into C, which no signal handler interrupts: it
closes a file in memory. The values in force are those whose file is open.
"""

from __future__ import annotations

import io
import weakref
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any


class _Block(io.BytesIO):
    """A value that is in force as long as this file, which is always empty, is open."""

    def __init__(self, value: Any, blocks: Scoped) -> None:
        super().__init__()
        self.value = value
        self._blocks = blocks

    def __enter__(self) -> None:  # type: ignore[override]
        try:
            self._blocks.push(self)
        except BaseException:  # `__exit__` is not called then
            self.close()
            raise


class Scoped:
    """The values of all open blocks in this context, the outermost first."""

    def __init__(self, name: str) -> None:
        self.open: ContextVar[tuple[weakref.ref[_Block], ...]] = ContextVar(name, default=())

    def holding(self, value: Any) -> AbstractContextManager[None]:
        """Put a value in force inside the `with` block."""
        return _Block(value, self)

    def push(self, block: _Block) -> None:
        """Open a block."""
        self.values()
        self.open.set((*self.open.get(), weakref.ref(block)))

    def values(self) -> list[Any]:
        """Return the values in force, and drop those of blocks that have ended."""
        references = self.open.get()
        if not references:
            return []
        blocks = [(ref, ref()) for ref in references]
        still = [(ref, one) for ref, one in blocks if one is not None and not one.closed]
        if len(still) < len(references):
            self.open.set(tuple(ref for ref, _ in still))
        return [one.value for _, one in still]
