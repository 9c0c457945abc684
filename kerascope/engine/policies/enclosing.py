"""Calls inside calls: the layer whose `call` is running, and the outermost call around it.

A layer may call other layers in its own `call`. A model stores only the outermost call, in a Node.
So the updates of inner layers, such as the moving averages of a BatchNormalization, belong to the
inputs of that outermost call.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from kerascope.backend.graph import ASSIGNED, Tensor
from kerascope.engine.around import CalledLayer
from kerascope.engine.policies.assigned import enter_assigned


class EnclosingCall(NamedTuple):
    """The current call of a layer, and the inputs of the outermost call around it.

    The list object of the inputs identifies the outermost call. (The Node of this call has the same
    list object. A second call on the same tensors has another list object.)
    """

    layer: Any  # a Layer
    inputs: list[Tensor]
    outermost: list[Tensor]


enclosing_call: ContextVar[EnclosingCall | None] = ContextVar("enclosing", default=None)


def is_inside_call() -> bool:
    """Return whether the `call` of a layer is running."""
    return enclosing_call.get() is not None


@contextmanager
def inside_call(layer: CalledLayer, inputs: list[Tensor]) -> Iterator[None]:
    """Mark this call of `layer` as the enclosing call of calls inside the `with` block.

    Values that the call assigns to variables, as in Keras 3, are added to the layer's updates.
    """
    outer = enclosing_call.get()
    if outer is not None:
        outer.layer.record_inner_call(layer, inputs, outer.inputs)
    call = EnclosingCall(layer, inputs, inputs if outer is None else outer.outermost)
    before = ASSIGNED.get()
    assigned = dict(before or {})
    token = enclosing_call.set(call)
    token_of_assigned = ASSIGNED.set(assigned)
    try:
        yield
    finally:
        enclosing_call.reset(token)
        ASSIGNED.reset(token_of_assigned)
    if assigned:
        enter_assigned(call, assigned, before)


@contextmanager
def outside_calls() -> Iterator[None]:
    """Run the `with` block outside of all calls, so that a layer can build a model in it."""
    token = enclosing_call.set(None)
    try:
        yield
    finally:
        enclosing_call.reset(token)
