"""Names of arrays in a program: those of the tensors, as Python can spell them."""

from __future__ import annotations

import keyword
import re
import sys
import unicodedata
from collections.abc import Iterable

TAKEN = ("np", "given", "fill", "write", "new_values", "outputs", "__debug__")


class Names:
    """Gives every slot one name, and each name once.

    Parameters
    ----------
    taken : iterable of str
        Names that mean something else.

    Examples
    --------
    >>> names = Names()
    >>> names.add(3, "dense_1/dot"), names.add(4, "dense_1/dot"), names.add(5, "2x")
    ('dense_1_dot', 'dense_1_dot_2', '_2x')
    """

    def __init__(self, taken: Iterable[str] = TAKEN) -> None:
        self._of_slots: dict[int, str] = {}
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def __getitem__(self, slot: int) -> str:
        return self._of_slots[slot]

    def __contains__(self, slot: int) -> bool:
        return slot in self._of_slots

    def add(self, slot: int, wanted: str) -> str:
        """Name a slot, if it has no name yet."""
        if slot not in self._of_slots:
            self._of_slots[slot] = self.free(wanted)
        return self._of_slots[slot]

    def set(self, slot: int, name: str) -> None:
        """Let a slot have a name that stands for the same array already."""
        self._of_slots[slot] = name

    def free(self, wanted: str) -> str:
        """Return a name like the one wanted that nothing has yet."""
        base = re.sub(r"\W", "_", unicodedata.normalize("NFKC", wanted)) or "x"
        if base[0].isdigit() or keyword.iskeyword(base):
            base = f"_{base}"
        if not base.isidentifier():
            base = re.sub(r"\W", "_", base, flags=re.ASCII)
        name, number = base, self._counts.get(base, 1)
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._counts[base] = number
        self._taken.add(name)
        return sys.intern(name)  # the compiled text has this very string too
