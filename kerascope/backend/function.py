"""`K.function`: compile a graph into a callable that computes.

A call has three parts. It computes every output and every new value, op by op in the order of
the schedule. It checks the new values. Only then it writes them into their variables, all at once.
So the outputs of a call belong to the weights *before* it, and a call that raised, or was abandoned
while it was stepped through, has changed nothing. Even Ctrl-C cannot divide the write: see
`atomic.py`. If an op itself writes a variable of its function, it is undefined whether later ops
read the old value or the new one.

`Function._events` is the whole of a call. Observers get an event for each of its steps. Without
observers, the third call with arrays of the same shapes runs as a NumPy program, which computes
the same results faster: see `program/`.

The train, test and predict functions of a model are made here. Theano calls it `theano.function`.

Lessons: chapters 11 (the steps of a function) and 14 (update tuples).
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Iterable, Sequence
from typing import Any

import numpy as np

from kerascope.backend.atomic import replace_arrays
from kerascope.backend.engines import checked_engine, programs_of_engine
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
    pairs,
    unshared,
)
from kerascope.backend.graph import Tensor, as_tensor
from kerascope.backend.program.dispatch import Programs
from kerascope.backend.program.inspecting import Inspectable, add_context
from kerascope.backend.schedule import Schedule, Step, is_needed
from kerascope.backend.update_order import chained
from kerascope.backend.variables import ReadMode, Variable
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
        If a variable has several pairs, the first one counts. Pairs that layer calls have added
        are all applied, one after the other: see `update_order.py`. Variables with a default
        update, such as a Dropout's count of draws, are updated too in calls that read them.
    name : str, optional
        The name of the function in traces.
    rewrites : list of str, optional
        The rules that may shorten the function's program; by default all. With `()` the program
        contains every op of the graph. The results are the same.
    verify : bool, optional
        Whether each result of the program is compared bit for bit with that of the interpreted
        steps, before any result is used. The steps of a loop (`K.rnn`) are compared op by op; up to
        rounding if they were rewritten. The default is the environment variable KERASCOPE_VERIFY:
        1 or 0.
    engine : {"numpy", "jax"}, optional
        The library that computes; by default that of `K.set_engine`. A call that is stepped
        through or recorded is computed with NumPy in any case.

    Returns
    -------
    Function
        `f([x, y])` returns a list of arrays.

    Raises
    ------
    DisconnectedGraphError
        An output needs a placeholder that is not among the inputs.
    VerificationError
        Raised by a call with `verify` if the results differ. No variable was changed.

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
    engine = checked_engine(kwargs.pop("engine", None), "K.function")
    if kwargs:
        raise ArgumentError(
            f"K.function: expected inputs, outputs, updates, name, rewrites, verify or engine, "
            f"got the unknown argument {sorted(kwargs)[0]!r}."
        )
    given = () if updates is None else updates
    return Function(inputs, outputs, given, name, rewrites, verify, engine)


class Function(Inspectable):
    """A compiled piece of the op graph; made by `K.function`.

    Attributes
    ----------
    inputs, outputs : list of Tensor
    engine : {None, "numpy", "jax"}
        The engine that computes; None for that of `K.set_engine`.
    updates : list of Update
        One for each variable that a call may write, including default updates.
    schedule : Schedule
        The ops in the order in which a call computes them.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.placeholder((2,), name="x")
    >>> f = K.function([x], [K.square(x) + 1])
    >>> f, f.schedule.steps
    (<Function function: [x] -> [add]>, [square(x) -> square, add(square, 1) -> add])
    """

    engine: str | None = None
    jax_programs: Any = None  # made by the first call on that engine

    def __init__(
        self,
        inputs: Sequence[Tensor],
        outputs: Tensor | Sequence[Tensor],
        updates: Iterable[tuple[Variable, Any]] = (),
        name: str = "function",
        rewrites: Sequence[str] | None = None,
        verify: bool | None = None,
        engine: str | None = None,
    ) -> None:
        self.name = name
        self.engine = engine
        self.inputs = checked_inputs(inputs)
        self._single = isinstance(outputs, Tensor)
        self.outputs = [outputs] if isinstance(outputs, Tensor) else [as_tensor(y) for y in outputs]
        updates = chained(pairs(updates))
        unique_updates: dict[Variable, Update] = {}
        for v, nv in updates:
            if v not in unique_updates:
                unique_updates[v] = checked_update(v, nv)
        # Variables with an update of their own, such as the number of draws of a Dropout.
        followers = default_updates(unique_updates, self.outputs)
        self.updates = [*unique_updates.values(), *followers.values()]
        new_values = [update.new_value for update in self.updates]
        follow = {v: update.new_value for v, update in followers.items()}
        results = [*self.outputs, *new_values]
        self.schedule = Schedule(self.inputs, results, follow, len(self.outputs))
        written = [update.variable for update in self.updates]
        self._programs = Programs(self.schedule, written, self._interpret, name, rewrites, verify)

    @functools.cached_property
    def _input_dtypes(self) -> list[tuple[Tensor, np.dtype]]:
        """The input tensors, each with its dtype."""
        return [(x, np.dtype(x.dtype)) for x in self.inputs]

    def __repr__(self) -> str:
        return f"<Function {self.name}: {self.inputs} -> {self.outputs}>"

    def __call__(self, inputs: Sequence[Any] = ()) -> Any:
        """Compute the outputs, then write the new values; see the module's docstring.

        Parameters
        ----------
        inputs : list of array_like
            One for each input tensor.

        Returns
        -------
        list of np.ndarray
            A NumPy scalar for a tensor without axes. The arrays share no memory with others.

        Raises
        ------
        DataError
            The number of arrays is wrong.
        ShapeError
            An array does not fit its tensor.
        """
        if is_watched():
            return self.stage(inputs).run()
        return with_float_settings(self._compute, inputs)

    def _compute(self, inputs: Sequence[Any]) -> Any:
        outputs = programs_of_engine(self)(self._arrays(inputs))
        return outputs[0] if self._single else outputs

    def stage(self, inputs: Sequence[Any] = ()) -> Stage:
        """Return one call as a stage; its events are each computed `Step`, then each `Update`.

        A step that no lazy switch needs in this call has no event.
        """
        compute = functools.partial(with_float_settings, self._compute, inputs)
        events = self._events(inputs)
        return Stage(self.name, events, self, shortcut=compute, around=with_float_settings)

    # The whole of a call. `values` holds one array for each slot. A step may return an array that
    # belongs to the caller, to a variable or to a constant. `borrowed` holds these arrays, and
    # `unshared` copies a result that is one of them. With `ReadMode.SHARED`, steps read the
    # variables' own arrays, which are never written again, so observers may keep them.
    def _events(
        self, inputs: Sequence[Any], values: Any = None, reading: ReadMode = ReadMode.SHARED
    ) -> Generator[Any, Any, Any]:
        """Compute each step, check the new values, write them all at once; return the outputs."""
        schedule = self.schedule
        values = [] if values is None else values
        values[:] = schedule.start(self._arrays(inputs), reading)
        borrowed = schedule.borrowed(values, reading)
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
            (update, new_array(update, array, borrowed))
            for update, array in zip(self.updates, results[len(self.outputs) :], strict=True)
            if self._is_to_be_written(update.variable, values)
        ]
        outputs = [unshared(array, borrowed) for array in results[: len(self.outputs)]]
        if reading is ReadMode.SHARED:  # observers may keep the values
            outputs = [y.copy() if isinstance(y, np.ndarray) else y for y in outputs]
        # Invariant: the variables change all together or not at all.
        replace_arrays([(update.variable, array) for update, array in written])
        for update, _ in written:
            yield update
        return outputs[0] if self._single else outputs

    def _is_to_be_written(self, variable: Variable, values: list[Any]) -> bool:
        """Return whether a call writes a variable.

        An update that the variable has by default, such as the count of a random op's draws, is
        written only if the call has read the variable.
        """
        guards = self.schedule.guards_of_followers.get(variable)
        return guards is None or is_needed(guards, values)

    def _interpret(self, arrays: Sequence[Any], facts: Any, reading: ReadMode) -> list[Any]:
        """Compute a call step by step for `Programs`, which may inspect the values of each step."""
        values: list[Any] = []
        events = self._events(arrays, values, ReadMode.SHARED if is_watched() else reading)
        result = Programs.run_steps(events, values, facts)
        return [result] if self._single else list(result)

    def _arrays(self, inputs: Sequence[Any]) -> list[np.ndarray]:
        if not isinstance(inputs, (list, tuple)):
            raise DtypeError(
                f"{self.name}: expected a list of inputs, one array for each of {self.inputs}, "
                f"got {type(inputs).__name__}."
            )
        if len(inputs) != len(self.inputs):
            raise DataError(
                f"{self.name}: expected {len(self.inputs)} arrays, one for each of {self.inputs}, "
                f"got {len(inputs)}."
            )
        return [
            x
            if type(x) is np.ndarray
            and x.dtype is dtype
            and x.flags.c_contiguous
            and fits(x.shape, tensor.shape)
            else as_input(x, tensor)
            for x, (tensor, dtype) in zip(inputs, self._input_dtypes, strict=True)
        ]
