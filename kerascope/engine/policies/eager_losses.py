"""The penalties of the last call on arrays, which `layer.losses` contains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from kerascope.backend.graph import Tensor
from kerascope.engine.around import CalledLayer


class LossesOfLastCall(NamedTuple):
    """A layer's penalties in the last call on arrays, and all layers that added penalties in it."""

    own: list[Tensor]
    layers: list[CalledLayer]


# Layer -> the penalties that it added in the current outermost call on arrays.
entered_losses: ContextVar[dict[Any, list[Tensor]] | None] = ContextVar("entered", default=None)


@contextmanager
def losses_of_a_call(layer: CalledLayer) -> Iterator[None]:
    """Replace the penalties of the previous call on arrays by those of the `with` block's call.

    If the call fails, the penalties of the previous call are kept.
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
