"""`K.function`: from a graph to something that computes.

A call runs in three phases: every output and every new value is computed; then the new values are
checked; only then are they written into their variables. So the outputs of a call belong to the
weights *before* it, and a call that raised, or was abandoned half way, has changed nothing.
Theano's `theano.function` is the model.

Lesson: chapter 14.
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Tensor, Variable, as_tensor
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.sparse import fed_array
from kerascope.backend.schedule import Schedule, Step, is_needed
from kerascope.backend.shapes import merge_shapes
from kerascope.backend.traversal import leaves
from kerascope.errors import ArgumentError, DataError, DtypeError, ShapeError
from kerascope.stage import Stage, is_watched

__all__ = ["Function", "function"]


class Update(NamedTuple):
    """The event that a new value was written: which variable, and the tensor that computed it."""

    variable: Variable
    new_value: Tensor


def function(
    inputs: Sequence[Tensor],
    outputs: Tensor | Sequence[Tensor],
    updates: Iterable[tuple[Variable, Any]] | None = (),
    **kwargs: Any,
) -> Function:
    """Return a callable that computes `outputs` from `inputs` and then applies `updates`.

    Parameters
    ----------
    inputs : list of Tensor
        Usually placeholders.
    outputs : Tensor or list of Tensor
    updates : iterable of (Variable, Tensor), optional
        The first pair of a variable wins.
    name : str, optional
        What the function is called in a trace.

    Returns
    -------
    Function
        `f([x, y])` returns a list of arrays.

    Raises
    ------
    DisconnectedGraphError
        An output needs a placeholder that is not among the inputs.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> W = K.variable(2.0)
    >>> f = K.function([], [W ** 2], updates=[(W, 0.8 * W)])
    >>> [float(y) for y in f([])], round(float(K.get_value(W)), 4)
    ([4.0], 1.6)
    """
    name = kwargs.pop("name", "function")
    if kwargs:
        raise ArgumentError(
            f"K.function: unknown argument {sorted(kwargs)[0]!r}; "
            f"expected inputs, outputs, updates or name."
        )
    return Function(inputs, outputs, updates or (), name=name)


class Function:
    """A compiled piece of the op graph; made by `K.function`.

    Attributes
    ----------
    inputs, outputs : list of Tensor
    updates : list of Update
        One for each variable that a call writes.
    schedule : Schedule
        The ops in order.
    """

    def __init__(
        self,
        inputs: Sequence[Tensor],
        outputs: Tensor | Sequence[Tensor],
        updates: Iterable[tuple[Variable, Any]] = (),
        name: str = "function",
    ) -> None:
        self.name = name
        self.inputs = _checked_inputs(inputs)
        self._single = isinstance(outputs, Tensor)
        self.outputs = [outputs] if isinstance(outputs, Tensor) else [as_tensor(y) for y in outputs]
        unique_updates: dict[Variable, Update] = {}
        for v, nv in updates:
            if v not in unique_updates:
                unique_updates[v] = _checked_update(v, nv)
        followers = _default_updates(unique_updates, self.outputs)
        self.updates = [*unique_updates.values(), *followers.values()]
        new_values = [update.new_value for update in self.updates]
        follow = {v: update.new_value for v, update in followers.items()}
        results = [*self.outputs, *new_values]
        self.schedule = Schedule(self.inputs, results, follow, len(self.outputs))

    def __repr__(self) -> str:
        return f"<Function {self.name}: {self.inputs} -> {self.outputs}>"

    def __call__(self, inputs: Sequence[Any] = ()) -> Any:
        """Compute the outputs, then write the new values.

        Parameters
        ----------
        inputs : list of array_like
            One for each input tensor.

        Returns
        -------
        list of np.ndarray
            NumPy scalars where a tensor has no axes. They share memory with nothing.

        Raises
        ------
        DataError
            There are too many arrays or too few.
        ShapeError
            An array does not fit its tensor.
        """
        if is_watched():
            return self.stage(inputs).run()
        return self._drain(inputs)

    def _drain(self, inputs: Sequence[Any]) -> Any:
        events = self._events(inputs)
        with _quiet():
            try:
                while True:
                    next(events)
            except StopIteration as stop:
                return stop.value

    def stage(self, inputs: Sequence[Any] = ()) -> Stage:
        """Return one call as a stage; events: each `Step` when it is done, then each `Update`.

        Steps that a switch does not need are passed over without an event.
        """
        drain = functools.partial(self._drain, inputs)
        return Stage(self.name, self._events(inputs), self, shortcut=drain, around=_quiet)

    def _events(self, inputs: Sequence[Any]) -> Generator[Any, Any, Any]:
        schedule = self.schedule
        values = schedule.start(self._arrays(inputs))
        foreign = schedule.foreign(values)
        step: Step | None = None
        try:
            for step in schedule.steps:
                if not step.guards or is_needed(step.guards, values):
                    result = step.perform(*[values[slot] for slot in step.inputs])
                    if len(step.outputs) == 1:
                        values[step.outputs[0]] = result
                    else:
                        for slot, array in zip(step.outputs, result, strict=True):
                            values[slot] = array
                    yield step
                for slot in step.last_uses:
                    values[slot] = None
        except Exception as error:
            _add_context(error, step, values)
            raise
        results = [values[slot] for slot in schedule.results]
        written = [
            (update, _new_array(update, array, foreign))
            for update, array in zip(self.updates, results[len(self.outputs) :], strict=True)
            if self._is_to_be_written(update.variable, values)
        ]
        outputs = [_owned(array, foreign) for array in results[: len(self.outputs)]]
        # Invariant: nothing below can fail, so the variables change all together or not at all.
        for update, array in written:
            update.variable.commit(array)
        for update, _ in written:
            yield update
        return outputs[0] if self._single else outputs

    def _is_to_be_written(self, variable: Variable, values: list[Any]) -> bool:
        """Tell whether a new value counts: that of a follower only if a step has read it."""
        guards = self.schedule.guards_of_followers.get(variable)
        return guards is None or is_needed(guards, values)

    def _arrays(self, inputs: Sequence[Any]) -> list[np.ndarray]:
        if not isinstance(inputs, (list, tuple)):
            raise DtypeError(
                f"{self.name}: inputs come as a list, one array for each of {self.inputs}; "
                f"got {type(inputs).__name__}."
            )
        if len(inputs) != len(self.inputs):
            raise DataError(
                f"{self.name}: {len(inputs)} arrays came; expected {len(self.inputs)}, "
                f"one for each of {self.inputs}."
            )
        return [_as_input(x, tensor) for x, tensor in zip(inputs, self.inputs, strict=True)]


def _quiet() -> Any:
    """Let NumPy compute infinities and NaN without a warning: the training loop reports them."""
    return np.errstate(all="ignore")


def _checked_update(v: Any, nv: Any) -> Update:
    if not isinstance(v, Variable):
        raise DtypeError(f"updates: only a variable can be updated; got {v!r}.", subject=v)
    new_value = cast(as_tensor(nv, like=v), v.dtype)
    if merge_shapes(v.shape, new_value.shape) is None:
        raise ShapeError(
            f"updates: new value '{new_value.name}' of variable '{v.name}' has shape "
            f"{new_value.shape}; expected {v.shape}.",
            subject=v,
        )
    return Update(v, new_value)


def _default_updates(
    updates: dict[Variable, Update], outputs: list[Tensor]
) -> dict[Variable, Update]:
    """Return the updates that variables bring along: the draw counts of random ops."""
    needed = leaves([*outputs, *(update.new_value for update in updates.values())])
    return {
        v: _checked_update(v, v.default_update)
        for v in needed
        if isinstance(v, Variable) and v.default_update is not None and v not in updates
    }


def _checked_inputs(inputs: Any) -> list[Tensor]:
    if isinstance(inputs, Tensor):
        raise ArgumentError(f"K.function: inputs is a tensor; expected a list. Write [{inputs}].")
    for x in inputs:
        if not isinstance(x, Tensor):
            phase = (
                " K.set_learning_phase has fixed the phase: leave it out."
                if isinstance(x, int)
                else ""
            )
            raise ArgumentError(f"K.function: inputs has {x!r}; expected symbolic tensors.{phase}")
    return list(inputs)


def _as_input(value: Any, tensor: Tensor) -> np.ndarray:
    try:
        array = np.asarray(fed_array(value, tensor), dtype=tensor.dtype)
    except (TypeError, ValueError) as error:
        raise DtypeError(
            f"input '{tensor.name}': cannot be read as {tensor.dtype} ({error}).", subject=tensor
        ) from None
    if array.shape != tensor.shape and merge_shapes(array.shape, tensor.shape) is None:
        raise ShapeError(
            f"input '{tensor.name}': array of shape {array.shape}; expected {tensor.shape}.",
            subject=tensor,
        )
    return array


def _owned(array: Any, foreign: set[int]) -> Any:
    """Return the array, or a copy if somebody else could see it change."""
    array = np.asarray(array)
    if array.ndim == 0:
        return array[()]
    if array.base is not None or id(array) in foreign:
        return array.copy()
    foreign.add(id(array))
    return array


def _new_array(update: Update, array: Any, foreign: set[int]) -> np.ndarray:
    v = update.variable
    if np.shape(array) != v.shape:
        raise ShapeError(
            f"update of variable '{v.name}': new value has shape {np.shape(array)}; "
            f"expected {v.shape}. No variable was changed.",
            subject=v,
        )
    return np.asarray(_owned(array, foreign))


def _add_context(error: Exception, step: Step | None, values: list[Any]) -> None:
    """Say in the traceback which op failed, on what, and which line made its layer."""
    if step is None:
        return
    shapes = [getattr(values[slot], "shape", None) for slot in step.inputs]
    error.add_note(
        f"while computing '{step.apply.name}' = {step.apply!r} on arrays of shapes {shapes}"
    )
    if step.apply.scope.made_at is not None:
        path, line = step.apply.scope.made_at
        error.add_note(f"its layer was made at {path}, line {line}")
