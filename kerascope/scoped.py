"""Values that hold as long as a `with` block, whatever ends the block.

A context variable that is set in a `try` and reset in a `finally` stays set if Ctrl-C comes between
the two. Here the end of the block is a call into C, before which no interrupt is heard: a file in
memory is closed. Whoever asks for the values finds those whose file is open.
"""

from __future__ import annotations

import io
import weakref
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any


class _Block(io.BytesIO):
    """A value, and whether its block goes on: the file is open. It is never written."""

    def __init__(self, value: Any, blocks: Scoped) -> None:
        super().__init__()
        self.value = value
        self._blocks = blocks

    def __enter__(self) -> None:  # type: ignore[override]
        try:
            self._blocks.push(self)
        except BaseException:  # then nobody calls `__exit__`
            self.close()
            raise


class Scoped:
    """The values of all blocks that are open in this context, the outermost first."""

    def __init__(self, name: str) -> None:
        self.open: ContextVar[tuple[weakref.ref[_Block], ...]] = ContextVar(name, default=())

    def holding(self, value: Any) -> AbstractContextManager[None]:
        """Let a value hold inside the `with` block."""
        return _Block(value, self)

    def push(self, block: _Block) -> None:
        """Open a block."""
        self.values()
        self.open.set((*self.open.get(), weakref.ref(block)))

    def values(self) -> list[Any]:
        """Return the values that hold; those of blocks that are over are dropped."""
        references = self.open.get()
        if not references:
            return []
        blocks = [(ref, ref()) for ref in references]
        still = [(ref, one) for ref, one in blocks if one is not None and not one.closed]
        if len(still) < len(references):
            self.open.set(tuple(ref for ref, _ in still))
        return [one.value for _, one in still]
