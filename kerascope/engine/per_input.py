"""Losses and updates of a layer, kept by the inputs that they belong to.

A layer that is called on two inputs makes two sets of updates; a model that contains only one of
the calls must run only its own. So each item is entered under the tensors that it depends on, or
under none if it holds whatever is fed (a penalty on a weight). The key is the tuple of tensors
themselves: Keras 1 and 2 use their `id()`, which a dead tensor's successor may get.
"""

from __future__ import annotations

from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.engine.nesting import to_list

Key = tuple[Tensor, ...]


class PerInput:
    """Lists of items, each under the inputs that they depend on."""

    def __init__(self) -> None:
        self._items: dict[Key, list[Any]] = {}
        self._keys: list[Key] = []  # of every item, in the order of their coming

    def add(self, items: Any, inputs: Any = None) -> None:
        """Enter one item or a list of them under `inputs`."""
        items, key = to_list(items), tuple(to_list(inputs))
        if items:
            self._items.setdefault(key, []).extend(items)
            self._keys.extend([key] * len(items))

    def forget_after(self, number: int) -> None:
        """Take out all that came after the first `number` items."""
        while len(self._keys) > number:
            key = self._keys.pop()
            self._items[key].pop()
            if not self._items[key]:
                del self._items[key]

    def of(self, inputs: Any) -> list[Any]:
        """Return the items of exactly these inputs; None gives those that depend on no input."""
        return list(self._items.get(tuple(to_list(inputs)), ()))

    def all(self) -> list[Any]:
        """Return every item."""
        return [item for items in self._items.values() for item in items]

    def copy(self) -> PerInput:
        """Return a copy that can be put back if a call fails."""
        twin = PerInput()
        twin._items = {key: list(items) for key, items in self._items.items()}
        twin._keys = list(self._keys)
        return twin

    __copy__ = copy

    def __len__(self) -> int:
        return len(self._keys)
