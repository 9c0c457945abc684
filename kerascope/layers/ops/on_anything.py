"""The decorator of Keras 3's functions, which accept tensors, arrays and outputs of layers.

In Keras 3 the same function accepts tensors and arrays. `on_anything` decorates a function that
consists of K functions. What the decorated function returns depends on the call:

- Inside a layer's `call`, or if the tensors among the arguments are not outputs of layers, it
  returns a tensor.
- Outside of layers, if an argument is the output of a layer, the operation becomes a layer that a
  `Model` can contain. In dialect "3" the engine makes this layer (`engine/operations.py`).
  Otherwise it is a Lambda.
- If all arguments are arrays and numbers (in dialect "3" also variables), it computes and returns
  arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from kerascope import backend as K
from kerascope.backend.eager import eager_mode, value_of
from kerascope.backend.graph import Tensor, is_eager
from kerascope.backend.scopes import current_scope
from kerascope.backend.variables import Variable
from kerascope.layers.core import Lambda
from kerascope.layers.ops.element_types import explained, own_types
from kerascope.nested_values import found_in, replaced
from kerascope.spellings import dialect_options


def on_anything(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function of tensors so that it also accepts arrays and outputs of layers."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        tensors = found_in((args, kwargs), Tensor)
        args, kwargs = own_types((args, kwargs))
        if is_eager() or current_scope().makes_graph:
            return function(*args, **kwargs)
        is_keras_3 = dialect_options().wraps_operations
        if all(is_keras_3 and isinstance(tensor, Variable) for tensor in tensors):
            with eager_mode(), explained(function, args, kwargs):
                return replaced(function(*args, **kwargs), Tensor, value_of)
        made_by_layers = [tensor for tensor in tensors if K.is_keras_tensor(tensor)]
        if not made_by_layers or is_keras_3:
            return function(*args, **kwargs)
        return _as_layer(function, args, kwargs, made_by_layers)

    return call


def _as_layer(function: Callable[..., Any], args: Any, kwargs: Any, tensors: list[Tensor]) -> Any:
    """Call the function in a new Lambda layer, and return the layer's output."""
    inputs = list(dict.fromkeys(tensors))

    def body(given: Any) -> Any:
        come = given if isinstance(given, list) else [given]
        places = dict(zip(inputs, come, strict=True))
        taken = [replaced(one, Tensor, lambda x: places.get(x, x)) for one in (args, kwargs)]
        return function(*taken[0], **taken[1])

    body.__name__ = function.__name__
    name = function.__name__.strip("_")
    layer = Lambda(body, name=f"{name}_{K.get_uid(name)}")
    return layer(inputs if len(inputs) > 1 else inputs[0])
