"""How a layer builds and calls its inner layers.

An inner layer belongs to no graph: it is called on tensors without a history, so that no Node is
made and the outer layer stays one box in a diagram. Its losses and updates are found through the
outer call.
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shapes
from kerascope.engine.base_layer import Layer
from kerascope.engine.policies.undo import Transaction


def build_inside(layer: Any, input_shape: Shapes, **further_shapes: Any) -> None:
    """Make the weights of an inner layer, if it has none yet."""
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
    """Return the same tensors, also in lists, without their history: calls on them make no Node."""
    if isinstance(value, (list, tuple)):
        return [without_history(item) for item in value]
    if isinstance(value, Tensor) and value._keras_history is not None:
        return K.identity(value)
    return value
