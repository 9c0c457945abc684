"""`tracing`: record the training of a live Keras model while the user's own code runs it.

What can be recorded depends on the backend, because Keras compiles the training step:

==========================  =====  =====  ==========  ===================
for each batch              torch  jax    tensorflow  eager tensorflow
==========================  =====  =====  ==========  ===================
loss and metrics            yes    yes    yes         yes
weights, old and new        yes    yes    yes         yes
gradients of weights        yes    again  no          no
calls of layers             yes    no     no          yes
==========================  =====  =====  ==========  ===================

"again": the gradients are computed a second time after the step, from the same data, weights and
random numbers. "eager" means `compile(run_eagerly=True)`. Direct calls of the model are recorded on
all backends, as separate batches. The calls of layers in `evaluate` and `predict` are also
recorded, unless they are compiled.

If calls are not recorded and the loss is not finite, the forward pass of the batch runs again with
the weights from before the step, and is recorded. This finds the first layer whose output is not
finite. This is not possible for a compiled step on TensorFlow, which does not give access to the
batch.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from importlib import import_module
from itertools import chain
from sys import _getframe
from typing import Any, NamedTuple

import numpy as np

from kerascope.engine.arguments import to_list
from kerascope.errors import ArgumentError, KerascopeWarning
from kerascope.foreign.keras_models.arrays import Arrays
from kerascope.foreign.keras_models.library import library
from kerascope.foreign.keras_models.recording import KerasRecorder, library_label
from kerascope.foreign.keras_models.watching import Watch
from kerascope.foreign.writer import TapeWriter
from kerascope.user_frames import users_line, warn

OF_THE_BATCH = "the numbers of the batch itself are not all finite"
_STEP = "compute_loss_and_updates"  # of Keras's JAX trainer: the loss as a function of the weights


@contextmanager
def tracing(model: Any, writer: TapeWriter) -> Iterator[None]:
    """Record the training and the calls of a live model during a `with` block.

    Parameters
    ----------
    model : keras.Model
    writer : TapeWriter

    Raises
    ------
    ArgumentError
        If `model` is not a keras.Model.

    Warns
    -----
    KerascopeWarning
        If the loss of a batch is not finite. The warning names the batch and the cause.
    """
    keras = library("trace")
    if not isinstance(model, keras.Model):
        raise ArgumentError(
            f"trace: expected a keras.Model, whose training can be recorded, got "
            f"{type(model).__name__}. Record one call of a layer: ks.draw(layer, values=x)."
        )
    with KerasTraining(keras, model, writer).recorded():
        yield


class Before(NamedTuple):
    """Copies of the state before a training step, because the step may overwrite the arrays.

    The lists are empty for a model whose weights do not exist yet. On TensorFlow, the first step
    may create the weights.

    Attributes
    ----------
    weights : list of keras.Variable
        The trainable weights, then the weights that are not trainable.
    trainable, others : list of np.ndarray
        The values of the trainable weights, and those of the other weights.
    gradients : list of np.ndarray or None
        The gradients of the scaled loss.
    loss_factor : float
        The factor by which the optimizer multiplies the loss before the backward pass. It is 1
        without mixed precision.
    """

    weights: list[Any]
    trainable: list[np.ndarray]
    others: list[np.ndarray]
    gradients: list[np.ndarray] | None
    loss_factor: float


class KerasTraining:
    """Records the training of one model.

    Parameters
    ----------
    keras : module
    model : keras.Model
    writer : TapeWriter
    """

    def __init__(self, keras: Any, model: Any, writer: TapeWriter) -> None:
        self._keras, self._model, self.writer = keras, model, writer
        self._arrays = Arrays(keras)
        writer.library = writer.library or library_label(keras, self._arrays)
        self._passes = _Passes(self, keras, model, self._arrays, writer)
        self._epoch: int | None = None
        self.batch = 0
        self.is_in_step = False
        self._gradient: Any = None  # the compiled gradient function on JAX
        self._has_warned = False

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record the training, the evaluation and the calls of the model during a `with` block."""
        model = self._model
        own = vars(model)
        wrapped = {
            "fit": self._fit,
            "evaluate": self._evaluate,
            "predict": self._predict,
            "make_train_function": self._make_train_function,
        }
        originals = {name: getattr(model, name) for name in wrapped}
        before = {name: own[name] for name in wrapped if name in own}
        step = model.train_function
        try:
            for name, wrapper in wrapped.items():
                own[name] = functools.partial(wrapper, originals[name])
            if step is not None:
                self._put(_Step(self, step))
            with Watch(self._keras, self._arrays, model, self._passes).on():
                yield
        finally:
            for name in wrapped:
                own.pop(name, None)
            own.update(before)
            if isinstance(model.train_function, _Step):
                self._put(model.train_function.step)

    def _put(self, step: Any) -> None:
        self._model.train_function = step

    def _make_train_function(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        step = self._model.train_function
        if step is not None and not isinstance(step, _Step):
            self._put(_Step(self, step))
        return self._model.train_function if result is not None else None

    # --- fit and epochs ---------------------------------------------------------------------------

    def _fit(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(original).bind(*args, **kwargs)
        line = users_line(_getframe(1))
        place = None if line is None else (line.file, line.line, line.function)
        with self.writer.span("fit", f"fit {self._model.name}", line=place), ExitStack() as epochs:
            listener = self._listener(epochs)
            callbacks = given.arguments.get("callbacks")
            if isinstance(callbacks, self._keras.callbacks.CallbackList):
                callbacks.append(listener)
            else:
                callbacks = [*to_list(callbacks), listener]
            given.arguments["callbacks"] = callbacks
            try:
                return original(*given.args, **given.kwargs)
            finally:
                self._epoch = None

    def _listener(self, epochs: ExitStack) -> Any:
        """Return a Keras callback that begins and ends the spans of epochs."""
        training = self

        class Epochs(self._keras.callbacks.Callback):  # type: ignore[misc, name-defined]
            def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
                epochs.close()
                training._epoch, training.batch = epoch, 0
                name = f"epoch {epoch}"
                self.at_end = epochs.enter_context(training.writer.span("epoch", name, epoch=epoch))

            def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
                self.at_end["logs"] = _plain(logs or {})
                epochs.close()

        return Epochs()

    def _evaluate(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self._without_training("evaluate", original, args, kwargs)

    def _predict(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self._without_training("predict", original, args, kwargs)

    def _without_training(
        self, kind: str, original: Callable[..., Any], args: Any, kwargs: Any
    ) -> Any:
        """Run `evaluate` or `predict` in a recorded span, in which batches count from 0."""
        batch, self.batch = self.batch, 0
        try:
            with self.writer.span(kind, f"{kind} {self._model.name}"):
                return original(*args, **kwargs)
        finally:
            self.batch = batch

    # --- one batch --------------------------------------------------------------------------------

    def step(self, original: Callable[..., Any], *args: Any) -> Any:
        """Run Keras's own training step `original` with its arguments, and record it as a batch."""
        args, data = self._with_data(args)
        with self.one_batch(_size(data)) as (number, at_end):
            before = self._before(args, data)
            self.is_in_step, self._passes.number, self._passes.first = True, 0, None
            try:
                result = original(*args)
                state, logs = (result[1], result[0]) if self._is_jax else (None, result)
                logs = _plain(logs)
                at_end["outs"], at_end["logs"] = _loss_first(logs), logs
                self._record_updates(before, state)
                if not self._has_warned and not np.isfinite([*logs.values()]).all():
                    self._has_warned = True
                    self._report_cause(number, logs, before, data)
            finally:
                self.is_in_step = False
        return result

    @contextmanager
    def one_batch(self, size: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """Record a `with` block as the next batch. Yield its number, and a dict for its results."""
        number = self.batch
        self.batch += 1
        with self.writer.span("batch", f"batch {number}", batch_index=number, size=size) as at_end:
            yield number, at_end

    @property
    def _is_jax(self) -> bool:
        return self._arrays.backend == "jax"

    def _with_data(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
        """Return the arguments of a training step, and its batch, which is None if it is unknown.

        On JAX, the batch is read from an iterator among the arguments. The returned iterator yields
        this batch again.
        """
        if self._is_jax:
            state, iterator = args
            data = next(iterator)  # StopIteration ends the step, too
            return (state, chain([data], iterator)), data
        if isinstance(args[0], (list, tuple)):
            return args, args[0][0]
        return args, None

    def _before(self, args: Any, data: Any) -> Before:
        model = self._model
        weights = [*model.trainable_variables, *model.non_trainable_variables]
        if self._is_jax:
            trainable, others, optimizer, metrics = args[0]
            gradients = self._gradients_again(trainable, others, optimizer, metrics, data)
        else:
            trainable, others = model.trainable_variables, model.non_trainable_variables
            optimizer, gradients = [], None
        copies = self._copies(trainable), self._copies(others)
        return Before(weights, *copies, gradients, self._loss_factor(optimizer))

    def _loss_factor(self, state: Any) -> float:
        """Return the optimizer's factor of the loss, given the values of its variables."""
        optimizer = self._model.optimizer
        if not hasattr(optimizer, "scale_loss"):
            return 1.0
        mapping = [*zip(optimizer.variables, state, strict=False)]
        with self._keras.StatelessScope(state_mapping=mapping):
            return float(self._arrays.numbers(optimizer.scale_loss(1.0)))

    def _copies(self, arrays: Any) -> list[np.ndarray]:
        return [np.array(self._arrays.numbers(array)) for array in arrays]

    def _gradients_again(
        self, trainable: Any, others: Any, optimizer: Any, metrics: Any, data: Any
    ) -> list[np.ndarray] | None:
        step = getattr(self._model, _STEP, None)
        if step is None:
            return None
        x, y, weights = self._keras.utils.unpack_x_y_sample_weight(data)
        if self._gradient is None:
            jax = import_module("jax")

            def loss(values: Any, others: Any, metrics: Any, optimizer: Any, batch: Any) -> Any:
                options = {"training": True, "optimizer_variables": optimizer}
                return step(values, others, metrics, *batch, **options)

            self._gradient = jax.jit(jax.grad(loss, has_aux=True))
        found, _ = self._gradient(trainable, others, metrics, optimizer, (x, y, weights))
        return self._copies(found)

    def _record_updates(self, before: Before, state: Any) -> None:
        variables = self._model.trainable_variables
        new = self._copies(variables if state is None else state[0])
        gradients: list[Any] = [*(before.gradients or ())] or len(new) * [None]
        if self._arrays.backend == "torch":
            gradients = [v.value.grad for v in variables]
            gradients = [None if g is None else self._arrays.numbers(g) for g in gradients]
        factor = np.float32(before.loss_factor)
        gradients = [None if g is None else np.asarray(g / factor) for g in gradients]
        names = [str(variable.path) for variable in variables]
        old = {id(v): array for v, array in zip(before.weights, before.trainable, strict=False)}
        writer = self.writer
        with writer.span("function", f"step of {self._model.name}"):
            if any(gradient is not None for gradient in gradients):
                with writer.span("backward", "gradients of weights"):
                    for name, gradient in zip(names, gradients, strict=True):
                        if gradient is not None:
                            writer.gradient(name, gradient)
            with writer.span("update", "new weights"):
                for name, v, array, gradient in zip(names, variables, new, gradients, strict=True):
                    if id(v) in old:  # otherwise this step created it
                        writer.update(name, old[id(v)], array, gradient)

    # --- a loss that is not finite ----------------------------------------------------------------

    def _report_cause(self, number: int, logs: dict[str, float], before: Before, data: Any) -> None:
        name = next(name for name, value in logs.items() if not np.isfinite(value))
        where = "" if self._epoch is None else f"epoch {self._epoch}, "
        cause = self._cause(number, before, data)
        message = f"{self._model.name}: {where}batch {number}: {name} is {logs[name]}; {cause}."
        self.writer.failed(FloatingPointError(message))
        line = users_line(_getframe(1))  # the nearest line would be in Keras
        if line is None:
            warn(message)
        else:
            warnings.warn_explicit(message, KerascopeWarning, line.file, line.line)

    def _cause(self, number: int, before: Before, data: Any) -> str:
        for variable, array in zip(before.weights, before.trainable, strict=False):
            if not np.isfinite(array).all():
                return f"the weight {variable.path} was not finite before this batch"
        if not self._passes.number:
            if data is None:
                return (
                    "which layer came first is not known, since TensorFlow hides the batch of a "
                    "compiled step: compile(run_eagerly=True) shows it"
                )
            if not before.weights and self._model.weights:
                return "which layer came first is not known, since this batch made the weights"
            self._run_again(number, before, data)
        if self._passes.first is not None:
            return self._passes.first
        if data is not None and not _are_finite(self._arrays, self._arrays.inside(data)):
            return OF_THE_BATCH  # its targets or sample weights
        return "all layers returned finite numbers, so the loss itself is the first"

    def _run_again(self, number: int, before: Before, data: Any) -> None:
        """Record a batch's forward pass by an eager run with the weights from before its step."""
        keras, model, convert = self._keras, self._model, self._keras.ops.convert_to_tensor
        x, _, _ = keras.utils.unpack_x_y_sample_weight(data)
        values = zip(before.weights, [*before.trainable, *before.others], strict=True)
        state = [(v, convert(array, dtype=v.dtype)) for v, array in values]
        options = {"training": True} if model._call_has_training_arg else {}
        self._passes.name = f"forward pass of batch {number} again"
        try:
            with keras.StatelessScope(state_mapping=state):
                model(x, **options)
        finally:
            self._passes.name = model.name


class _Step:
    """A training step that records itself. Keras calls it in place of Keras's own step."""

    def __init__(self, training: KerasTraining, step: Any) -> None:
        self.training, self.step = training, step

    def __call__(self, *args: Any) -> Any:
        return self.training.step(self.step, *args)


class _Passes(KerasRecorder):
    """Records each call of a model as a separate forward pass.

    Attributes
    ----------
    name : str
        Name of the next pass.
    number : int
        Number of passes in the current batch so far.
    first : str or None
        Description of the first values in the current batch that are not finite.
    """

    def __init__(self, training: KerasTraining, keras: Any, model: Any, *others: Any) -> None:
        super().__init__(keras, model, *others)
        self._training = training
        self.name: str = model.name
        self.number = 0
        self.first: str | None = None

    @contextmanager
    def root(self, args: Any, kwargs: Any) -> Iterator[None]:
        """Begin the span of a forward pass. Outside a training step, also begin a batch for it."""
        inputs = self._arrays.inside((args, kwargs))
        training = self._training
        batch = nullcontext() if training.is_in_step else training.one_batch(_size(inputs))
        with batch, training.writer.span("function", self.name):
            self.number += 1
            if self.first is None and not _are_finite(self._arrays, inputs):
                self.first = OF_THE_BATCH
            with super().root(args, kwargs):
                yield

    def after_call(self, call: str, op: str, arrays: list[Any]) -> None:
        """Store a description of the first call in a batch whose output is not finite."""
        if self.first is None and not _are_finite(self._arrays, arrays):
            self.first = f"the first output that is not finite is that of {call!r} ({op})"


def _are_finite(arrays: Arrays, values: list[Any]) -> bool:
    """Return whether arrays contain neither NaN nor infinity."""
    all_numbers = [arrays.numbers(value) for value in values]
    return all(x.dtype.kind not in "fc" or np.isfinite(x).all() for x in all_numbers)


def _plain(logs: Any) -> dict[str, float]:
    """Return the values of Keras's logs as floats, by name."""
    return {str(name): float(np.asarray(value)) for name, value in logs.items()}


def _loss_first(logs: dict[str, float]) -> tuple[float, ...]:
    """Return the values of Keras's logs with the loss first. Keras sorts its logs by name."""
    loss = [logs["loss"]] if "loss" in logs else []
    return (*loss, *(value for name, value in logs.items() if name != "loss"))


def _size(data: Any) -> int:
    """Return the number of samples of a batch, or 0 if the number is unknown."""
    while isinstance(data, (list, tuple, dict)) and data:
        data = next(iter(data.values())) if isinstance(data, dict) else data[0]
    shape = tuple(getattr(data, "shape", ()))
    return int(shape[0]) if shape else 0
