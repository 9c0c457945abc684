"""Observe the layers of a Keras model, and the functions between them, during a `with` block.

The block wraps `Layer.__call__`, the functions of `keras.ops`, those of the backend (`jax.numpy`,
`jax.nn`; everything in PyTorch), and the operators and methods of its arrays. A wrapped function
only reports calls from code outside Keras and the backend: the inside of a Keras layer is not
shown. Everything is restored when the block ends, also after an error.

A box is a layer without inner layers, or any layer of Keras itself. A frame is a model, or a custom
layer with inner layers. Not observed are functions of other namespaces (`tf.nn`, `jax.lax`, NumPy
on arrays), names that were imported earlier (`from keras.ops import relu`), and compiled code
(`jax.jit`, `tf.function`, `fit` on JAX). `recording` describes how the graph shows their results.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from types import BuiltinFunctionType, FrameType, FunctionType
from typing import Any, NamedTuple, Protocol

import numpy as np

from kerascope.foreign.keras_models.arrays import Arrays
from kerascope.foreign.keras_models.settings import settings_of

_NAMESPACES = {
    "": ("ops", "ops.numpy", "ops.nn", "ops.linalg", "ops.image", "activations", "random"),
    "jax": ("jax.numpy", "jax.nn"),
}
_SIGNS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"]
OPERATORS = (
    *(f"__{sign}__" for sign in _SIGNS),
    *(f"__r{sign}__" for sign in _SIGNS),
    *("__neg__", "__abs__", "__invert__", "__getitem__"),
    *("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"),
)
METHODS = (
    *("astype", "reshape", "transpose", "swapaxes", "squeeze", "ravel", "flatten", "clip", "dot"),
    *("sum", "mean", "max", "min", "std", "var", "prod", "argmax", "argmin", "cumsum", "round"),
    *("repeat", "take", "sort", "all", "any"),
)
# Calls from these modules are not reported.
_INSIDE = ("keras.", "jax.", "jaxlib.", "torch.", "tensorflow.", "kerascope.foreign.")
_THROUGH = ("jax.", "jaxlib.", "torch.", "tensorflow.", "kerascope.foreign.")
_OF_KERAS = ("keras.",)


class ReturnedCall(NamedTuple):
    """A call of a layer or function that has returned, as a `Watch` reports it to an observer.

    Attributes
    ----------
    layer : keras.Layer or None
        The layer, or None for a function.
    name : str
        Name of the function, such as "add".
    inputs, outputs : list
        Arrays of the backend or of NumPy, or Keras variables. For an array that the call wrote to,
        the `Value` from before the call.
    settings : dict
        The arguments of a function that are numbers or strings.
    caller : FrameType or None
        The Python frame that made the call, if it is not one of Keras.
    """

    layer: Any
    name: str
    inputs: list[Any]
    outputs: list[Any]
    settings: dict[str, Any]
    caller: FrameType | None


class CallObserver(Protocol):
    """An observer for a `Watch`, which reports the calls of a model, its layers and functions."""

    def root(self, args: Any, kwargs: Any) -> AbstractContextManager[Any]:
        """Return a context manager in which the model's call runs. Entering it begins the call."""

    def frame(self, layer: Any, inputs: list[Any], caller: Any) -> AbstractContextManager[Any]:
        """Return a context manager for a frame, which contains the calls made in its block."""

    def left(self, layer: Any, outputs: list[Any]) -> None:
        """Receive the outputs of a layer with inner calls, just before its `frame` ends."""

    def called(self, call: ReturnedCall) -> list[Any]:
        """Receive a call that has returned, and return the arrays to use as its outputs."""


class Watch:
    """Wraps layers and functions, and reports their calls to an observer.

    Parameters
    ----------
    keras : module
    arrays : Arrays
    root : keras.Layer
        The model. Only its calls are observed. Its own call is not recorded, unless it is a box.
    observer : CallObserver
    traced : bool
        Whether to also observe code that is being compiled.
    """

    def __init__(
        self, keras: Any, arrays: Arrays, root: Any, observer: CallObserver, traced: bool = False
    ) -> None:
        self._keras, self._arrays, self._root, self._observer = keras, arrays, root, observer
        self._traced = traced
        self._thread = threading.get_ident()
        self._is_busy = False
        self._is_inside = False  # whether a call of the model is running
        self._silence: Callable[[], AbstractContextManager[Any]] = nullcontext
        if arrays.backend == "torch":  # avoids checking the caller in each of its functions
            self._silence = import_module("torch")._C.DisableTorchFunction

    @contextmanager
    def on(self) -> Iterator[None]:
        """Observe the calls of the model during a `with` block."""
        found = list(self._wrapped())
        before = [(owner, name, vars(owner).get(name, _ABSENT)) for owner, name, _ in found]
        try:
            for owner, name, wrapper in found:
                setattr(owner, name, wrapper)
            with self._torch_functions() if self._arrays.backend == "torch" else nullcontext():
                yield
        finally:
            for owner, name, old in before:
                delattr(owner, name) if old is _ABSENT else setattr(owner, name, old)

    # --- what is wrapped --------------------------------------------------------------------------

    def _wrapped(self) -> Iterator[tuple[Any, str, Any]]:
        keras = self._keras
        yield keras.Layer, "__call__", self._method(keras.Layer.__call__, self._layer)
        yield keras.Operation, "__call__", self._method(keras.Operation.__call__, self._operation)
        # PyTorch infers some shapes with arrays that have numbers.
        build = keras.Layer._maybe_build
        yield keras.Layer, "_maybe_build", self._method(build, self._unseen)
        functional = import_module("keras.src.models.functional").Functional
        standardize = functional._standardize_inputs
        yield functional, "_standardize_inputs", self._method(standardize, self._standardized)
        backend = self._arrays.backend
        homes = [_below(keras, path) for path in _NAMESPACES[""]]
        for home in [*homes, *map(import_module, _NAMESPACES.get(backend, ()))]:
            for name, function in list(vars(home).items()):
                if not name.startswith("_") and _is_function(function):
                    yield home, name, _Wrapped(function, name, self)
        classes = [keras.Variable]
        if backend == "jax":
            classes += [type(keras.ops.zeros(1)), *(self._arrays.abstract if self._traced else ())]
        elif backend == "tensorflow":
            classes.append(self._arrays.own)
        for cls in classes:
            for name in (*OPERATORS, *METHODS):
                function = getattr(cls, name, None)
                if function is not None and function is not getattr(object, name, None):
                    yield cls, name, self._of_arrays(function, name)

    def _torch_functions(self) -> AbstractContextManager[Any]:
        """Return a `TorchFunctionMode` that observes each function, operator and method."""
        watch = self
        base = import_module("torch.overrides").TorchFunctionMode

        class Functions(base):  # type: ignore[misc, valid-type]
            def __torch_function__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                if watch._is_busy or not watch._is_inside:
                    return function(*args, **(kwargs or {}))
                name = getattr(function, "__name__", "")
                return watch.function(name, function, args, kwargs or {})

        return Functions()  # type: ignore[no-any-return]

    def _method(self, original: Any, replacement: Callable[..., Any]) -> Any:
        @functools.wraps(original)
        def wrapper(instance: Any, *args: Any, **kwargs: Any) -> Any:
            if self._is_busy or threading.get_ident() != self._thread:
                return original(instance, *args, **kwargs)
            return replacement(original, instance, args, kwargs)

        return wrapper

    def _of_arrays(self, original: Any, name: str) -> Any:
        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return self.function(name, original, args, kwargs)

        return wrapper

    # --- calls ------------------------------------------------------------------------------------

    def _layer(self, original: Any, layer: Any, args: Any, kwargs: Any) -> Any:
        inputs = self._arrays.inside((args, kwargs))
        if self._is_hidden(inputs):
            return self._unseen(original, layer, args, kwargs)
        caller = sys._getframe(2)
        if layer is self._root and not self._is_inside:
            with self._observer.root(args, kwargs):
                self._is_inside = True
                try:
                    return self._observed_layer(original, layer, args, kwargs, inputs, caller)
                finally:
                    self._is_inside = False
        if not self._is_inside:
            return original(layer, *args, **kwargs)
        return self._observed_layer(original, layer, args, kwargs, inputs, caller)

    def _observed_layer(
        self, original: Any, layer: Any, args: Any, kwargs: Any, inputs: list[Any], caller: Any
    ) -> Any:
        if not is_frame(self._keras, layer):
            result = self._unseen(original, layer, args, kwargs)
            return self._reported(layer, "", inputs, {}, caller, result)
        is_root = layer is self._root
        with nullcontext() if is_root else self._observer.frame(layer, inputs, caller):
            args, kwargs = self._converted(layer, args, kwargs)
            result = original(layer, *args, **kwargs)
            self._observer.left(layer, self._arrays.inside(result))
        return result

    def _operation(self, original: Any, operation: Any, args: Any, kwargs: Any) -> Any:
        """Report an operation between the layers of a Functional model."""
        inputs = self._arrays.inside((args, kwargs))
        is_layer = isinstance(operation, self._keras.Layer)
        if is_layer or not self._is_inside or self._is_hidden(inputs):
            return original(operation, *args, **kwargs)
        result = self._unseen(original, operation, args, kwargs)
        name = type(operation).__name__.lower()
        settings = {**settings_of(operation), **_numbers_in(args, kwargs)}
        return self._reported(None, name, inputs, settings, sys._getframe(2), result)

    def _standardized(self, original: Any, model: Any, args: Any, kwargs: Any) -> Any:
        """Cast and reshape the inputs of a Functional model, with the tokens of the old arrays."""
        before = [x for x in self._arrays.inside((args, kwargs)) if self._arrays.is_known(x)]
        result = self._unseen(original, model, args, kwargs)
        after = self._arrays.inside(result)
        if len(before) == len(after):
            for new, old in zip(after, before, strict=True):
                self._arrays.same(new, old)
        return result

    def function(self, name: str, original: Any, args: Any, kwargs: Any) -> Any:
        """Call a function, and report the call to the observer; return the result of the function.

        A call from inside Keras or the backend is not reported.
        """
        if not self._is_inside or self._is_busy or threading.get_ident() != self._thread:
            return original(*args, **kwargs)
        caller = _caller(sys._getframe(1))
        if caller is None:
            return original(*args, **kwargs)
        arrays = self._arrays.inside((args, kwargs))
        inputs: list[Any] = arrays
        writes = self._arrays.backend == "torch" and _writes(name)
        if writes and not self._is_hidden(arrays):
            inputs = self._unseen(lambda: list(map(self._arrays.kept, arrays)), None, (), {})
        result = self._unseen(original, None, args, kwargs)
        outputs = arrays[:1] if writes else self._arrays.inside(result)
        if not outputs or self._is_hidden([*arrays, *outputs]):
            return result
        if not writes and {id(x) for x in outputs} <= {id(x) for x in arrays}:
            return result  # the function returned its arguments
        settings, name = _numbers_in(args, kwargs), name.strip("_")
        if writes:
            self._unseen(self._notify, None, (None, name, inputs, outputs, settings, caller), {})
            return result
        return self._reported(None, name, inputs, settings, caller, result)

    def _converted(self, layer: Any, args: Any, kwargs: Any) -> Any:
        """Return a layer's arguments as Keras converts them. The new arrays have the old tokens."""
        if not layer._convert_input_args:
            return args, kwargs
        policy, arrays = layer.dtype_policy, self._arrays

        def one(array: Any) -> Any:
            new = policy.convert_input(array, layer.autocast, layer.input_dtype)
            arrays.same(new, array)
            return new if new is array else arrays.masked(new, array)

        old = arrays.inside((args, kwargs))
        self._is_busy = True
        try:
            new = [one(array) for array in old]
        finally:
            self._is_busy = False
        args, kwargs = arrays.replaced((args, kwargs), iter(new))
        return args, kwargs

    def _unseen(self, original: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        self._is_busy = True
        try:
            with self._silence():
                return original(*(() if instance is None else (instance,)), *args, **kwargs)
        finally:
            self._is_busy = False

    def _is_hidden(self, arrays: list[Any]) -> bool:
        """Return whether to ignore a call that only infers shapes, or that is being compiled."""
        ask = self._arrays
        return any(ask.is_symbolic(x) or (not self._traced and ask.is_traced(x)) for x in arrays)

    def _reported(
        self, layer: Any, name: str, inputs: list[Any], settings: Any, caller: Any, result: Any
    ) -> Any:
        outputs = self._arrays.inside(result)
        if not outputs:
            return result
        new = self._unseen(self._notify, None, (layer, name, inputs, outputs, settings, caller), {})
        is_new = any(a is not b for a, b in zip(new, outputs, strict=True))
        return self._arrays.replaced(result, iter(new)) if is_new else result

    def _notify(self, *facts: Any) -> list[Any]:
        call = ReturnedCall(*facts)
        given = set(map(id, call.inputs))
        apart = [self._arrays.apart(x) if id(x) in given else x for x in call.outputs]
        return self._observer.called(call._replace(outputs=apart))


class _Wrapped:
    """Replaces a function such as `keras.ops.add`, with its attributes, and reports its calls."""

    def __init__(self, function: Any, name: str, watch: Watch) -> None:
        self.__wrapped__ = self._function = function  # for `inspect.signature`
        self._name, self._watch = name, watch

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._watch.function(self._name, self._function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


_ABSENT = object()


def _below(module: Any, path: str) -> Any:
    return functools.reduce(getattr, path.split("."), module)


def _is_function(value: Any) -> bool:
    kinds = (FunctionType, BuiltinFunctionType)
    names = ("PjitFunction", "ufunc", "custom_jvp")
    # Functions that are already wrapped are wrapped again, because several models may be observed.
    return isinstance(value, (*kinds, _Wrapped)) or type(value).__name__ in names


def is_frame(keras: Any, layer: Any) -> bool:
    """Return whether a layer is a frame around inner layers, and not a box."""
    if isinstance(layer, keras.Model):
        return True
    return not type(layer).__module__.startswith(_OF_KERAS) and bool(layer._layers)


def _caller(frame: FrameType | None) -> FrameType | None:
    """Return the Python frame that called a function, or None if Keras called it."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if not name.startswith(_THROUGH):
            return None if name.startswith(_OF_KERAS) else frame
        frame = frame.f_back
    return None


def _writes(name: str) -> bool:
    """Return whether a PyTorch function changes its first argument, as `add_` does."""
    return name == "__setitem__" or (
        name.startswith("__i") and name != "__invert__"
        if name.endswith("__")
        else name.endswith("_")
    )


def _numbers_in(args: Any, kwargs: Any) -> dict[str, Any]:
    """Return the arguments of a call that are numbers or strings, by name.

    Positional arguments are joined into one text under the name "".
    """
    plain = (bool, int, float, str, np.generic)
    kinds = (*plain, slice, tuple)
    placed = [_written(one) for one in args if isinstance(one, kinds) and not _has_arrays(one)]
    named = {
        name: one.item() if isinstance(one, np.generic) else one
        for name, one in kwargs.items()
        if isinstance(one, plain)
    }
    return {**({"": ", ".join(placed)} if placed else {}), **named}


def _has_arrays(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_has_arrays, value))
    return hasattr(value, "shape") and not isinstance(value, np.generic)


def _written(value: Any) -> str:
    """Return a number, a string or an index as it is written in code."""
    if isinstance(value, tuple):
        return ", ".join(map(_written, value))
    if isinstance(value, slice):
        ends = ["" if end is None else str(end) for end in (value.start, value.stop)]
        return ":".join(ends if value.step is None else [*ends, str(value.step)])
    return "..." if value is Ellipsis else str(value)
