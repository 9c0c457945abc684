"""The decorator `row` for operations in modules that are imported when first needed.

In dialect "3", `row` makes an operation on the outputs of layers one layer, with the class and the
arguments of Keras 3, even if the operation consists of many ops. So a saved model contains one
layer for the operation, and a picture shows one box. Otherwise it is like the `row` of `keras_ops`,
which in dialect "3" makes a layer for each op.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor, is_eager
from kerascope.backend.scopes import current_scope
from kerascope.engine.operations import operations_before
from kerascope.layers.ops import keras_ops
from kerascope.layers.ops.on_anything import on_anything
from kerascope.layers.ops.operation import Operation
from kerascope.nested_values import flattened, found_in, replaced
from kerascope.spellings import dialect_options

__all__: list[str] = []

CORE, NUMPY, NN = keras_ops.CORE, keras_ops.NUMPY, keras_ops.NN
MATH, LINALG, IMAGE = keras_ops.MATH, "keras.src.ops.linalg", "keras.src.ops.image"


def as_one_layer(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function so that it accepts tensors, arrays and outputs of layers.

    The decorator works as `on_anything`, but in dialect "3", each call on outputs of layers makes
    one layer.
    """
    signature = inspect.signature(function)
    plain = on_anything(function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        makes_layer = not (is_eager() or current_scope().makes_graph)
        if makes_layer and dialect_options().wraps_operations:
            form = _form(signature, args, kwargs)
            if form is not None:
                inputs, pattern, options = form
                layer = Operation(name, pattern, options)
                return layer(inputs if len(inputs) > 1 else inputs[0])
        return plain(*args, **kwargs)

    return call


row = partial(keras_ops.row, callable_as=as_one_layer)


def _form(signature: inspect.Signature, args: Any, kwargs: Any) -> Any:
    """Return (inputs, pattern, options) for a call on outputs of layers; None for other calls.

    The pattern is the list of the arguments up to the last one with a tensor or an array. The
    options are the remaining arguments, by name.
    """
    tensors = list(dict.fromkeys(found_in((args, kwargs), Tensor)))
    inputs = [x for x in tensors if K.is_keras_tensor(x) or operations_before(x)]
    if not inputs or len(inputs) < len(tensors):
        return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    by_place: list[tuple[str, Any]] = []
    options: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            by_place += [("", one) for one in value]
        elif parameter.kind is parameter.VAR_KEYWORD:
            options.update(value)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            options[name] = value
        else:
            by_place.append((name, value))
    last = max(n for n, (name, value) in enumerate(by_place) if not name or _is_data(value))
    pattern = [_item(value, inputs) for _, value in by_place[: last + 1]]
    options = {**dict(by_place[last + 1 :]), **options}
    is_plain = not any(map(callable, flattened([pattern, options])[0]))
    return (inputs, pattern, options) if is_plain else None


def _is_data(value: Any) -> bool:
    return bool(found_in(value, (Tensor, np.ndarray)))


def _item(value: Any, inputs: Sequence[Tensor]) -> Any:
    """Return an argument as a value for JSON, with tensors and arrays replaced by dicts."""
    if isinstance(value, tuple) and found_in(value, Tensor):
        value = list(value)
    value = replaced(value, Tensor, lambda x: {"tensor": inputs.index(x)})
    return replaced(value, np.ndarray, _written)


def _written(array: np.ndarray) -> dict[str, Any]:
    config = {"value": array.tolist(), "dtype": array.dtype.name}
    return {"class_name": "__numpy__", "config": config}


def public(module: dict[str, Any], others: set[str]) -> list[str]:
    """Return the names of a module's operations: its public lower-case names not in `others`."""
    return sorted(x for x in {*module} - others if x.islower() and x[0] != "_")
