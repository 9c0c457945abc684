"""Assignments in calls: `variable.assign(value)` in a layer's `call`, as in Keras 3.

In a call on symbols no value is written. The pair (variable, new value) becomes an update of the
layer, which runs in training, test and prediction. If several calls of one graph assign to the same
variable, each call reads the value that the call before assigned.
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

# The model whose graph is being made, and its inputs, while `calls_in_order` is active.
making_model: ContextVar[tuple[CalledLayer, list[Tensor]] | None] = ContextVar(
    "model", default=None
)


@contextmanager
def calls_in_order(model: CalledLayer, inputs: list[Tensor]) -> Iterator[dict[Variable, Tensor]]:
    """Let each call in the `with` block read the values that earlier calls assigned."""
    token = making_model.set((model, inputs))
    try:
        with assigning() as assigned:
            yield assigned
    finally:
        making_model.reset(token)


def enter_assigned(
    call: EnclosingCall, assigned: dict[Any, Any], before: dict[Any, Any] | None
) -> None:
    """Add the values that a call assigned to variables, as update pairs of the call's layer.

    Parameters
    ----------
    call : EnclosingCall
        The call that assigned the new values.
    assigned : dict of Variable to value
        The values assigned by this call and the calls before it.
    before : dict of Variable to value, or None
        The values assigned before this call. The new values are added to this dict for the
        enclosing call. None if there is no enclosing call that needs them.
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
