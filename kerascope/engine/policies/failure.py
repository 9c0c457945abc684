"""Attaches the failed call of a layer, or the failed graph of a model, to its error.

A call that fails makes no Node, and is undone. So its data are attached to the error: the layer,
the tensors it was called on, and the calls that made these tensors. They exist as long as the
error, and cost nothing if no error occurs. `viz.extract.failure` draws them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.engine.around import CalledLayer, CallPolicy

Node = Any


class FailureFacts(CallPolicy):
    """Attaches a layer's call and its inputs, as a `FailedCall`, to an error of the call."""

    def __init__(self, layer: CalledLayer, call: Any) -> None:
        self._layer, self._call = layer, call

    def failed(self, error: BaseException) -> None:
        """Attach the call to its error, if the call is on symbolic tensors.

        Otherwise only add the layer's name, and the line that made the layer, to the error.
        """
        if not isinstance(error, Exception):
            return
        if any(x._keras_history is not None for x in self._call.tensors):
            attach_failed_call(error, self._layer, self._call.tensors)
        else:
            _name_the_layer(error, self._layer)


@dataclass(frozen=True)
class FailedCall:
    """A call of a layer on symbolic tensors, as recorded for an error that the call raised.

    Attributes
    ----------
    layer : Layer
        The innermost layer whose call failed.
    tensors : list of Tensor
        The inputs of the call.
    makers : dict of Tensor to Node
        Tensor -> the call that made it, for `tensors` and all tensors that they depend on.
    around : list of (Layer, list of Tensor)
        The enclosing calls, innermost first; `makers` contains their tensors too.
    """

    layer: Any
    tensors: list[Tensor]
    makers: dict[Tensor, Node]
    around: list[tuple[Any, list[Tensor]]] = field(default_factory=list)

    def __reduce__(self) -> tuple[Any, ...]:
        return _nothing, ()


@dataclass(frozen=True)
class FailedGraph:
    """The inputs and outputs from which a model could not be made, as attached to the error.

    Attributes
    ----------
    class_name : str
        Name of the model's class.
    inputs, outputs : list
        As the user passed them; they may contain objects that are not tensors.
    makers : dict of Tensor to Node
        Tensor -> the call that made it, for `inputs`, `outputs` and all they depend on.
    """

    class_name: str
    inputs: list[Any]
    outputs: list[Any]
    makers: dict[Tensor, Node]

    def __reduce__(self) -> tuple[Any, ...]:
        return _nothing, ()


def _nothing() -> None:
    """Return None, which replaces the attached call or graph when an error is pickled."""


def attach_failed_call(error: Exception, layer: CalledLayer, tensors: list[Tensor]) -> None:
    """Attach a layer's call and its inputs, as a `FailedCall`, to an error that the call raised."""
    failed = getattr(error, "failed_call", None)
    if not isinstance(failed, FailedCall):
        _attach(error, "failed_call", FailedCall(layer, tensors, makers_of(tensors)))
        return
    failed.around.append((layer, tensors))
    failed.makers.update(makers_of(tensors))


@contextmanager
def attaching_graph(class_name: str, inputs: list[Any], outputs: list[Any]) -> Iterator[None]:
    """Attach the inputs and outputs of a model to an error raised in the `with` block."""
    try:
        yield
    except Exception as error:
        tensors = [x for x in (*inputs, *outputs) if isinstance(x, Tensor)]
        _attach(error, "failed_graph", FailedGraph(class_name, inputs, outputs, makers_of(tensors)))
        raise


def makers_of(tensors: Iterable[Tensor]) -> dict[Tensor, Node]:
    """Return the call that made each of these tensors and each tensor that they depend on."""
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
    except AttributeError:  # an error class without further attributes
        return


def _name_the_layer(error: Exception, layer: CalledLayer) -> None:
    if layer.label in str(error):
        return
    path, line = layer.made_at or ("?", 0)
    error.add_note(f"in {layer.label}, made at {path}, line {line}")
