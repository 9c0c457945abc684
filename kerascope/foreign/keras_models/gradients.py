"""Gradients of a loss with respect to all outputs of recorded calls and all weights.

PyTorch and TensorFlow keep the computation and can differentiate it afterwards. JAX differentiates
functions. So on JAX the model runs a second time inside `jax.grad`, with the same numbers and the
same random numbers. A zero is added to each output of a call, and the gradient of this zero is the
gradient of the output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from typing import Any

from kerascope.errors import ArgumentError
from kerascope.foreign.keras_models.arrays import Arrays
from kerascope.foreign.keras_models.watching import ReturnedCall, Watch


def loss_of(keras: Any, model: Any, loss: Any, result: Any) -> Any:
    """Return the loss for the outputs of a model.

    Parameters
    ----------
    loss : (loss, target)
        The same as for `record`.

    Raises
    ------
    ArgumentError
        If the loss is missing, or is not a single number.
    """
    function, target = loss
    if target is None and not callable(function) and not isinstance(function, str):
        function, target = None, function
    if target is None and callable(function):
        value = function(result)
    elif target is not None and (callable(function) or isinstance(function, str)):
        each = keras.losses.get(function)(_tensors(keras, target), result)
        value = keras.ops.mean(each)  # as in compile: the function returns one loss for each sample
    elif target is not None and getattr(model, "compiled", False):
        value = model.compute_loss(x=None, y=_tensors(keras, target), y_pred=result)
    else:
        raise ArgumentError(
            f"record: expected a loss, got {loss!r:.80}. Pass a function of the outputs of "
            f"{model.name}, a Keras loss with target=..., or for a compiled model the target alone."
        )
    if tuple(keras.ops.shape(value)) != ():
        raise ArgumentError(
            f"record: expected a loss that is one number, got shape {tuple(value.shape)}. "
            f"Take its mean: loss=lambda result: keras.ops.mean(...)."
        )
    return value


def _tensors(keras: Any, targets: Any) -> Any:
    return keras.tree.map_structure(keras.ops.convert_to_tensor, targets)


class Gradients:
    """Computes the gradients of a loss after a model has run in a `with` block of `running`."""

    def __init__(self, keras: Any, model: Any, arrays: Arrays, loss: Any) -> None:
        self._keras, self._model, self._arrays, self._loss = keras, model, arrays, loss
        self._before = {id(v): v.value for v in model.variables} if arrays.backend == "jax" else {}
        self._tape: Any = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run a `with` block so that its computation can be differentiated.

        Raises
        ------
        ArgumentError
            If the backend has no gradients.
        """
        if self._arrays.backend not in ("jax", "tensorflow", "torch"):
            raise ArgumentError(
                f"record: expected loss=None on the backend {self._arrays.backend}, which has no "
                f"gradients. Use the backend jax, torch or tensorflow."
            )
        if self._arrays.backend == "tensorflow":
            self._tape = import_module("tensorflow").GradientTape()
        with nullcontext() if self._tape is None else self._tape:
            yield

    def watch(self, arrays: Sequence[Any]) -> None:
        """On TensorFlow, watch a call's outputs for gradients, before another call reads them."""
        if self._tape is not None:
            for array in arrays:
                self._tape.watch(array)

    def loss(self, result: Any) -> Any:
        """Return the loss for the outputs of the model, to be differentiated by `found`."""
        with nullcontext() if self._tape is None else self._tape:
            return loss_of(self._keras, self._model, self._loss, result)

    def found(
        self, value: Any, outputs: Sequence[Any], args: Any, kwargs: Any
    ) -> tuple[list[Any], list[Any]]:
        """Return the gradients of all outputs of calls, and those of all trainable weights.

        A gradient is None if the loss does not depend on the output or the weight.

        Parameters
        ----------
        value : array
            The loss.
        outputs : list of array
            The outputs of all calls, in order.
        args, kwargs : object
            The arguments of the model's call.
        """
        weights = list(self._model.trainable_variables)
        if self._arrays.backend == "jax":
            return self._by_running_again(outputs, weights, args, kwargs)
        if self._tape is not None:
            found = self._tape.gradient(value, [*outputs, *weights])
        else:
            found = self._by_torch(value, [*outputs, *(w.value for w in weights)])
        return list(found[: len(outputs)]), list(found[len(outputs) :])

    def _by_torch(self, value: Any, arrays: list[Any]) -> list[Any]:
        places = [n for n, array in enumerate(arrays) if array.requires_grad]
        grad = import_module("torch").autograd.grad
        wanted = grad(value, [arrays[n] for n in places], allow_unused=True)
        found: list[Any] = [None] * len(arrays)
        for place, gradient in zip(places, wanted, strict=True):
            found[place] = gradient
        return found

    def _by_running_again(
        self, outputs: Sequence[Any], weights: list[Any], args: Any, kwargs: Any
    ) -> tuple[list[Any], list[Any]]:
        keras, model = self._keras, self._model
        is_float = [keras.backend.is_float_dtype(x.dtype) for x in outputs]
        zeros = [keras.ops.zeros_like(x) for x, yes in zip(outputs, is_float, strict=True) if yes]
        trained = {id(w) for w in weights}
        rest = [(v, self._before.get(id(v), v.value)) for v in model.variables]
        rest = [(v, value) for v, value in rest if id(v) not in trained]

        def loss(values: list[Any], added: list[Any]) -> Any:
            probes = _Probes(iter(added), iter(is_float))
            watch = Watch(keras, Arrays(keras), model, probes, traced=True)
            state = [*rest, *zip(weights, values, strict=True)]
            with keras.StatelessScope(state_mapping=state):
                with watch.on():
                    result = model(*args, **kwargs)
                probes.check_all_were_called()
                return loss_of(keras, model, self._loss, result)

        before = [self._before.get(id(w), w.value) for w in weights]
        of_weights, of_zeros = import_module("jax").grad(loss, argnums=(0, 1))(before, zeros)
        rest_of_zeros = iter(of_zeros)
        return [next(rest_of_zeros) if yes else None for yes in is_float], of_weights


class _Probes:
    """Adds a zero to each output of a call; the gradient of the zero is that of the output."""

    def __init__(self, added: Iterator[Any], is_float: Iterator[bool]) -> None:
        self._added, self._is_float = added, is_float

    def root(self, args: Any, kwargs: Any) -> AbstractContextManager[Any]:
        """Do nothing when the model's call begins, because zeros are only added to outputs."""
        return nullcontext()

    def frame(self, layer: Any, inputs: list[Any], caller: Any) -> AbstractContextManager[Any]:
        """Do nothing when a layer with inner calls begins. `called` handles the inner calls."""
        return nullcontext()

    def left(self, layer: Any, outputs: list[Any]) -> None:
        """Do nothing when a layer with inner calls ends. `called` has handled the inner calls."""

    def called(self, call: ReturnedCall) -> list[Any]:
        """Return a call's outputs, with a zero added to each output of floating-point numbers."""
        new = []
        for array in call.outputs:
            is_float = next(self._is_float, None)
            if is_float is None:
                name = call.name or call.layer.name
                raise ArgumentError(
                    f"record: expected the same calls in both runs, got a new {name!r}."
                )
            new.append(array + next(self._added) if is_float else array)
        return new

    def check_all_were_called(self) -> None:
        """Raise ArgumentError if the run in `jax.grad` made fewer calls than the recorded run."""
        missing = len(list(self._is_float))
        if missing:
            raise ArgumentError(
                f"record: expected the same calls in both runs, {missing} are missing."
            )
