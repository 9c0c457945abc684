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
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope import edge
from kerascope.backend.atomic import take_over
from kerascope.backend.float_settings import with_float_settings
from kerascope.backend.graph import Tensor, Variable, as_tensor, leaves
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.sparse import fed_array
from kerascope.backend.program.alarms import alarms_now
from kerascope.backend.program.bound import Facts, note
from kerascope.backend.program.dispatch import Programs
from kerascope.backend.program.draft import Explanation
from kerascope.backend.program.program import Program
from kerascope.backend.program.rules import RULES
from kerascope.backend.program.stacks import RULE as STACKS
from kerascope.backend.provenance import provenance_of
from kerascope.backend.schedule import Reading, Schedule, Step, is_needed
from kerascope.backend.scopes import COMPILE, LAYER
from kerascope.backend.shapes import Shape, merge_shapes
from kerascope.backend.update_order import chained
from kerascope.errors import ArgumentError, DataError, DtypeError, ShapeError
from kerascope.registry import did_you_mean
from kerascope.stage import Stage, is_watched

__all__ = ["Function", "function"]


# --- checks of a function's arguments, and of the arrays of every call ----------------------------


def checked_inputs(inputs: Any) -> list[Tensor]:
    """Return the inputs of a new function, after a check that they are tensors."""
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


def checked_rewrites(names: Sequence[str] | None) -> list[str] | None:
    """Return the names of rules, after a check that there are such."""
    if names is None:
        return None
    names = [names] if isinstance(names, str) else list(names)
    known = [*RULES, STACKS]
    for name in names:
        if name not in known:
            near = did_you_mean(str(name), known)
            raise ArgumentError(
                f"K.function: rewrites has {name!r}. {near}Expected names of {', '.join(known)}."
            )
    return names


@functools.lru_cache(maxsize=4096)
def fits(shape: Shape, wanted: Shape) -> bool:
    """Tell whether an array of this shape may be fed to a tensor of that one."""
    return merge_shapes(shape, wanted) is not None


def as_input(value: Any, tensor: Tensor) -> np.ndarray:
    """Return what was fed as an array of the tensor's type, in C's order.

    Raises
    ------
    DtypeError
        It cannot be read as such.
    ShapeError
        It does not fit.
    """
    try:
        array = np.asarray(fed_array(value, tensor), dtype=tensor.dtype, order="C")
    except (TypeError, ValueError) as error:
        raise DtypeError(
            f"input '{tensor.name}': cannot be read as {tensor.dtype} ({error}).", subject=tensor
        ) from None
    if not fits(array.shape, tensor.shape):
        raise ShapeError(
            f"input '{tensor.name}': array of shape {array.shape}; expected {tensor.shape}.",
            subject=tensor,
        )
    return array


# --- the function ---------------------------------------------------------------------------------


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
    pairs = () if updates is None else updates
    return Function(inputs, outputs, pairs, name=name, rewrites=rewrites, verify=verify)


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
        rewrites: Sequence[str] | None = None,
        verify: bool | None = None,
    ) -> None:
        self.name = name
        self.inputs = checked_inputs(inputs)
        self._doors = [(x, np.dtype(x.dtype)) for x in self.inputs]
        self._single = isinstance(outputs, Tensor)
        self.outputs = [outputs] if isinstance(outputs, Tensor) else [as_tensor(y) for y in outputs]
        updates = chained(_pairs(updates))
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

    def _interpret(self, arrays: Sequence[Any], facts: Facts | None, reading: Reading) -> list[Any]:
        """Drain the events of a call, and note what its arrays look like, if that is wanted."""
        values: list[Any] = []
        events = self._events(arrays, values, Reading.BORROWED if is_watched() else reading)
        alarms = alarms_now()
        while True:
            try:
                event = next(events)
            except StopIteration as stop:
                return [stop.value] if self._single else list(stop.value)
            if facts is not None and isinstance(event, Step):
                note(facts, event, values)
            if alarms is not None and isinstance(event, Step):
                alarms.look_at_step(event, values)

    @property
    def programs(self) -> list[Program]:
        """The NumPy code that this function became: one program for each set of input shapes."""
        return list(self._programs.programs.values())

    @property
    def source(self) -> str:
        """The text of the program that was made last: Python, with one NumPy call on each line.

        Below it stand the loops that it calls.

        Raises
        ------
        ArgumentError
            There is none yet: it is written when arrays of the same shapes come again.
        """
        return self._last_program().listing

    def explain(self) -> Explanation:
        """Return a table of all steps: how each is written, and where its result lies.

        A step that is not written has the reason in its place.

        Raises
        ------
        ArgumentError
            There is no program yet.
        """
        return Explanation(self._last_program().draft())

    def profile(self, inputs: Sequence[Any] | None = None, **options: Any) -> Any:
        """Measure where the time of a call goes; the variables keep their values.

        Parameters
        ----------
        inputs : list of array_like, optional
            As for a call; by default made up, with the shapes of the last program.
        **options
            As for `kerascope.profile`.

        Returns
        -------
        Profile
            A table by phase, layer and op, which prints itself, and can be drawn.
        """
        return edge.show("profile", self, x=inputs, **options)

    def _last_program(self) -> Program:
        if not self.programs:
            raise ArgumentError(
                f"{self.name}: no program is written yet. That is done for the shapes of the "
                f"inputs when they come for the second time: call the function twice first."
            )
        return self.programs[-1]

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
            _add_context(error, step, values)
            raise
        results = [values[slot] for slot in schedule.results]
        written = [
            (update, _new_array(update, array, foreign))
            for update, array in zip(self.updates, results[len(self.outputs) :], strict=True)
            if self._is_to_be_written(update.variable, values)
        ]
        outputs = [_owned(array, foreign) for array in results[: len(self.outputs)]]
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


def _pairs(updates: Iterable[tuple[Variable, Any]]) -> Iterator[tuple[Variable, Any]]:
    """Yield the pairs; a new value alone does not say what it is for."""
    for update in [updates] if isinstance(updates, Tensor) else updates:
        if isinstance(update, Tensor):
            raise DtypeError(
                f"updates: '{update.name}' is one tensor; expected pairs (variable, new value). "
                f"Write updates=[(v, {update.name})] with the variable v that is to get it.",
                subject=update,
            )
        yield update


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


def _owned(array: Any, foreign: dict[int, Any]) -> Any:
    """Return the array, or a copy if somebody else could see it change."""
    array = np.asarray(array)
    if array.ndim == 0:
        return array[()]
    if array.base is not None or id(array) in foreign:
        return array.copy()
    foreign[id(array)] = array
    return array


def _new_array(update: Update, array: Any, foreign: dict[int, Any]) -> np.ndarray:
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
        f"while computing {step.apply.name!r} = {step.apply!r} on arrays of shapes {shapes}"
    )
    found = provenance_of(step.apply)
    if found is not None and found.kind != LAYER:
        of = f"the op {found.gradient_of!r}, whose gradient it is," if found.gradient_of else "it"
        what = "its model was compiled" if found.kind == COMPILE else f"{of} was made"
        file, line, function, *_ = found.line
        error.add_note(f"{what} at {file}, line {line}, in {function}")
    if step.apply.scope.made_at is not None:
        path, line = step.apply.scope.made_at
        error.add_note(f"its layer was made at {path}, line {line}")
