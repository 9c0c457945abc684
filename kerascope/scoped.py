"""Values that are active during a `with` block, and reset even if Ctrl-C ends the block.

If Ctrl-C arrives between setting a context variable and the following `try`, its `finally` never
resets the variable. So each value has an empty file in memory, and is active while this file is
open. The end of a block closes the file: a single call into C, which signal handlers cannot
interrupt.
"""

from __future__ import annotations

import io
import weakref
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any


class _Block(io.BytesIO):
    """A `with` block with its value, as an empty file in memory that is open during the block."""

    def __init__(self, value: Any, blocks: Scoped) -> None:
        super().__init__()
        self.value = value
        self._blocks = blocks

    def __enter__(self) -> None:  # type: ignore[override]
        try:
            self._blocks.push(self)
        except BaseException:  # `__exit__` is not called in this case
            self.close()
            raise


class Scoped:
    """A setting, such as the active observers, with the value of each open `with` block."""

    def __init__(self, name: str) -> None:
        self.open: ContextVar[tuple[weakref.ref[_Block], ...]] = ContextVar(name, default=())

    def holding(self, value: Any) -> AbstractContextManager[None]:
        """Activate a value inside the `with` block."""
        return _Block(value, self)

    def push(self, block: _Block) -> None:
        """Add a block that is being entered to the open blocks of this thread or task."""
        self.values()
        self.open.set((*self.open.get(), weakref.ref(block)))

    def values(self) -> list[Any]:
        """Return the active values, outermost first; remove the values of ended blocks."""
        references = self.open.get()
        if not references:
            return []
        blocks = [(ref, ref()) for ref in references]
        still = [(ref, one) for ref, one in blocks if one is not None and not one.closed]
        if len(still) < len(references):
            self.open.set(tuple(ref for ref, _ in still))
        return [one.value for _, one in still]
