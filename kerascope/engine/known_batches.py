"""A cache of checked data shapes: batches like earlier ones are not checked again.

`train_on_batch` checks the names, axes and lengths of its data and the form of the labels. The
result depends only on the types and shapes of the arrays and on the function that receives them. So
arrays with the same types and shapes as earlier ones are not checked again, and a loop around
`train_on_batch` costs little more than the steps themselves. Other data (lists of numbers, sample
weights, new shapes) are checked in full each time, by `feeding`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.constants import is_constant_ones, ones_of
from kerascope.backend.function import Function
from kerascope.backend.graph import Placeholder
from kerascope.backend.state import PHASE, learning_phase
from kerascope.engine.arguments import to_list
from kerascope.engine.base_layer import Layer, layers_within
from kerascope.engine.feeds import USUAL_BATCH_SIZE

MOST_SHAPES = 64


class Conversion(NamedTuple):
    """How data whose shapes were checked before are converted to the arrays of a function.

    Attributes
    ----------
    columns : tuple of bool, or None
        Whether each array receives an axis at its end; None if no array does.
    weights : list of (array or tuple of int)
        The default sample weights of each output: the shared array of ones, or its shape if the
        array is too large to keep.
    """

    columns: tuple[bool, ...] | None
    weights: list[np.ndarray | tuple[int, ...]]


class KnownBatches:
    """The shapes of batches that passed the checks for one function and are not checked again.

    Parameters
    ----------
    function : Function
        The function that receives the data. `compile` makes a new function, for which no shapes are
        known yet.
    layers : list of Layer
        Layers whose `trainable` must stay the same. After a change the next batch is checked in
        full, which shows a warning.
    """

    def __init__(self, function: Function, layers: Sequence[Any] = ()) -> None:
        self.function = function
        # Attributes are read from the layers' dicts if possible, because this runs for each batch.
        stores = [type(layer).trainable is Layer.trainable for layer in layers]
        self._stored = [vars(x) for x, is_stored in zip(layers, stores, strict=True) if is_stored]
        self._overriding = [x for x, is_stored in zip(layers, stores, strict=True) if not is_stored]
        self._state = self._state_of_layers()
        self._has_phase = bool(function.inputs) and function.inputs[-1] is PHASE
        self._demands_size = any(x.ndim and x.shape[0] is not None for x in function.inputs)
        self._conversions: dict[Any, Conversion] = {}

    @property
    def is_current(self) -> bool:
        """Whether no layer's `trainable` or number of weights has changed since the checks."""
        return not self._state or self._state_of_layers() == self._state

    def arrays(self, x: Any, y: Any, phase: float) -> list[Any] | None:
        """Return the arrays to feed for `x` and `y`; None if `x` and `y` must be checked first."""
        conversion = self._conversions.get(_key_of(x, y))
        if conversion is None or not self.is_current:
            return None
        ins = _flat(x, y)
        if conversion.columns is not None:
            ins = [
                array[..., np.newaxis] if is_flat else array
                for array, is_flat in zip(ins, conversion.columns, strict=True)
            ]
        for weights in conversion.weights:
            ins.append(ones_of(weights) if type(weights) is tuple else weights)
        if self._has_phase:
            fixed = learning_phase()
            ins.append(phase if isinstance(fixed, Placeholder) else float(fixed))
        return ins

    def is_one_batch(self, ins: list[Any], batch_size: int | None) -> bool:
        """Return whether the arrays `ins` certainly fit into one batch."""
        if self._demands_size or not ins or type(ins[0]) is not np.ndarray:
            return False
        if batch_size is None:
            return ins[0].shape[0] <= USUAL_BATCH_SIZE
        return type(batch_size) is int and batch_size >= ins[0].shape[0]

    def note(self, x: Any, y: Any, ins: list[Any]) -> None:
        """Store how `x` and `y` are converted to the function's arrays `ins`.

        Nothing is stored if the conversion does more than add an axis at the end of arrays.
        """
        key = _key_of(x, y)
        if key is None:
            return
        given = _flat(x, y)
        columns = [_is_column_of(array, came) for array, came in zip(ins, given, strict=False)]
        if None in columns:
            return
        if len(self._conversions) >= MOST_SHAPES:
            del self._conversions[next(iter(self._conversions))]  # the oldest conversion
        weights = ins[len(given) : len(ins) - self._has_phase]
        self._conversions[key] = Conversion(
            tuple(map(bool, columns)) if any(columns) else None,
            [array if is_constant_ones(array) else array.shape for array in weights],
        )

    def _state_of_layers(self) -> list[Any]:
        state = [(x["trainable"], len(x["_trainable_weights"])) for x in self._stored]
        if self._overriding:
            state += [(x.trainable, len(x._trainable_weights)) for x in self._overriding]
        return state


def ready_arrays(model: Any, name: str, x: Any, y: Any, phase: float) -> list[Any] | None:
    """Return the arrays to feed to the function `name`; None if the data must be checked first."""
    known = model._known_batches.get(name)
    if known is None or known.function is not getattr(model, name):
        return None
    return known.arrays(x, y, phase)


def are_current(model: Any) -> bool:
    """Return whether a training batch was checked, and no layer's `trainable` changed after it."""
    known = model._known_batches.get("train_function")
    return known is not None and known.function is model.train_function and known.is_current


def is_one_batch(model: Any, ins: list[Any], batch_size: int | None) -> bool:
    """Return whether arrays for the predict function are certainly a single batch."""
    known = model._known_batches.get("predict_function")
    return known is not None and known.is_one_batch(ins, batch_size)


def note_arrays(model: Any, name: str, x: Any, y: Any, ins: list[Any]) -> None:
    """Store that the data `x` and `y` passed the checks for the model's function `name`."""
    known = model._known_batches.get(name)
    function = getattr(model, name)
    if known is None or known.function is not function or not known.is_current:
        is_to_train = name == "train_function"
        if is_to_train and model._is_trainable_elsewhere():
            return  # the next batch warns again
        known = KnownBatches(function, layers_within(model) if is_to_train else ())
        model._known_batches = {**model._known_batches, name: known}
    known.note(x, y, ins)


def _key_of(x: Any, y: Any) -> Any:
    """Return the types and shapes of the data as a key; None if not all data are arrays."""
    if type(x) is np.ndarray and type(y) is np.ndarray:
        return x.shape, x.dtype, y.shape, y.dtype
    if type(x) is np.ndarray and y is None:
        return x.shape, x.dtype
    keys = _key_of_one(x), _key_of_one(y)
    return None if None in keys else keys


def _key_of_one(data: Any) -> Any:
    if data is None:
        return "nothing"
    if type(data) is np.ndarray:
        return data.shape, data.dtype
    if type(data) is not list or not all(type(array) is np.ndarray for array in data):
        return None
    return "list", tuple((array.shape, array.dtype) for array in data)


def _flat(x: Any, y: Any) -> list[Any]:
    """Return the arrays of `x`, then those of `y`."""
    if type(x) is np.ndarray and type(y) is np.ndarray:
        return [x, y]
    if type(x) is np.ndarray and y is None:
        return [x]
    return [*to_list(x), *to_list(y)]


def _is_column_of(array: Any, given: np.ndarray) -> bool | None:
    """Return True if an array is a view of `given` with one more axis, at its end.

    Return False if the array is `given` itself, and None if it is any other array.
    """
    if array is given:
        return False
    is_view = isinstance(array, np.ndarray) and np.may_share_memory(array, given)
    return True if is_view and array.shape == (*given.shape, 1) else None
