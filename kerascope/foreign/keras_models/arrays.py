"""The arrays of Keras's backends: their classes, their identity, and their numbers."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import count
from typing import Any

import numpy as np

from kerascope.foreign.records import Value

# Backend -> module and name of the class of its arrays, and of the class of abstract arrays, which
# represent later values, or None. In JAX, a tracer is also an instance of the array class.
_CLASSES: dict[str, tuple[tuple[str, str], tuple[str, str] | None]] = {
    "jax": (("jax", "Array"), ("jax.core", "Tracer")),
    "torch": (("torch", "Tensor"), None),
    "tensorflow": (("tensorflow", "Tensor"), None),
    "numpy": (("numpy", "ndarray"), None),
}


class Arrays:
    """Operations on the arrays of Keras that depend on Keras's backend.

    Parameters
    ----------
    keras : module
    """

    def __init__(self, keras: Any) -> None:
        self._read = keras.ops.convert_to_numpy
        self._copy = keras.ops.copy
        self._masks = import_module("keras.src.backend")
        self.backend: str = keras.backend.backend()
        own, abstract = _CLASSES.get(self.backend, _CLASSES["numpy"])
        self.own: type = _class(*own)
        self.abstract = () if abstract is None else (_class(*abstract),)
        self._symbolic = keras.KerasTensor
        self.variable = keras.Variable
        self._kinds = (self.own, np.ndarray, self._symbolic, self.variable)
        self._numbers: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._next = count(1)

    def inside(self, value: Any) -> list[Any]:
        """Return a flat list of the arrays in nested lists, tuples and dicts, in Keras's order."""
        if isinstance(value, self._kinds):
            return [value]
        if isinstance(value, (list, tuple)):
            return [found for item in value for found in self.inside(item)]
        if isinstance(value, dict):
            return [found for key in _ordered(value) for found in self.inside(value[key])]
        return []

    def replaced(self, value: Any, new: Iterator[Any]) -> Any:
        """Return nested lists, tuples and dicts in which each array is replaced by a new one."""
        if isinstance(value, self._kinds):
            return next(new)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*[self.replaced(item, new) for item in value])
        if isinstance(value, (list, tuple)):
            return type(value)([self.replaced(item, new) for item in value])
        if isinstance(value, dict):
            found = {key: self.replaced(value[key], new) for key in _ordered(value)}
            return type(value)((key, found[key]) for key in value)
        return value

    def is_symbolic(self, array: Any) -> bool:
        """Return whether an array has only a shape, usually because Keras only infers shapes."""
        if isinstance(array, self._symbolic):
            return True
        return self.backend == "torch" and getattr(array, "is_meta", False)

    def is_traced(self, array: Any) -> bool:
        """Return whether an array is a placeholder while JAX or TensorFlow compile a function."""
        if isinstance(array, self.abstract):
            return True
        is_of_graph = self.backend == "tensorflow" and isinstance(array, self.own)
        return is_of_graph and not hasattr(array, "numpy")

    def token(self, array: Any) -> Any:
        """Return the token of an array, which changes when PyTorch writes to the array."""
        if isinstance(array, self.variable):
            return "variable", id(array)
        known = self._numbers.get(id(array))
        if known is None or known[0]() is not array:
            known = self._numbers[id(array)] = (weakref.ref(array), next(self._next))
        version = getattr(array, "_version", None)  # only PyTorch tensors have it
        return known[1] if version is None else (known[1], version)

    def is_known(self, array: Any) -> bool:
        """Return whether an array was given a token before."""
        known = self._numbers.get(id(array))
        return known is not None and known[0]() is array

    def same(self, new: Any, old: Any) -> None:
        """Give the array `new` the token of `old`, because both hold the same numbers."""
        if new is not old and isinstance(new, (self.own, np.ndarray)):
            self.token(old)
            self._numbers[id(new)] = (weakref.ref(new), self._numbers[id(old)][1])

    def value(self, array: Any) -> Value:
        """Return an array as a `Value` for the recorder, which reads the numbers later."""
        held = array.value if isinstance(array, self.variable) else array
        shape = tuple(held.shape)
        dtype = str(getattr(held.dtype, "name", held.dtype)).removeprefix("torch.")
        return Value(self.token(array), shape, dtype, lambda: self.numbers(held))

    def kept(self, array: Any) -> Value:
        """Return an array as a `Value` with a copy of its numbers, safe from later changes."""
        value, copy = self.value(array), np.array(self.numbers(array))
        return value._replace(read=lambda: copy)

    def numbers(self, array: Any) -> np.ndarray:
        """Return an array as a NumPy array, with float32 for a dtype that NumPy lacks."""
        if isinstance(array, self.variable):
            array = array.value
        found = np.asarray(array if isinstance(array, np.ndarray) else self._read(array))
        return found if found.dtype.kind in "fiubcSUO" else found.astype("float32")

    def apart(self, array: Any) -> Any:
        """Return a copy of an array, which has another identity and the same Keras mask."""
        return self.masked(self._copy(array), array)

    def masked(self, array: Any, like: Any) -> Any:
        """Return an array with the Keras mask of `like`. If `like` has none, nothing is changed."""
        mask = self._masks.get_keras_mask(like)
        if mask is not None:
            self._masks.set_keras_mask(array, mask)
        return array


def _class(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def _ordered(value: Mapping[Any, Any]) -> list[Any]:
    """Return the keys of a dict in the order in which Keras flattens it: sorted if possible."""
    try:
        return sorted(value)
    except TypeError:
        return list(value)
