"""`K.function`: from a graph to something that computes.

A call runs in three phases: every output and every new value is computed; then the new values are
checked; only then are they written into their variables. So the outputs of a call belong to the
weights *before* it, and a call that raised, or was left half way while it was stepped through, has
changed nothing. Nor can Ctrl-C divide the writing: see `atomic.py`. Theano's `theano.function` is
the model. An op that itself writes a variable of its function breaks these phases: whether what is
computed after it sees the old value or the new one is not promised.

A call that is watched is stepped through. One that nobody watches, and that comes again with arrays
of the same shapes, runs as a program: see `backend/program/`.

Lesson: chapter 14.
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Iterable, Sequence
from typing import Any

import numpy as np

from kerascope.backend.atomic import take_over
from kerascope.backend.float_settings import with_float_settings
from kerascope.backend.function_checks import (
    Update,
    as_input,
    checked_inputs,
    checked_rewrites,
    checked_update,
    default_updates,
    fits,
    new_array,
    owned,
    pairs,
)
from kerascope.backend.graph import Tensor, as_tensor
from kerascope.backend.program.dispatch import Programs
from kerascope.backend.program.inspecting import Inspectable, add_context, drained, step_listeners
from kerascope.backend.schedule import Schedule, Step, is_needed
from kerascope.backend.update_order import chained
from kerascope.backend.variables import Reading, Variable
from kerascope.errors import ArgumentError, DataError, DtypeError
from kerascope.stage import Stage, is_watched

__all__ = ["Function", "function"]


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
        The first pair of a variable wins. Those that calls of layers have added follow each other:
        see `update_order.py`.
    name : str, optional
        What the function is called in a trace.
    rewrites : list of str, optional
        The rules by which its program may be made shorter; by default all. With `()`
        every op of the graph is written as it stands. No result depends on it.
    verify : bool, optional
        Whether what a program computes is computed step by step too, and compared bit for bit
        before it counts; each loop also with its interpreter, to roundings where it is rewritten.
        By default what the environment variable KERASCOPE_VERIFY says: 1 or 0.

    Returns
    -------
    Function
        `f([x, y])` returns a list of arrays.

    Raises
    ------
    DisconnectedGraphError
        An output needs a placeholder that is not among the inputs.
    VerificationError
        At a call: what was to be verified differs. No variable was changed.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> W = K.variable(2.0)
    >>> f = K.function([], [W ** 2], updates=[(W, 0.8 * W)])
    >>> [float(y) for y in f([])], round(float(K.get_value(W)), 4)
    ([4.0], 1.6)
    """
    name = kwargs.pop("name", "function")
    rewrites = checked_rewrites(kwargs.pop("rewrites", None))
    verify = kwargs.pop("verify", None)
    if kwargs:
        raise ArgumentError(
            f"K.function: unknown argument {sorted(kwargs)[0]!r}; "
            f"expected inputs, outputs, updates, name, rewrites or verify."
        )
    given = () if updates is None else updates
    return Function(inputs, outputs, given, name=name, rewrites=rewrites, verify=verify)


class Function(Inspectable):
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
        rewrites: Sequence[str] | None = None,
        verify: bool | None = None,
    ) -> None:
        self.name = name
        self.inputs = checked_inputs(inputs)
        self._doors = [(x, np.dtype(x.dtype)) for x in self.inputs]
        self._single = isinstance(outputs, Tensor)
        self.outputs = [outputs] if isinstance(outputs, Tensor) else [as_tensor(y) for y in outputs]
        updates = chained(pairs(updates))
        unique_updates: dict[Variable, Update] = {}
        for v, nv in updates:
            if v not in unique_updates:
                unique_updates[v] = checked_update(v, nv)
        followers = default_updates(unique_updates, self.outputs)
        self.updates = [*unique_updates.values(), *followers.values()]
        new_values = [update.new_value for update in self.updates]
        follow = {v: update.new_value for v, update in followers.items()}
        results = [*self.outputs, *new_values]
        self.schedule = Schedule(self.inputs, results, follow, len(self.outputs))
        written = [update.variable for update in self.updates]
        self._programs = Programs(self.schedule, written, self._interpret, name, rewrites, verify)

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
        return with_float_settings(self._compute, inputs)

    def _compute(self, inputs: Sequence[Any]) -> Any:
        outputs = self._programs(self._arrays(inputs))
        return outputs[0] if self._single else outputs

    def _interpret(self, arrays: Sequence[Any], facts: Any, reading: Reading) -> list[Any]:
        """Drain the events of a call; listeners look at each step, if there are any."""
        values: list[Any] = []
        events = self._events(arrays, values, Reading.BORROWED if is_watched() else reading)
        result = drained(events, values, step_listeners(facts))
        return [result] if self._single else list(result)

    def stage(self, inputs: Sequence[Any] = ()) -> Stage:
        """Return one call as a stage; events: each `Step` when it is done, then each `Update`.

        Steps that a switch does not need are passed over without an event.
        """
        compute = functools.partial(with_float_settings, self._compute, inputs)
        events = self._events(inputs)
        return Stage(self.name, events, self, shortcut=compute, around=with_float_settings)

    def _events(
        self, inputs: Sequence[Any], values: Any = None, reading: Reading = Reading.BORROWED
    ) -> Generator[Any, Any, Any]:
        schedule = self.schedule
        values = [] if values is None else values
        values[:] = schedule.start(self._arrays(inputs), reading)
        foreign = schedule.foreign(values, reading)
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
            add_context(error, step, values)
            raise
        results = [values[slot] for slot in schedule.results]
        written = [
            (update, new_array(update, array, foreign))
            for update, array in zip(self.updates, results[len(self.outputs) :], strict=True)
            if self._is_to_be_written(update.variable, values)
        ]
        outputs = [owned(array, foreign) for array in results[: len(self.outputs)]]
        if reading is Reading.BORROWED:  # who walks or watches may keep what was computed
            outputs = [y.copy() if isinstance(y, np.ndarray) else y for y in outputs]
        # Invariant: the variables change all together or not at all.
        take_over([(update.variable, array) for update, array in written])
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
        return [
            x
            if type(x) is np.ndarray
            and x.dtype is dtype
            and x.flags.c_contiguous
            and fits(x.shape, tensor.shape)
            else as_input(x, tensor)
            for x, (tensor, dtype) in zip(inputs, self._doors, strict=True)
        ]
