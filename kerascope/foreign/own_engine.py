"""Draws and records the engine that a student writes: the package `my_engine` of `kerascope learn`.

Students write the parts of the engine in their own style, so only its public names are used: a
`Tensor` has an `owner`, an `Apply` joins an op with its inputs and its output, and a `Function`
computes each `Apply` with `op.perform`. While the engine is recorded, some methods are wrapped:
`Function.__call__`, `perform` of the ops, `Model.fit` and `Model.predict`; and for the lines of
code, `Op.__call__` and `Layer.__call__`. The numbers do not change.

In a picture of a model, each call of a layer is a box. In a recorded run, it is a frame that
contains the ops of the layer.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from itertools import takewhile
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.foreign.records import Line, Value
from kerascope.foreign.writer import NOTHING, OpenSpan, TapeWriter
from kerascope.import_hook import OWN_ENGINE
from kerascope.viz.graph import Graph
from kerascope.viz.kinds import KIND_OF_CLASS

_KINDS = {"forward": "function", "loss": "loss", "backward": "gradient"}


def _part(name: str) -> Any:
    """Return a module of the engine, such as `my_engine.graph`."""
    return import_module(f"{OWN_ENGINE}.{name}")


# --- a picture, and one run -----------------------------------------------------------------------


def graph_of(model: Any) -> Graph:
    """Return the graph of a model: a box for each call of a layer.

    Parameters
    ----------
    model : my_engine.network.Network

    Raises
    ------
    ArgumentError
        The object is not a network.
    """
    writer = TapeWriter("none", library=OWN_ENGINE)
    read(model, writer)
    return writer.graph(model.name)


def record(model: Any, *inputs: Any, writer: TapeWriter, loss: Any = None) -> Any:
    """Run a model of the engine once, and record the calls of its layers.

    Parameters
    ----------
    model : my_engine.network.Network
    *inputs : array
    writer : TapeWriter
    loss : array, optional
        The targets, for a compiled model. With them, a whole training step is recorded with all
        its ops, and the weights are restored afterwards.

    Returns
    -------
    list of np.ndarray or float
        The outputs; with targets, the loss.
    """
    arrays = [np.asarray(x, "float64") for x in inputs]
    if loss is not None:
        before = model.get_weights()
        with watching(writer):
            result = model.train_on_batch(*arrays, np.asarray(loss, "float64"))
        model.set_weights(before)
        return result
    if len(arrays) != len(model.inputs):
        raise ArgumentError(
            f"{model.name}: expected {len(model.inputs)} input arrays, got {len(arrays)}. Pass a "
            f"tuple of several arrays: ks.draw(model, values=(a, b))."
        )
    writer.library = OWN_ENGINE
    tensors = [x for node in _nodes(model) for x in node.output_tensors]
    computed = _part("function").Function(model.inputs, tensors)(arrays)
    values = dict(zip(tensors, computed, strict=True))
    with writer.span("function", model.name) as at_end, writer.span("forward", "forward pass"):
        read(model, writer, values)
        at_end["outputs"] = [values[x] for x in model.outputs]
    return at_end["outputs"]


def _nodes(model: Any) -> list[Any]:
    if not hasattr(model, "nodes_by_depth"):
        raise ArgumentError(
            f"{type(model).__name__} of {OWN_ENGINE}: expected a model. "
            f"Use the model that contains it."
        )
    return [node for nodes in model.nodes_by_depth.values() for node in nodes]


def read(model: Any, writer: TapeWriter, values: Mapping[Any, Any] = NOTHING) -> None:
    """Record the calls of a model's layers. `values` contains the arrays of computed tensors."""
    for node in _nodes(model):
        layer = node.outbound_layer
        classes = [cls.__name__ for cls in type(layer).__mro__]
        writer.call(
            layer.name,
            [] if node.is_input else [_value(x, values) for x in node.input_tensors],
            [_value(x, values) for x in node.output_tensors],
            op=classes[0],
            kind=next((KIND_OF_CLASS[name] for name in classes if name in KIND_OF_CLASS), "layer"),
            parameters=_weights(layer.trainable_weights),
        )


def _weights(weights: list[Any]) -> dict[str, Value]:
    return {_short(w): _value(w, {w: w.value}) for w in weights}


def _short(weight: Any) -> str:
    return str(weight.name).rpartition("/")[2]


def _value(tensor: Any, values: Mapping[Any, Any]) -> Value:
    """Return a symbolic tensor as a `Value`, with its array if `values` contains it."""
    if tensor not in values:
        return Value(id(tensor), tensor.shape, "float64")
    array = np.asarray(values[tensor])
    return Value(id(tensor), array.shape, str(array.dtype), lambda: array)


# --- recording ------------------------------------------------------------------------------------


class EngineRecorder:
    """Wraps the methods of the engine, and records what they compute.

    Parameters
    ----------
    writer : TapeWriter

    Attributes
    ----------
    undo : ExitStack
        Restores the methods when it is closed.
    """

    def __init__(self, writer: TapeWriter) -> None:
        self._writer = writer
        self._wrapped: set[tuple[type, str]] = set()
        self.undo = ExitStack()
        self._lines: dict[Any, Line] = {}  # by the output of an op, or the layer that was called
        self._operators: set[Any] = set()  # the code of the methods of tensors
        self._batch = 0
        # During a call of a function: its line, the ops to compute, their places, the arrays, and
        # the open spans.
        self._at: Line | None = None
        self._waiting: list[Any] | None = None
        self._places: dict[Any, tuple[Any, ...]] = {}
        self._values: dict[Any, Any] = {}
        self._names: dict[Any, str] = {}  # of weights
        self._open: list[tuple[Any, OpenSpan]] = []

    def wrap_all(self) -> None:
        """Wrap the methods of the engine."""
        own = [vars(cls) for cls in _part("graph").Tensor.__mro__]
        functions = [function for names in own for function in names.values()]
        self._operators = {getattr(function, "__code__", None) for function in functions}
        self._wrap(_part("graph").Op, "__call__", self._op_called)
        self._wrap(_part("layer").Layer, "__call__", self._layer_called)
        self._wrap(_part("function").Function, "__call__", self._function_called)
        for name in ("fit", "predict"):
            self._wrap(_part("fit").Model, name, functools.partial(self._in_span, name))

    def _wrap(self, owner: type, name: str, hook: Callable[..., Any]) -> None:
        """Replace a method by `hook(self, method, ...)`, in the class that defines the method."""
        cls = next((one for one in owner.__mro__ if name in vars(one)), object)
        if cls is object or (cls, name) in self._wrapped:
            return
        plain: Any = vars(cls)[name]

        def wrapper(own: Any, *args: Any, **kwargs: Any) -> Any:
            is_method = hasattr(plain, "__get__")  # unlike `perform = np.log`
            method = plain.__get__(own, type(own)) if is_method else plain
            if self._writer.is_paused():
                return method(*args, **kwargs)
            return hook(own, method, *args, **kwargs)

        setattr(cls, name, functools.wraps(plain)(wrapper))
        self._wrapped.add((cls, name))
        self.undo.callback(setattr, cls, name, plain)

    def _op_called(self, op: Any, call: Callable[..., Any], *inputs: Any) -> Any:
        output = call(*inputs)
        if self._waiting is None:  # the program makes an op, and not `_gradients`
            self._lines.setdefault(output, self._line())
        return output

    def _layer_called(self, layer: Any, call: Callable[..., Any], inputs: Any) -> Any:
        self._lines.setdefault(layer, self._line())
        return call(inputs)

    def _in_span(self, kind: str, model: Any, call: Any, *args: Any, **kwargs: Any) -> Any:
        self._batch = 0
        with self._writer.span(kind, f"{kind} {model.name}", line=self._line()):
            return call(*args, **kwargs)

    # --- a call of a function ---------------------------------------------------------------------

    def _function_called(self, function: Any, call: Callable[..., Any], arrays: Any) -> Any:
        if self._waiting is not None:
            return call(arrays)
        writer, weights = self._writer, [weight for weight, _ in function.updates]
        gradients = self._gradients(function, weights, arrays) if weights else {}
        before = [np.array(weight.value) for weight in weights]
        self._at = line = self._line()
        number, self._batch = self._batch, self._batch + 1
        size = len(np.atleast_1d(arrays[0])) if len(arrays) else 0
        name = "training step" if weights else "function"
        with (
            writer.span(
                "batch", f"batch {number}", line=line, batch_index=number, size=size
            ) as at_end,
            writer.span("function", name, line=line),
        ):
            self._begin(function, arrays)
            try:
                results = call(arrays)
                for weight, gradient in gradients.items():
                    self._move(("backward",))
                    writer.gradient(self._name(weight), gradient, line=line)
                for (weight, new), old in zip(function.updates, before, strict=True):
                    self._move(("update",))
                    at, g = self._lines.get(new, line), gradients.get(weight)
                    writer.update(self._name(weight), old, np.asarray(weight.value), g, line=at)
            finally:
                self._waiting = None
                self._move(())
            if weights:
                at_end["outs"] = tuple(map(np.array, results))
        return results

    def _gradients(self, function: Any, weights: list[Any], arrays: Any) -> dict[Any, Any]:
        """Return the gradients of a training step's loss with respect to the weights.

        Which tensors of the step are gradients is not known, so they are computed once more. An
        error is ignored, because the step itself raises it.
        """
        self._waiting = []  # not recorded
        try:
            found = _part("gradient").gradients(function.outputs[0], weights)
            known = {w: g for w, g in zip(weights, found, strict=True) if g is not None}
            compute = _part("function").Function(function.inputs, list(known.values()))
            with np.errstate(all="ignore"):
                return dict(zip(known, map(np.array, compute(arrays)), strict=True))
        except Exception:
            return {}
        finally:
            self._waiting = None

    def _begin(self, function: Any, arrays: Any) -> None:
        """Store for each op its phase and the layer call it belongs to, and record the inputs."""
        in_order = _part("graph").applies_in_order
        applies = in_order([*function.outputs, *(new for _, new in function.updates)])
        self._places = {}
        for apply in applies:
            self._wrap(type(apply.op), "perform", self._performed)
            self._add_layer(apply.outputs[0])
        phase = "loss" if function.updates else "forward"
        self._places = dict.fromkeys(in_order(function.outputs), (phase,)) | self._places
        self._values = dict(zip(function.inputs, arrays, strict=False))
        self._waiting = applies
        self._move(("forward",))
        for x in function.inputs:
            self._writer.call(str(x.name), [], [_value(x, self._values)], op="Input", kind="input")

    def _add_layer(self, output: Any) -> None:
        """If a tensor is the output of a layer's call, store this call for the ops inside it."""
        if output._keras_history is None:
            return
        layer, node_index, _ = output._keras_history
        self._names |= {w: f"{layer.name}/{_short(w)}" for w in layer.trainable_weights}
        inputs, tensors = layer.inbound_nodes[node_index].input_tensors, [output]
        for tensor in tensors:
            if tensor.owner is not None and tensor not in inputs:
                self._places.setdefault(tensor.owner, ("forward", (layer, node_index)))
                tensors += tensor.owner.inputs

    def _performed(self, op: Any, call: Callable[..., Any], *arrays: Any) -> Any:
        waiting, self._waiting = self._waiting, []  # what it calls is a part of this op
        try:
            result = call(*arrays)
        finally:
            self._waiting = waiting
        values = self._values
        for apply in waiting or []:
            found = [values.get(x, x.value) for x in apply.inputs]
            if apply.op is op and all(map(_is_same, found, arrays)):
                self._waiting = [one for one in waiting or [] if one is not apply]
                values[apply.outputs[0]] = result
                self._record(apply)
                break
        return result

    def _record(self, apply: Any) -> None:
        place = self._places.get(apply, ("backward",))
        self._move(place)
        op, frame, output = apply.op, place[1:], apply.outputs[0]
        leaves = [x for x in apply.inputs if x.owner is None and x.value is not None]
        values = {x: x.value for x in leaves} | self._values
        numbers = [x for x in leaves if x.shape == ()]
        weights = [x for x in leaves if frame and x not in numbers]
        self._writer.call(
            f"{frame[0][0].name if frame else place[0]}/{op.name}",
            [_value(x, values) for x in apply.inputs if x not in [*numbers, *weights]],
            [_value(output, values)],
            op=op.name,
            kind=_KINDS[place[0]],
            line=self._lines.get(output, self._at),
            settings={"": ", ".join(f"{float(x.value):g}" for x in numbers)} if numbers else {},
            parameters=_weights(weights),
        )

    def _name(self, weight: Any) -> str:
        return self._names.get(weight, str(weight.name))

    def _line(self) -> Line:
        """Return the innermost executed line that is not in this file or a tensor's operator."""
        frame: Any = sys._getframe(2)
        while frame.f_back is not None and (
            frame.f_code.co_filename == __file__ or frame.f_code in self._operators
        ):
            frame = frame.f_back
        return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name

    def _move(self, place: tuple[Any, ...]) -> None:
        """Close the open spans that are not in `place`, and open the missing ones.

        A place is a phase, or a phase and the call of a layer.
        """
        pairs = zip(self._open, place, strict=False)
        keep = sum(1 for _ in takewhile(lambda pair: pair[0][0] == pair[1], pairs))
        while len(self._open) > keep:
            self._writer.end(self._open.pop()[1])
        for key in place[keep:]:
            if isinstance(key, str):
                span = self._writer.begin(key, key, line=self._at)
            else:
                layer, line = key[0], self._lines.get(key[0], self._at)
                span = self._writer.begin("node", layer.name, op=type(layer).__name__, line=line)
            self._open.append((key, span))


def _is_same(one: Any, other: Any) -> bool:
    return one is other or np.array_equal(one, other, equal_nan=True)


@contextmanager
def watching(writer: TapeWriter) -> Iterator[None]:
    """Record all functions of the engine that are called in a `with` block.

    Parameters
    ----------
    writer : TapeWriter
    """
    recorder = EngineRecorder(writer)
    writer.library = OWN_ENGINE
    with recorder.undo:
        recorder.wrap_all()
        yield


def tracing(model: Any, writer: TapeWriter) -> AbstractContextManager[None]:
    """Return a context manager that records all functions of the engine called in its block."""
    return watching(writer)
