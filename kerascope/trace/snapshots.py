"""Descriptions of live objects on a tape: plain data that stays valid.

A tape may be used after its model is deleted, and it can be saved to a file. So a tape contains no
layers, nodes or tensors, but immutable descriptions of them (`LayerRef`, `NodeRef`, `TensorRef`).
Containers are copied, with names as keys. Arrays are not copied, because the engine never writes
into an array that a function has computed or committed.

Lesson: chapter 12.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from kerascope.backend.function import Function
from kerascope.backend.graph import Tensor
from kerascope.engine.base_layer import Layer
from kerascope.engine.node import Node
from kerascope.nested_values import replaced
from kerascope.printable import printable, printable_lines


class Removed(Enum):
    """The value in a delta that removes the key of the delta from a container."""

    REMOVED = "removed"

    def __repr__(self) -> str:
        return "REMOVED"


REMOVED = Removed.REMOVED


@dataclass(frozen=True, slots=True)
class TensorRef:
    """The description of a symbolic tensor: its name, shape and dtype."""

    name: str
    shape: tuple[int | None, ...]
    dtype: str

    def __repr__(self) -> str:
        return f"<{printable(self.name)} {self.dtype}{list(self.shape)}>"


@dataclass(frozen=True, slots=True)
class NodeRef:
    """The description of a Node: its key "dense_1_ib-0", the layer's name, and the call's index."""

    name: str
    layer: str
    node_index: int

    def __repr__(self) -> str:
        return f"<node {printable(self.name)}>"


@dataclass(frozen=True, slots=True)
class LayerRef:
    """The description of a layer or model: its name and its class."""

    name: str
    kind: str

    def __repr__(self) -> str:
        return f"<{self.kind} {printable(self.name)}>"


@dataclass(frozen=True, slots=True)
class ErrorRef:
    """The description of an exception: its class and its text."""

    kind: str
    text: str

    def __repr__(self) -> str:
        return f"{self.kind}: {printable_lines(self.text)}"


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """The description of any other object: its class and its name."""

    kind: str
    name: str

    def __repr__(self) -> str:
        return f"<{self.kind} {printable(self.name)}>"


REFS = (TensorRef, NodeRef, LayerRef, ErrorRef, ObjectRef)


class Describer:
    """Makes one description for each live object, and finds the object of a description."""

    def __init__(self) -> None:
        self._refs: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._objects: dict[int, tuple[Any, weakref.ref[Any]]] = {}
        self._keys: weakref.WeakKeyDictionary[Tensor, str] = weakref.WeakKeyDictionary()
        self._owners: weakref.WeakValueDictionary[str, Tensor] = weakref.WeakValueDictionary()

    def ref(self, thing: Any) -> Any:
        """Return the description of a tensor, node or layer.

        Examples
        --------
        >>> from kerascope import backend as K
        >>> Describer().ref(K.placeholder((None, 3), name="x"))
        <x float32[None, 3]>
        """
        found = self._refs.get(thing)
        if found is None:
            found = _described(thing)
            self._refs[thing] = found
            # The description is stored with the weak reference, so that its id stays unique.
            self._objects[id(found)] = (found, weakref.ref(thing))
        return found

    def key(self, tensor: Tensor) -> str:
        """Return a name for a tensor that no other live tensor has, such as "shared/add~2"."""
        key = self._keys.get(tensor)
        if key is None:
            key, number = tensor.name, 1
            while key in self._owners:
                number += 1
                key = f"{tensor.name}~{number}"
            self._owners[key] = tensor
            self._keys[tensor] = key
        return key

    def live(self, value: Any) -> Any:
        """Return a value with descriptions replaced by their objects, or by None if deleted."""

        def living(described: Any) -> Any:
            _, reference = self._objects.get(id(described), (None, None))
            return reference() if reference is not None else None

        return replaced(value, REFS, living)

    def snapshot(self, value: Any, keys: Mapping[Any, str] | None = None) -> Any:
        """Return a deep copy of a value in which descriptions replace the live objects.

        Parameters
        ----------
        value : object
            The value of a local name.
        keys : mapping, optional
            The texts that replace objects used as keys of dicts or as elements of sets. By default
            a node or layer is replaced by its name, and a tensor by `key(tensor)`.
        """
        if isinstance(value, dict):
            return {self._key(k, keys): self.snapshot(item, keys) for k, item in value.items()}
        if isinstance(value, (list, tuple)):
            items = [self.snapshot(item, keys) for item in value]
            return items if isinstance(value, list) else tuple(items)
        if isinstance(value, (set, frozenset)):
            return sorted(str(self._key(item, keys)) for item in value)
        if isinstance(value, np.ndarray):
            return value.copy()
        if value is None or isinstance(value, (bool, int, float, str, np.generic, Enum, *REFS)):
            return value
        return self.describe(value)

    def describe(self, thing: Any) -> Any:
        """Return the description of a layer, node, tensor, exception or other object."""
        if isinstance(thing, (Tensor, Node, Layer)):
            return self.ref(thing)
        return _described(thing)

    def _key(self, thing: Any, keys: Mapping[Any, str] | None) -> Any:
        if thing is None or isinstance(thing, (bool, int, float, str)):
            return thing
        if keys is not None and thing in keys:
            return keys[thing]
        return self.key(thing) if isinstance(thing, Tensor) else getattr(thing, "name", str(thing))


def _described(thing: Any) -> Any:
    if isinstance(thing, Tensor):
        return TensorRef(thing.name, tuple(thing.shape), thing.dtype)
    if isinstance(thing, Node):
        return NodeRef(thing.name, thing.outbound_layer.name, thing.node_index)
    if isinstance(thing, Layer):
        return LayerRef(thing.name, type(thing).__name__)
    if isinstance(thing, BaseException):
        return error_ref(thing)
    if isinstance(thing, Function):
        return ObjectRef("Function", thing.name)
    name = getattr(thing, "__name__", None) or getattr(thing, "name", "")
    return ObjectRef(type(thing).__name__, str(name))


def error_ref(error: BaseException | None) -> ErrorRef:
    """Return the description of an exception: its class and the first line of its message.

    For None, which means that the work was abandoned, the class is "abandoned".

    Examples
    --------
    >>> error_ref(ValueError("too long"))
    ValueError: too long
    """
    if error is None:
        return ErrorRef("abandoned", "")
    return ErrorRef(type(error).__name__, (str(error).splitlines() or [""])[0])


def same(one: Any, other: Any) -> bool:
    """Return whether two values of deltas are equal, arrays bit for bit.

    Examples
    --------
    >>> same({"a": np.array([1.0, np.nan])}, {"a": np.array([1.0, np.nan])})
    True
    >>> same((1, np.zeros(2)), (1, np.zeros(3))), same(1, True), same(0.0, 0.0)
    (False, False, True)
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, (np.ndarray, np.generic)):
        one, other = np.asarray(one), np.asarray(other)
        alike = one.dtype == other.dtype and one.shape == other.shape
        return bool(alike and one.tobytes() == other.tobytes())
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, float):
        return bool(one == other or (one != one and other != other))
    return bool(one == other)
