"""Passes through models: the layer calls of a run on arrays, and those inside nested models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kerascope.backend.graph import Tensor
from kerascope.engine.network import InputFed, Network, NodeComputed
from kerascope.engine.node import Node
from kerascope.stage import Mark, Stage


class LayerCall(NamedTuple):
    """A call of a layer on arrays, or an array that is fed to an input of a model.

    Attributes
    ----------
    node : Node
    depth : int or None
        The depth of the call; None for an input.
    inputs, outputs : list of Tensor
        The computed tensors, with their arrays.
    tensors : list of Tensor
        The symbolic tensors whose arrays are the outputs.
    passes : tuple of ModelPass
        The passes through nested models during the call; a call of a wrapper may have several.
    """

    node: Node
    depth: int | None
    inputs: list[Tensor]
    outputs: list[Tensor]
    tensors: list[Tensor]
    passes: tuple[ModelPass, ...]


class ModelPass(NamedTuple):
    """One run of a model on arrays, with its layer calls in order."""

    network: Network
    calls: list[LayerCall]


def call_of(event: Any, passes: Sequence[ModelPass]) -> LayerCall | None:
    """Return the layer call that an event of a forward pass reports; None for other events."""
    if isinstance(event, InputFed):
        node = event.tensor._keras_history.node
        return LayerCall(node, None, [], [event.computed], [event.tensor], ())
    if isinstance(event, NodeComputed):
        node, inside = event.node, tuple(passes)
        inputs, outputs = [*event.computed_tensors], [*event.output_tensors]
        return LayerCall(node, event.depth, inputs, outputs, node.output_tensors, inside)
    return None


class PassCollector:
    """An observer that collects the passes through models as they run.

    Attributes
    ----------
    done : list of ModelPass
        The passes that have ended and are not part of another pass.
    """

    def __init__(self) -> None:
        self.done: list[ModelPass] = []
        self._open: list[tuple[Stage, ModelPass, list[ModelPass]]] = []

    def __call__(self, stage: Stage, event: Any) -> None:
        """Add what an event of a stage reports: a layer call, or the start or end of a pass."""
        if stage.name != "run_internal_graph":
            return
        if event is Mark.started:
            self._open.append((stage, ModelPass(stage.subject, []), []))
        elif self._open and self._open[-1][0] is stage:
            _, pass_, inner = self._open[-1]
            if event in (Mark.finished, Mark.failed):
                self._open.pop()
                (self._open[-1][2] if self._open else self.done).append(pass_)
            else:
                call = call_of(event, inner)
                inner.clear()
                if call is not None:
                    pass_.calls.append(call)
