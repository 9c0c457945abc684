"""How a layer builds and calls its inner layers.

An inner layer belongs to no graph of layers: it is called on tensors without `KerasHistory`, so
these calls make no Node, and the outer layer is one box in a picture. The call of the outer layer
also collects the losses and updates of its inner layers.
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shapes
from kerascope.engine.base_layer import Layer
from kerascope.engine.policies.undo import Transaction


def build_inside(layer: Any, input_shape: Shapes, **further_shapes: Any) -> None:
    """Build an inner layer or a cell, unless `build` has been called on it before."""
    if not isinstance(layer, Layer):
        build = getattr(layer, "build", None)  # a cell may be any object with a call
        if build is not None and not getattr(layer, "built", False):
            build(input_shape, **further_shapes)
        return
    if layer.built:
        return
    undoing = Transaction(layer)
    with undoing.if_it_fails():
        layer.build(input_shape, **further_shapes)
        layer.built = True
        if layer._initial_weights is not None:
            layer.set_weights(layer._initial_weights)
            layer._initial_weights = None
    undoing.keep()


def without_history(value: Any) -> Any:
    """Return copies of tensors without `KerasHistory`, so that layer calls on them make no Node."""
    if isinstance(value, (list, tuple)):
        return [without_history(item) for item in value]
    if isinstance(value, Tensor) and value._keras_history is not None:
        return K.identity(value)
    return value
