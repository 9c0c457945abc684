"""The graph of a model, made by calls of layers or by the `call` of a subclassed model.

A call is recorded in a Node if an input has a history. The `call` of a subclassed model starts from
tensors with a history too. It may also call layers on constants, and compute between layers; these
calls and operations are part of the model's graph as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kerascope.backend.graph import Tensor, is_eager
from kerascope.backend.scopes import current_scope, name_scope
from kerascope.engine.around import CalledLayer
from kerascope.engine.policies.assigned import calls_in_order, enter_assigned, making_model
from kerascope.engine.policies.enclosing import EnclosingCall, is_inside_call
from kerascope.spellings import override_dialect


def is_in_model(tensor: Tensor) -> bool:
    """Return whether a layer's call on this tensor makes a Node in the graph of a model."""
    return tensor._keras_history is not None or model_being_made() is not None


def model_being_made() -> tuple[CalledLayer, list[Tensor]] | None:
    """Return the subclassed model whose `call` is running, and its inputs.

    Return None outside of such calls, and while the `call` of one of the model's layers is running.
    """
    return making_model.get() if is_making_graph() and not is_inside_call() else None


def is_making_graph() -> bool:
    """Return whether the graph of a model or a loss is being made, outside of layers.

    If so, a call of a layer on arrays returns symbols, because the layer's weights will change.
    """
    scope = current_scope()
    return scope.makes_graph and scope.made_at is None and not is_eager()


def record_call_in_model(layer: CalledLayer, inputs: list[Tensor]) -> None:
    """Record a layer's call inside the `call` of a subclassed model, for the model's losses."""
    model, model_inputs = model_being_made() or (None, [])
    if model is not None:
        model.record_inner_call(layer, inputs, model_inputs)


@contextmanager
def call_of_model(model: CalledLayer, inputs: list[Tensor]) -> Iterator[None]:
    """In the `with` block, make Nodes of the calls and operations of a subclassed model."""
    # The scope has no line, because an op of this call is between layers, not inside a layer.
    options = override_dialect(wraps_operations=True)
    with options, name_scope(model.name), calls_in_order(model, inputs) as assigned:
        yield
        enter_assigned(EnclosingCall(model, inputs, inputs), assigned, None)
