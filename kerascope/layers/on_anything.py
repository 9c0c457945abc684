"""How Keras 3's functions treat what they are given: tensors, arrays, or results of layers.

Keras 3 calls the same function on symbols and on numbers. Here `on_anything` decides, for each call
of a function that is written with K functions:

- inside a layer's `call`, or with a tensor that no layer made, it makes a graph;
- with the result of a layer, outside of any layer, it becomes a layer, which a `Model` can contain:
  in dialect "3" the engine sees to that (`engine.operations`), in others it is a Lambda;
- with arrays and numbers alone it computes at once and returns arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from numpy.typing import ArrayLike

from kerascope import backend as K
from kerascope.backend.eager import eager_mode, value_of
from kerascope.backend.graph import Tensor, is_eager
from kerascope.backend.scopes import current_scope
from kerascope.layers.core import Lambda
from kerascope.spellings import habits

TensorLike = Tensor | ArrayLike  # what Keras 3's functions take


def on_anything(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of tensors as one that takes arrays and results of layers too."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if is_eager() or current_scope().makes_graph:
            return function(*args, **kwargs)
        tensors = list(tensors_in((args, kwargs)))
        if not tensors:
            with eager_mode():
                return _with(function(*args, **kwargs), _number)
        made_by_layers = [tensor for tensor in tensors if K.is_keras_tensor(tensor)]
        if not made_by_layers or habits().wraps_operations:
            return function(*args, **kwargs)
        return _as_layer(function, args, kwargs, made_by_layers)

    return call


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors in nested lists, tuples and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)


def _with(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return nested lists, tuples and dicts with every other thing changed."""
    if isinstance(value, dict):
        return {name: _with(item, change) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_with(item, change) for item in value)
    return change(value)


def _number(value: Any) -> Any:
    return value_of(value) if isinstance(value, Tensor) else value


def _as_layer(function: Callable[..., Any], args: Any, kwargs: Any, tensors: list[Tensor]) -> Any:
    """Call the function inside a Lambda layer, whose inputs are the results of other layers."""
    inputs = list(dict.fromkeys(tensors))

    def body(given: Any) -> Any:
        come = given if isinstance(given, list) else [given]
        places = dict(zip(inputs, come, strict=True))

        def replaced(value: Any) -> Any:
            return places.get(value, value) if isinstance(value, Tensor) else value

        return function(*_with(args, replaced), **_with(kwargs, replaced))

    body.__name__ = function.__name__
    name = function.__name__.strip("_")
    layer = Lambda(body, name=f"{name}_{K.get_uid(name)}")
    return layer(inputs if len(inputs) > 1 else inputs[0])
