"""What a call assigns to variables: `variable.assign(value)` in a layer's `call`, as in Keras 3.

On symbols nothing is written: the pair (variable, new value) becomes an update of the layer, which
runs in training, test and prediction, since the call does. The calls of one graph that assign to
the same variable follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from kerascope.backend.eager import assigning
from kerascope.backend.graph import Tensor, is_eager
from kerascope.backend.update_order import CallUpdate
from kerascope.backend.variables import Variable
from kerascope.engine.around import CalledLayer

EnclosingCall = Any

# The model whose graph is being made, and its inputs, if its calls read what others have assigned.
making_model: ContextVar[tuple[CalledLayer, list[Tensor]] | None] = ContextVar(
    "model", default=None
)


@contextmanager
def calls_in_order(model: CalledLayer, inputs: list[Tensor]) -> Iterator[dict[Variable, Tensor]]:
    """Let each call in the `with` block read what the calls before it have assigned."""
    token = making_model.set((model, inputs))
    try:
        with assigning() as assigned:
            yield assigned
    finally:
        making_model.reset(token)


def enter_assigned(
    call: EnclosingCall, assigned: dict[Any, Any], before: dict[Any, Any] | None
) -> None:
    """Enter what a call has assigned among the updates of its layer.

    Parameters
    ----------
    call : EnclosingCall
    assigned : dict of Variable to value
        What it and the calls before it have assigned.
    before : dict of Variable to value, or None
        What was assigned before it; changed, since a call around this one reads the new values.
    """
    earlier = before or {}
    pairs = [(v, new) for v, new in assigned.items() if earlier.get(v) is not new]
    if before is not None:
        before.update(pairs)
    if pairs and not is_eager():
        call.layer._assigns = True
        model = making_model.get()
        chain = call.outermost if model is None else model[1]
        own = [CallUpdate.of(pair, call.inputs, chain) for pair in pairs]
        call.layer._updates.add(own, call.inputs, call)
    elif pairs and before is None:
        call.layer.add_update(pairs)
