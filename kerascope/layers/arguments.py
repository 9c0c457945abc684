"""Types and checks of the layers' constructor arguments.

Each function that checks a number returns the number or raises an error. `make_weight` adds a
weight to a layer, with the initializer, regularizer and constraint from the layer's constructor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from kerascope.backend import Tensor, Variable
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError

# An activation, initializer, regularizer or constraint: its name, its configuration, an object or
# your own function. `activations.get` and the other functions `get` convert it.
Identifier = str | dict[str, Any] | Callable[..., Any] | None

Sizes = int | Sequence[int]  # one for each spatial axis, or one for all
Tensors = Tensor | list[Tensor]
Masks = Tensor | list[Tensor | None] | None
Training = bool | int | Tensor | None  # None: decided by the learning phase


def positive_int(value: Any, where: str) -> int:
    """Return the number `value` as an int; raise an error unless it is a whole number above 0.

    Raises
    ------
    ArgumentError
        The value is not a whole number above 0.

    Examples
    --------
    >>> positive_int(64.0, "Dense 'dense_1': units")
    64
    """
    try:
        whole = int(value)
    except (TypeError, ValueError):
        whole = 0
    if whole < 1 or whole != value:
        raise ArgumentError(f"{where}: expected a whole number above 0, got {value!r}.")
    return whole


def fraction(value: Any, where: str) -> float:
    """Return the number `value` as a float; raise an error unless it is in [0, 1).

    Raises
    ------
    ArgumentError
        The value is not a number in [0, 1).

    Examples
    --------
    >>> fraction(0, "Dropout 'dropout_1': rate")
    0.0
    """
    if isinstance(value, (str, bytes)) or value is None or not 0 <= value < 1:
        raise ArgumentError(f"{where}: expected a number from 0 to below 1, got {value!r}.")
    return float(value)


def number(value: Any, where: str, least: float | None = None) -> float:
    """Return the number `value` as a float; raise an error if it is less than `least`.

    Raises
    ------
    ArgumentError
        The value is not a number, or is below `least`.

    Examples
    --------
    >>> number(1, "ReLU 're_lu_1': max_value", least=0)
    1.0
    """
    is_text = isinstance(value, (str, bytes))
    try:
        result = float("nan") if is_text else float(value)
    except (TypeError, ValueError):
        result = float("nan")
    if math.isnan(result) or (least is not None and result < least):
        wanted = "a number" if least is None else f"a number >= {least}"
        raise ArgumentError(f"{where}: expected {wanted}, got {value!r}.")
    return result


def make_weight(layer: Layer, name: str, shape: Shape, of: str | None = None) -> Variable:
    """Add a weight with the layer's initializer, regularizer and constraint for this weight.

    Parameters
    ----------
    layer : Layer
    name : str
        Name of the weight, such as "kernel".
    shape : tuple of int
    of : str, optional
        Prefix of the three attributes of the layer; default `name`. For example, "depthwise" means
        `depthwise_initializer`, `depthwise_regularizer` and `depthwise_constraint`.
    """
    word = of or name
    return layer.add_weight(
        name=name,
        shape=shape,
        initializer=getattr(layer, f"{word}_initializer"),
        regularizer=getattr(layer, f"{word}_regularizer", None),
        constraint=getattr(layer, f"{word}_constraint", None),
    )
