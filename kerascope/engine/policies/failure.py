"""What an error remembers of the graph in which it happened.

A call that fails makes no Node: what was built inside it is taken back, and the reader is left with
a message. So the error takes with it which layer was called on what, and by which calls these
tensors were made. That lives as long as the error does, and costs nothing where nothing fails.
`viz.extract.failure` draws it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.engine.around import CallPolicy

Layer = Node = Any  # a type would be a circle


class Remembering(CallPolicy):
    """Notes on an error which layer's call it went through."""

    def __init__(self, layer: Layer, call: Any) -> None:
        self._layer, self._call = layer, call

    def failed(self, error: BaseException) -> None:
        """Note it."""
        if not isinstance(error, Exception):
            return
        if any(x._keras_history is not None for x in self._call.tensors):
            remember_call(error, self._layer, self._call.tensors)
        else:
            _name_the_layer(error, self._layer)


@dataclass(frozen=True)
class FailedCall:
    """A call of a layer on symbolic tensors that raised.

    Attributes
    ----------
    layer : Layer
        The innermost layer whose call failed.
    tensors : list of Tensor
        What it was called on.
    makers : dict of Tensor to Node
        The call that made each tensor on the way from the inputs to `tensors`.
    around : list of (Layer, list of Tensor)
        The calls inside which this happened, from the inside out; their tensors' makers are in
        `makers` too.
    """

    layer: Layer
    tensors: list[Tensor]
    makers: dict[Tensor, Node]
    around: list[tuple[Layer, list[Tensor]]] = field(default_factory=list)

    def __reduce__(self) -> tuple[Any, ...]:
        return _nothing, ()


@dataclass(frozen=True)
class FailedGraph:
    """A model that could not be made from its inputs and outputs.

    Attributes
    ----------
    class_name : str
    inputs, outputs : list
        What the user gave; not all of it need be tensors.
    makers : dict of Tensor to Node
        The call that made each tensor on the way to `inputs` and `outputs`.
    """

    class_name: str
    inputs: list[Any]
    outputs: list[Any]
    makers: dict[Tensor, Node]

    def __reduce__(self) -> tuple[Any, ...]:
        return _nothing, ()


def _nothing() -> None:
    """Stand for facts in a pickled error: it goes to another process without the layers."""


def remember_call(error: Exception, layer: Layer, tensors: list[Tensor]) -> None:
    """Note on an error that it was raised by a call of this layer, or passed through it."""
    failed = getattr(error, "failed_call", None)
    if not isinstance(failed, FailedCall):
        _attach(error, "failed_call", FailedCall(layer, tensors, makers_of(tensors)))
        return
    failed.around.append((layer, tensors))
    failed.makers.update(makers_of(tensors))


@contextmanager
def remembering_graph(class_name: str, inputs: list[Any], outputs: list[Any]) -> Iterator[None]:
    """Let an error inside the `with` block remember the graph that was to be made."""
    try:
        yield
    except Exception as error:
        tensors = [x for x in (*inputs, *outputs) if isinstance(x, Tensor)]
        _attach(error, "failed_graph", FailedGraph(class_name, inputs, outputs, makers_of(tensors)))
        raise


def makers_of(tensors: Iterable[Tensor]) -> dict[Tensor, Node]:
    """Return the call that made each of these tensors, and of those that they were made from."""
    makers: dict[Tensor, Node] = {}
    waiting = list(tensors)
    while waiting:
        tensor = waiting.pop()
        history = tensor._keras_history
        if tensor in makers or history is None:
            continue
        if history.node_index < len(history.layer.inbound_nodes):
            makers[tensor] = history.node
            waiting += [] if history.node.is_input else history.node.input_tensors
    return makers


def _attach(error: Exception, name: str, facts: FailedCall | FailedGraph) -> None:
    try:
        setattr(error, name, facts)
    except AttributeError:  # a class of errors that allows no further attributes
        return


def _name_the_layer(error: Exception, layer: Layer) -> None:
    if layer.label in str(error):
        return
    path, line = layer.made_at or ("?", 0)
    error.add_note(f"in {layer.label}, made at {path}, line {line}")
