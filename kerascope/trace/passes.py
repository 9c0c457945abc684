"""Passes through models: the layer calls of a run on arrays, and the calls inside nested models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kerascope.backend.graph import Tensor
from kerascope.engine.network import InputFed, Network, NodeComputed
from kerascope.engine.node import Node
from kerascope.stage import Mark, Stage


class LayerCall(NamedTuple):
    """A call of a layer, or an input of a model.

    Attributes
    ----------
    node : Node
    depth : int or None
        None for an input.
    inputs, outputs : list of Tensor
        Tensors with their values.
    tensors : list of Tensor
        The symbolic tensors of the model for which the outputs were computed.
    passes : tuple of ModelPass
        The passes through nested models during the call; a wrapper may have several.
    """

    node: Node
    depth: int | None
    inputs: list[Tensor]
    outputs: list[Tensor]
    tensors: list[Tensor]
    passes: tuple[ModelPass, ...]


class ModelPass(NamedTuple):
    """One run of one model, with its calls in order."""

    network: Network
    calls: list[LayerCall]


def call_of(event: Any, passes: Sequence[ModelPass]) -> LayerCall | None:
    """Return the call that an event of a forward pass reports, or None."""
    if isinstance(event, InputFed):
        node = event.tensor._keras_history.node
        return LayerCall(node, None, [], [event.computed], [event.tensor], ())
    if isinstance(event, NodeComputed):
        node, inside = event.node, tuple(passes)
        inputs, outputs = [*event.computed_tensors], [*event.output_tensors]
        return LayerCall(node, event.depth, inputs, outputs, node.output_tensors, inside)
    return None


class PassCollector:
    """An observer that collects the passes through models.

    Attributes
    ----------
    done : list of ModelPass
        The outermost passes that have ended.
    """

    def __init__(self) -> None:
        self.done: list[ModelPass] = []
        self._open: list[tuple[Stage, ModelPass, list[ModelPass]]] = []

    def __call__(self, stage: Stage, event: Any) -> None:
        """Receive an event of a stage."""
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
