"""Calls inside calls: which layer's `call` is running, and whose penalties and states it enters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from kerascope.backend.eager import assigning
from kerascope.backend.graph import ASSIGNED, Tensor, is_eager
from kerascope.backend.scopes import current_scope, name_scope
from kerascope.backend.update_order import CallUpdate
from kerascope.backend.variables import Variable
from kerascope.spellings import changed_habits

Layer = Any  # a type would be a circle


class LossesOfLastCall(NamedTuple):
    """The penalties of a layer for the last call on numbers, and who else entered some in it."""

    own: list[Tensor]
    layers: list[Layer]


class EnclosingCall(NamedTuple):
    """The call of a layer that is running, and the inputs of the outermost call around it.

    This very list of inputs identifies the outermost call, and is that of its Node: another call on
    the same tensors has another list.
    """

    layer: Layer
    inputs: list[Tensor]
    outermost: list[Tensor]


enclosing_call: ContextVar[EnclosingCall | None] = ContextVar("enclosing", default=None)

# The inputs of the Node for which a layer is asked for its losses and updates.
_asked_call: ContextVar[list[Tensor] | None] = ContextVar("asked_call", default=None)


@contextmanager
def only_of_call(inputs: list[Tensor]) -> Iterator[None]:
    """Let layers tell only what the call with this list of inputs has made."""
    token = _asked_call.set(inputs)
    try:
        yield
    finally:
        _asked_call.reset(token)


def of_call(items: list[tuple[Any, list[Tensor] | None]]) -> list[Any]:
    """Return the items that stand beside the call that is asked for; without one, all items.

    In Keras 1 and 2 a network that is called on the same tensors again does not run again. So what
    no call of this list has made is that of the first call.
    """
    asked = _asked_call.get()
    calls = {id(call): call for _, call in items if call is not None}
    if asked is None or len(calls) < 2:
        return [item for item, _ in items]
    chosen = calls.get(id(asked), next(iter(calls.values())))
    return [item for item, call in items if call is None or call is chosen]


# What layers add in the outermost call on numbers that is being made.
entered_losses: ContextVar[dict[Any, list[Tensor]] | None] = ContextVar("entered", default=None)


@contextmanager
def losses_of_a_call(layer: Layer) -> Iterator[None]:
    """Let the penalties of this call on numbers take the places of those of the last one.

    If the call fails, those of the last one stay.
    """
    entered: dict[Any, list[Tensor]] = {}
    token = entered_losses.set(entered)
    try:
        yield
    finally:
        entered_losses.reset(token)
    if entered or layer._last_call is not None:
        before = [] if layer._last_call is None else layer._last_call.layers
        for one in [*before, layer, *entered]:
            one._last_call = LossesOfLastCall(entered.get(one, []), [])
        layer._last_call = LossesOfLastCall(entered.get(layer, []), list(entered))


@contextmanager
def inside_call(layer: Layer, inputs: list[Tensor]) -> Iterator[None]:
    """Let the layers that are called inside the `with` block belong to this call of `layer`.

    So the moving averages of a BatchNormalization deep inside a layer of layers are found by the
    inputs of the outermost call, which is the only one that a model knows.

    What the call assigns to variables, as Keras 3 lets it, is entered among the layer's updates,
    which then run in training, test and prediction, as the call does.
    """
    outer = enclosing_call.get()
    if outer is not None:
        outer.layer.remember_call(layer, inputs, outer.inputs)
    outermost = inputs if outer is None else outer.outermost
    before = ASSIGNED.get()
    assigned = dict(before or {})
    token = enclosing_call.set(EnclosingCall(layer, inputs, outermost))
    token_of_assigned = ASSIGNED.set(assigned)
    try:
        yield
    finally:
        enclosing_call.reset(token)
        ASSIGNED.reset(token_of_assigned)
    if assigned:
        _enter_assigned(EnclosingCall(layer, inputs, outermost), assigned, before)


def _enter_assigned(call: EnclosingCall, assigned: dict[Variable, Any], before: Any) -> None:
    pairs = [(v, new) for v, new in assigned.items() if (before or {}).get(v) is not new]
    if before is not None:  # a call around this one reads the new values
        before.update(pairs)
    if pairs and not is_eager():
        call.layer._assigns = True
        model = making_model.get()
        chain = call.outermost if model is None else model[1]
        own = [CallUpdate.of(pair, call.inputs, chain) for pair in pairs]
        call.layer._updates.add(own, call.inputs, call)
    elif pairs and before is None:
        call.layer.add_update(pairs)


@contextmanager
def outside_calls() -> Iterator[None]:
    """Let the calls inside the `with` block belong to no call: those by which a model is built."""
    token = enclosing_call.set(None)
    try:
        yield
    finally:
        enclosing_call.reset(token)


def is_inside_call() -> bool:
    """Tell whether the `call` of a layer is running."""
    return enclosing_call.get() is not None


# The subclassed model whose `call` makes its graph, and the inputs on which it does.
making_model: ContextVar[tuple[Layer, list[Tensor]] | None] = ContextVar("model", default=None)


@contextmanager
def calls_in_order(model: Layer, inputs: list[Tensor]) -> Iterator[dict[Variable, Tensor]]:
    """Let each call in the `with` block read what the calls before it have assigned."""
    token = making_model.set((model, inputs))
    try:
        with assigning() as assigned:
            yield assigned
    finally:
        making_model.reset(token)


@contextmanager
def call_of_model(model: Layer, inputs: list[Tensor]) -> Iterator[None]:
    """Let the `call` of a subclassed model make its graph: layers and operations become Nodes."""
    # The scope knows no line: an op of this call stands between layers, not inside of one.
    habit = changed_habits(wraps_operations=True)
    with habit, name_scope(model.name), calls_in_order(model, inputs) as assigned:
        yield
        _enter_assigned(EnclosingCall(model, inputs, inputs), assigned, None)


def model_being_made() -> tuple[Layer, list[Tensor]] | None:
    """Return the subclassed model whose `call` runs, and its inputs; None inside of its layers."""
    return making_model.get() if is_making_graph() and not is_inside_call() else None


def remember_in_model(layer: Layer, inputs: list[Tensor]) -> None:
    """Note a call of a layer by the `call` of a subclassed model, whose losses are asked for."""
    model, model_inputs = model_being_made() or (None, [])
    if model is not None:
        model.remember_call(layer, inputs, model_inputs)


def is_making_graph() -> bool:
    """Return whether a graph is made outside of any layer: a model's, or that of a loss.

    What a layer computes there from its weights is a symbol, even if it is called on numbers: the
    weights will change.
    """
    scope = current_scope()
    return scope.makes_graph and scope.made_at is None and not is_eager()


def is_in_model(tensor: Tensor) -> bool:
    """Return whether a call on this tensor gets a Node: it has a history, or a model is made."""
    return tensor._keras_history is not None or model_being_made() is not None
