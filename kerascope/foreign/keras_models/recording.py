"""`record`: run a live Keras model once, on its own backend, and record its calls.

A box is a layer, or a function between layers; `watching` describes which ones are observed. The
identity of an array tells which call computed it. An input that no recorded call computed is one of
these:

- a weight: a parameter of the box;
- a NumPy array, or an array that is an attribute of a layer: a box "constant";
- otherwise the result of a function that could not be observed: a box "computed outside layers". It
  has no incoming arrow, because its inputs are unknown. The box shows that it is not an input of
  the model.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.foreign.keras_models.arrays import Arrays
from kerascope.foreign.keras_models.converting import graph_class
from kerascope.foreign.keras_models.gradients import Gradients
from kerascope.foreign.keras_models.library import library, parts_of
from kerascope.foreign.keras_models.settings import settings_of
from kerascope.foreign.keras_models.watching import ReturnedCall, Watch
from kerascope.foreign.records import Line, Value, kept_of
from kerascope.foreign.writer import TapeWriter
from kerascope.user_frames import users_line
from kerascope.viz.kinds import KIND_OF_CLASS, kinds_by_name

OUTSIDE = "computed outside layers"
_WORDS_BY_KIND = {
    "merge": """add sub subtract mul multiply truediv divide maximum minimum concatenate concat
        stack matmul dot einsum cat radd rsub rmul rtruediv rmatmul""",
    "shaping": """reshape transpose swapaxes squeeze expand_dims ravel flatten getitem take pad
        permute view repeat broadcast_to split""",
    "activation": """relu relu6 gelu silu swish tanh sigmoid softmax log_softmax elu selu leaky_relu
        softplus hard_sigmoid""",
}
_KINDS = kinds_by_name(_WORDS_BY_KIND)


class KerasRecorder:
    """Observes the calls of a model, and records them with a `TapeWriter`.

    Parameters
    ----------
    model : keras.Layer
    arrays : Arrays
    writer : TapeWriter
    """

    def __init__(self, keras: Any, model: Any, arrays: Arrays, writer: TapeWriter) -> None:
        self._keras, self._model, self._arrays, self._writer = keras, model, arrays, writer
        self._path: list[str] = []
        self._names: dict[int, str] = {}  # names of layers
        self._owners: dict[str, int] = {}
        self._settings: dict[int, dict[str, Any]] = {}  # settings of layers
        self._functions: Counter[str] = Counter()
        self._values: dict[int, Any] = {}  # weights by the identity of their arrays
        self._held: dict[int, tuple[Any, str]] | None = None
        self._kept: list[Any] = []  # kept alive, because their ids are used
        self._line: Line | None = None

    @contextmanager
    def root(self, args: Any, kwargs: Any) -> Iterator[None]:
        """Begin a pass: record the inputs of the model."""
        self._functions.clear()
        self._kept.clear()
        self._held = None
        for name, array in named_inputs(self._model, self._arrays, args, kwargs):
            value = self._arrays.value(array)
            self._writer.call(name, [], [value], op="Input", kind="input")
        yield

    @contextmanager
    def frame(self, layer: Any, inputs: list[Any], caller: Any) -> Iterator[None]:
        """Record a frame around the calls inside a layer."""
        self._line = _line(caller)
        for array in inputs:
            self._input_value(array)
        name, op = self._name(layer), type(layer).__name__
        with self._writer.span("node", name, op=op, line=_line(caller)):
            self._path.append(name)
            try:
                yield
            finally:
                self._path.pop()

    def left(self, layer: Any, outputs: list[Any]) -> None:
        """Record a box for each output of a frame, unless a recorded call computed this output."""
        for array in outputs:
            self._input_value(array)

    def called(self, call: ReturnedCall) -> list[Any]:
        """Record a call, and return its outputs."""
        layer = call.layer
        self._line = line = _line(call.caller)
        values: list[Value] = []
        weights: dict[str, Value] = {}
        for array in call.inputs:
            value = self._input_value(array)
            if value is not None:
                values.append(value)
            else:
                self._add_weight(weights, array)
        outputs = [self._arrays.value(array) for array in call.outputs]
        if layer is None:
            op, kind = call.name, _kind_of_function(call.name, len(values))
            if not values:
                kind = "variable" if weights else "constant"  # made from numbers, or random
            name, settings = self._numbered(op), call.settings
        else:
            op, kind = type(layer).__name__, kind_of(layer)
            name, settings = self._name(layer), self._settings_of(layer)
            for variable in layer.weights:
                self._add_weight(weights, variable, layer)
        call_id = self._writer.call(
            name,
            values,
            outputs,
            op=op,
            kind=kind,
            line=line,
            settings=settings,
            parameters=weights,
        )
        self.after_call(call_id, op, call.outputs)
        return call.outputs

    def after_call(self, call: str, op: str, arrays: list[Any]) -> None:
        """Do nothing after a call is recorded. Subclasses keep its outputs for gradients."""

    # --- where arrays come from -------------------------------------------------------------------

    def _input_value(self, array: Any) -> Value | None:
        """Return an input of a call as a `Value`, or None for a weight.

        An input that no recorded call computed gets a box first.
        """
        if isinstance(array, Value):
            return array
        if self._variable_of(array) is not None:
            return None
        is_known = self._arrays.is_known(array)
        value = self._arrays.value(array)
        if is_known:
            return value
        self._kept.append(array)
        held = self._name_of_held(array)
        if held is not None or (
            isinstance(array, np.ndarray) and self._arrays.own is not np.ndarray
        ):
            name, op, kind = held or self._numbered("constant"), "constant", "constant"
        else:
            name, op, kind = self._numbered("outside"), OUTSIDE, "function"
        self._writer.call(name, [], [value], op=op, kind=kind, line=self._line)
        return value

    def _variable_of(self, array: Any) -> Any:
        """Return the weight that an array belongs to, or None for any other array."""
        if isinstance(array, self._arrays.variable):
            return array
        if self._arrays.is_known(array):
            return None
        if len(self._values) != len(self._model.variables):  # the first call may create some
            self._values = {id(v.value): v for v in self._model.variables}
        variable = self._values.get(id(array))
        return variable if variable is not None and variable.value is array else None

    def _add_weight(self, weights: dict[str, Value], array: Any, layer: Any = None) -> None:
        variable = self._variable_of(array)
        path = str(variable.path)
        begin = f"{layer.path}/" if layer is not None else ""
        name = path.removeprefix(begin)
        while name in weights:
            name += "_"
        weights[name] = self._arrays.value(variable)

    def _name_of_held(self, array: Any) -> str | None:
        """Return the name of an array that is an attribute of a layer, otherwise None."""
        if self._held is None:
            self._held = {}
            for _, layer in parts_of(self._model):
                for attribute, value in vars(layer).items():
                    if isinstance(value, (self._arrays.own, np.ndarray)):
                        self._held.setdefault(id(value), (layer, attribute))
                        self._kept.append(value)
        layer, attribute = self._held.get(id(array), (None, ""))
        if layer is None or layer is self._model:
            return attribute or None
        return f"{self._name(layer)}/{attribute}"

    # --- names ------------------------------------------------------------------------------------

    def _inside(self, name: str) -> str:
        return f"{self._path[-1]}/{name}" if self._path else name

    def _settings_of(self, layer: Any) -> dict[str, Any]:
        if id(layer) not in self._settings:
            self._settings[id(layer)] = settings_of(layer)
        return self._settings[id(layer)]

    def _numbered(self, op: str) -> str:
        """Return a unique name for a call of a function: "block/add", then "block/add_1"."""
        name = self._inside(op)
        number = self._functions[name]
        self._functions[name] += 1
        return f"{name}_{number}" if number else name

    def _name(self, layer: Any) -> str:
        """Return a layer's name, preceded by the name of the frame in which it was first called."""
        known = self._names.get(id(layer))
        if known is None:
            known = self._inside(layer.name)
            number = 1
            while self._owners.setdefault(known, id(layer)) != id(layer):
                number += 1
                known = f"{self._inside(layer.name)}~{number}"
            self._names[id(layer)] = known
            self._kept.append(layer)
        return known


def _line(frame: Any) -> Line | None:
    line = users_line(frame)
    return None if line is None else (line.file, line.line, line.function)


def kind_of(layer: Any) -> str:
    """Return the kind of box for a Keras layer, by its nearest class in `KIND_OF_CLASS`."""
    names = [cls.__name__ for cls in type(layer).__mro__]
    return next((KIND_OF_CLASS[name] for name in names if name in KIND_OF_CLASS), "layer")


def _kind_of_function(name: str, number: int) -> str:
    kind = _KINDS.get(name, "function")
    return "function" if kind == "merge" and number < 2 else kind


# --- one run --------------------------------------------------------------------------------------


def record(
    model: Any,
    *inputs: Any,
    writer: TapeWriter,
    loss: Any = None,
    target: Any = None,
    **keywords: Any,
) -> Any:
    """Run a live Keras model once and record its calls.

    Parameters
    ----------
    model : keras.Layer
        A model or layer of any kind, on Keras's current backend.
    *inputs, **keywords : object
        The arguments of the call, such as `training=True`.
    writer : TapeWriter
    loss : optional
        A function of the model's outputs, a Keras loss or its name (with a target), or the target
        of a compiled model. It also records the gradients of all outputs of calls and all weights.
    target : optional
        The correct outputs.

    Returns
    -------
    object
        The outputs of the model.

    Raises
    ------
    ArgumentError
        If the model needs inputs, and none are given.
    """
    keras = library(type(model).__name__)
    arrays = Arrays(keras)
    inputs, keywords = _call_arguments(model, inputs, keywords)
    given, named = _as_tensors(keras, model, arrays, inputs, keywords)
    writer.library = writer.library or library_label(keras, arrays)
    with _restoring_state(model), writer.span("function", model.name) as at_end:
        if loss is None and target is None:
            recorder = KerasRecorder(keras, model, arrays, writer)
            with writer.span("forward", "forward pass"), Watch(keras, arrays, model, recorder).on():
                result = model(*given, **named)
        else:
            result = _with_gradients(keras, model, arrays, writer, (loss, target), (given, named))
        at_end["outputs"] = [
            kept_of(arrays.numbers(x), writer.arrays) for x in arrays.inside(result)
        ]
    return result


def library_label(keras: Any, arrays: Arrays) -> str:
    """Return the library and backend as text, such as "keras 3.15 on jax"."""
    return f"keras {keras.__version__} on {arrays.backend}"


@contextmanager
def _restoring_state(model: Any) -> Iterator[None]:
    """After the `with` block, restore the variables that it changed, such as moving averages."""
    kept = [(v, v.value + 0) for v in model.non_trainable_variables]
    try:
        yield
    finally:
        for variable, value in kept:
            variable.assign(value)


class _GradientRecorder(KerasRecorder):
    """A recorder that also keeps the outputs of calls, to compute their gradients."""

    def __init__(self, gradients: Gradients, *args: Any) -> None:
        super().__init__(*args)
        self._gradients = gradients
        self.outputs: list[tuple[str, Any]] = []

    def after_call(self, call: str, op: str, arrays: list[Any]) -> None:
        """Keep the outputs of a call, and watch them, so that gradients can be computed."""
        self.outputs += [(call, array) for array in arrays]
        self._gradients.watch(arrays)


def _with_gradients(
    keras: Any, model: Any, arrays: Arrays, writer: TapeWriter, loss: Any, given: Any
) -> Any:
    """Run a model. Record the gradients of its calls, the last call first, then of weights."""
    gradients = Gradients(keras, model, arrays, loss)
    recorder = _GradientRecorder(gradients, keras, model, arrays, writer)
    args, kwargs = given
    with (
        writer.span("forward", "forward pass"),
        gradients.running(),
        Watch(keras, arrays, model, recorder).on(),
    ):
        result = model(*args, **kwargs)
    with writer.span("loss", "loss") as at_end:
        value = gradients.loss(result)
        at_end["loss"] = float(arrays.numbers(value))
    with writer.span("backward", "backward pass"):
        outputs = recorder.outputs
        found, of_weights = gradients.found(value, [array for _, array in outputs], args, kwargs)
        for (call, _), gradient in reversed(list(zip(outputs, found, strict=True))):
            if gradient is not None:
                writer.gradient(call, arrays.numbers(gradient))
        for variable, gradient in zip(model.trainable_variables, of_weights, strict=True):
            if gradient is not None:
                writer.gradient(str(variable.path), arrays.numbers(gradient))
    return result


def _call_arguments(model: Any, inputs: Any, keywords: Any) -> tuple[Any, Any]:
    """Return the arguments of a call. Keywords that `call` does not accept become one dict.

    Users pass named inputs as keywords, and a Keras model may expect a dict of them.
    """
    if len(inputs) > 1 and graph_class(model) is not None:
        return ([*inputs],), keywords  # the second argument of its `call` is `training`
    call = inspect.signature(model.call)
    for args, kwargs in ((inputs, keywords), ((keywords,), {})):
        try:
            call.bind(*args, **kwargs)
        except TypeError:
            continue
        return args, kwargs
    return inputs, keywords  # the call itself raises the error


def _as_tensors(
    keras: Any, model: Any, arrays: Arrays, inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """Return the arguments of a call, with backend arrays in place of NumPy arrays."""
    found = [*arrays.inside((inputs, keywords))]
    if not found:
        raise ArgumentError(
            f"{type(model).__name__} {model.name!r}: expected inputs to run it with, got none. "
            f"Pass them: ks.draw(model, values=x), several in a tuple."
        )
    tensors = [_as_tensor(keras, array) for array in found]
    return arrays.replaced((inputs, keywords), iter(tensors))


def _as_tensor(keras: Any, array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        return array
    dtype = keras.config.floatx() if array.dtype.kind == "f" else None
    return keras.ops.convert_to_tensor(array, dtype=dtype)


def named_inputs(model: Any, arrays: Arrays, inputs: Any, keywords: Any) -> list[tuple[str, Any]]:
    """Return (name, array) for each array in the arguments of a call of a model.

    The names are those of the model's Inputs if there are as many Inputs as arrays, otherwise those
    of the parameters of `call`.
    """
    found = arrays.inside((inputs, keywords))
    tensors = getattr(model, "inputs", None) or []
    own = [x._keras_history.operation.name for x in tensors]  # a tensor's name has a counter
    if len(own) == len(found):
        return list(zip(own, found, strict=True))
    signature = inspect.signature(model.call)
    try:
        arguments = signature.bind(*inputs, **keywords).arguments
    except TypeError:
        arguments = {"inputs": (inputs, keywords)}
    named: list[tuple[str, Any]] = []
    for name, value in arguments.items():
        inside = arrays.inside(value)
        names = [f"{name}_{number}" if len(inside) > 1 else name for number in range(len(inside))]
        if isinstance(value, dict):  # the keys are names if each value is one array
            by_id = {id(array): str(key) for key, array in value.items()}
            names = [by_id.get(id(array), own) for array, own in zip(inside, names, strict=True)]
        named += zip(names, inside, strict=True)
    return named
