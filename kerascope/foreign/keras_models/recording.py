"""`record`: a live model of Keras runs once, on its own backend, and what ran is written down.

A box is a layer, or a function between layers; see `watching` for which are seen. Where an array
comes from is told by its identity. What a call reads that no call has made is one of these:

- a weight: a parameter of the box;
- an array of NumPy, or one that a layer of the model holds: a box "constant";
- else the result of a function that could not be seen: a box "computed outside layers". It has no
  arrow in, since it is not known what it read; so the arrow out of it is not missing, and nobody
  takes it for an input.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kerascope.callers import users_line
from kerascope.errors import ArgumentError
from kerascope.foreign.keras_models.arrays import Arrays
from kerascope.foreign.keras_models.converting import graph_class
from kerascope.foreign.keras_models.gradients import Gradients
from kerascope.foreign.keras_models.library import library, parts_of
from kerascope.foreign.keras_models.settings import settings_of
from kerascope.foreign.keras_models.watching import Happened, Watch
from kerascope.foreign.records import Line, Value, kept_of
from kerascope.foreign.writer import TapeWriter
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
    """Tells a `TapeWriter` what it hears.

    Parameters
    ----------
    model : keras.Layer
    arrays : Arrays
    writer : TapeWriter
    """

    def __init__(self, keras: Any, model: Any, arrays: Arrays, writer: TapeWriter) -> None:
        self._keras, self._model, self._arrays, self._writer = keras, model, arrays, writer
        self._path: list[str] = []
        self._names: dict[int, str] = {}  # of layers
        self._owners: dict[str, int] = {}
        self._settings: dict[int, dict[str, Any]] = {}  # of layers
        self._functions: Counter[str] = Counter()
        self._values: dict[int, Any] = {}  # arrays of weights
        self._held: dict[int, tuple[Any, str]] | None = None
        self._kept: list[Any] = []  # whose identity is used
        self._line: Line | None = None

    @contextmanager
    def root(self, args: Any, kwargs: Any) -> Iterator[None]:
        """Begin a pass: tell of the inputs of the model."""
        self._functions.clear()
        self._kept.clear()
        self._held = None
        for name, array in named_inputs(self._model, self._arrays, args, kwargs):
            value = self._arrays.value(array)
            self._writer.call(name, [], [value], op="Input", kind="input")
        yield

    @contextmanager
    def frame(self, layer: Any, inputs: list[Any], caller: Any) -> Iterator[None]:
        """Open a frame."""
        self._line = _line(caller)
        for array in inputs:
            self._entered(array)
        name, op = self._name(layer), type(layer).__name__
        with self._writer.span("node", name, op=op, line=_line(caller)):
            self._path.append(name)
            try:
                yield
            finally:
                self._path.pop()

    def left(self, layer: Any, outputs: list[Any]) -> None:
        """Take note of what a frame gives."""
        for array in outputs:
            self._entered(array)

    def called(self, happened: Happened) -> list[Any]:
        """Take note of a call."""
        layer = happened.layer
        self._line = line = _line(happened.caller)
        values: list[Value] = []
        weights: dict[str, Value] = {}
        for array in happened.inputs:
            value = self._entered(array)
            if value is not None:
                values.append(value)
            else:
                self._add_weight(weights, array)
        outputs = [self._arrays.value(array) for array in happened.outputs]
        if layer is None:
            op, kind = happened.name, _kind_of_function(happened.name, len(values))
            if not values:
                kind = "variable" if weights else "constant"  # made of numbers, or by chance
            name, settings = self._numbered(op), happened.settings
        else:
            op, kind = type(layer).__name__, kind_of(layer)
            name, settings = self._name(layer), self._settings_of(layer)
            for variable in layer.weights:
                self._add_weight(weights, variable, layer)
        call = self._writer.call(
            name,
            values,
            outputs,
            op=op,
            kind=kind,
            line=line,
            settings=settings,
            parameters=weights,
        )
        self.noted(call, op, happened.outputs)
        return happened.outputs

    def noted(self, call: str, op: str, arrays: list[Any]) -> None:
        """Take note of what a call gave, besides telling it."""

    # --- where arrays come from -------------------------------------------------------------------

    def _entered(self, array: Any) -> Value | None:
        """Return an array that a call reads, with a box if no call made it; None: a weight."""
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
        """Return the weight that an array is, or holds the numbers of; None if it is none."""
        if isinstance(array, self._arrays.variable):
            return array
        if self._arrays.is_known(array):
            return None
        if len(self._values) != len(self._model.variables):  # some are made by the first call
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
        """Return the name of an array that a layer of the model holds; None if none does."""
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
        """Return a name for one call of a function: "block/add", the next "block/add_1"."""
        name = self._inside(op)
        number = self._functions[name]
        self._functions[name] += 1
        return f"{name}_{number}" if number else name

    def _name(self, layer: Any) -> str:
        """Return the name of a layer, behind that of the frame in which it was called first."""
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
    """Return the kind of the box of a layer of Keras: that of the nearest class that is known."""
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
    """Run a live model of Keras once, and tell what ran.

    Parameters
    ----------
    model : keras.Layer
        Of any kind, on the backend that Keras runs on.
    *inputs, **keywords : object
        What it is called on; `training=True` among them.
    writer : TapeWriter
    loss : optional
        A function of what the model gives; with a target a loss of Keras, or its name; or the
        target of a compiled model. The gradients of all outputs of calls and of all weights are
        told, too.
    target : optional
        What the model should give.

    Returns
    -------
    object
        What the model gave.

    Raises
    ------
    ArgumentError
        There are no inputs.
    """
    keras = library(type(model).__name__)
    arrays = Arrays(keras)
    inputs, keywords = _as_called(model, inputs, keywords)
    given, named = _as_tensors(keras, model, arrays, inputs, keywords)
    writer.library = writer.library or library_words(keras, arrays)
    with _left_as_it_was(model), writer.span("function", model.name) as told:
        if loss is None and target is None:
            recorder = KerasRecorder(keras, model, arrays, writer)
            with writer.span("forward", "forward pass"), Watch(keras, arrays, model, recorder).on():
                result = model(*given, **named)
        else:
            result = _with_gradients(keras, model, arrays, writer, (loss, target), (given, named))
        told["outputs"] = [kept_of(arrays.numbers(x), writer.arrays) for x in arrays.inside(result)]
    return result


def library_words(keras: Any, arrays: Arrays) -> str:
    """Return what runs: "keras 3.15 on jax"."""
    return f"keras {keras.__version__} on {arrays.backend}"


@contextmanager
def _left_as_it_was(model: Any) -> Iterator[None]:
    """Give a model back what running it changes: random seeds, moving averages."""
    kept = [(v, v.value + 0) for v in model.non_trainable_variables]
    try:
        yield
    finally:
        for variable, value in kept:
            variable.assign(value)


class _Differentiated(KerasRecorder):
    """A recorder that keeps what each call gave, to ask for its gradient later."""

    def __init__(self, gradients: Gradients, *args: Any) -> None:
        super().__init__(*args)
        self._gradients = gradients
        self.outputs: list[tuple[str, Any]] = []

    def noted(self, call: str, op: str, arrays: list[Any]) -> None:
        """Take note of what a call gave."""
        self.outputs += [(call, array) for array in arrays]
        self._gradients.watch(arrays)


def _with_gradients(
    keras: Any, model: Any, arrays: Arrays, writer: TapeWriter, loss: Any, given: Any
) -> Any:
    """Run a model, tell the gradients of outputs, the last call first, and those of weights."""
    gradients = Gradients(keras, model, arrays, loss)
    recorder = _Differentiated(gradients, keras, model, arrays, writer)
    args, kwargs = given
    with (
        writer.span("forward", "forward pass"),
        gradients.running(),
        Watch(keras, arrays, model, recorder).on(),
    ):
        result = model(*args, **kwargs)
    with writer.span("loss", "loss") as told:
        value = gradients.loss(result)
        told["loss"] = float(arrays.numbers(value))
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


def _as_called(model: Any, inputs: Any, keywords: Any) -> tuple[Any, Any]:
    """Return the arguments of a call; named ones that it does not take are a dict that it takes.

    Who draws a model gives a dict for inputs with names; models of Keras may take just that.
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
    return inputs, keywords  # the error is Python's


def _as_tensors(
    keras: Any, model: Any, arrays: Arrays, inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """Return the arguments of a call with arrays of the backend in place of NumPy's."""
    found = [*arrays.inside((inputs, keywords))]
    if not found:
        raise ArgumentError(
            f"{type(model).__name__} {model.name!r}: what its code does is seen when it runs; "
            f"expected inputs, got none. Give them: ks.draw(model, values=x), several in a tuple."
        )
    tensors = [_as_tensor(keras, array) for array in found]
    return arrays.replaced((inputs, keywords), iter(tensors))


def _as_tensor(keras: Any, array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        return array
    dtype = keras.config.floatx() if array.dtype.kind == "f" else None
    return keras.ops.convert_to_tensor(array, dtype=dtype)


def named_inputs(model: Any, arrays: Arrays, inputs: Any, keywords: Any) -> list[tuple[str, Any]]:
    """Return the arrays among the arguments with names: those of `keras.Input`, or of `call`."""
    found = arrays.inside((inputs, keywords))
    tensors = getattr(model, "inputs", None) or []
    own = [x._keras_history.operation.name for x in tensors]  # a tensor has a count in its name
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
        if isinstance(value, dict):  # each key is a name, if each holds one array
            by_id = {id(array): str(key) for key, array in value.items()}
            names = [by_id.get(id(array), own) for array, own in zip(inside, names, strict=True)]
        named += zip(names, inside, strict=True)
    return named
