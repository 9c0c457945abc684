"""The graph of a model, made by calls of layers, or by the `call` of a subclassed model.

A call gets a Node if its input has a history. The `call` of a subclassed model starts from tensors
with a history, too, but it may also call layers on constants, and compute between layers; all of
that is part of the model's graph.
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
    """Return whether a call on this tensor gets a Node: it has a history, or a model is made."""
    return tensor._keras_history is not None or model_being_made() is not None


def model_being_made() -> tuple[CalledLayer, list[Tensor]] | None:
    """Return the subclassed model whose `call` runs, and its inputs; None inside its layers."""
    return making_model.get() if is_making_graph() and not is_inside_call() else None


def is_making_graph() -> bool:
    """Return whether a graph is made outside all layers: that of a model, or of a loss.

    What a layer computes there from its weights is a symbol, even if it is called on numbers: the
    weights will change.
    """
    scope = current_scope()
    return scope.makes_graph and scope.made_at is None and not is_eager()


def record_call_in_model(layer: CalledLayer, inputs: list[Tensor]) -> None:
    """Record a call that the `call` of a subclassed model makes, for the model's losses."""
    model, model_inputs = model_being_made() or (None, [])
    if model is not None:
        model.record_inner_call(layer, inputs, model_inputs)


@contextmanager
def call_of_model(model: CalledLayer, inputs: list[Tensor]) -> Iterator[None]:
    """Let the `call` of a subclassed model make its graph: layers and operations become Nodes."""
    # The scope knows no line: an op of this call stands between layers, not inside of one.
    options = override_dialect(wraps_operations=True)
    with options, name_scope(model.name), calls_in_order(model, inputs) as assigned:
        yield
        enter_assigned(EnclosingCall(model, inputs, inputs), assigned, None)
