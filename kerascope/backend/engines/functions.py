"""Calls of functions on JAX: one compiled program for each set of shapes, weights on the device.

`JaxPrograms` has the interface of `program.dispatch.Programs`. It computes a call by one XLA
program that also returns the new values of the variables. The variables of a function live in a
`DeviceState`: a step replaces all of them by one assignment, and an array is copied to NumPy only
when it is read (`Variable.room`). NumPy and JAX functions can use the same variables alternately.

NumPy computes what XLA cannot: functions in which sizes depend on values, calls that observers
watch, and calls with a value that an op refuses, which then raise the usual error. A call that
raised, or was interrupted, has changed nothing.
"""

from __future__ import annotations

import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kerascope.backend.atomic import LOCKS, at_once, write
from kerascope.backend.engines import rules
from kerascope.backend.engines.distribution import Distribution, distribution
from kerascope.backend.engines.lowering import (
    INTERRUPTS,
    SEVERAL_DEVICES,
    CannotLower,
    are_met,
    requirements,
    run,
)
from kerascope.backend.engines.placement import Placement, fetched
from kerascope.backend.program.alarms import Alarms, current_alarms, is_sound
from kerascope.backend.program.bound import conditions_of
from kerascope.backend.program.dispatch import Programs
from kerascope.backend.variables import Variable
from kerascope.errors import ArgumentError
from kerascope.files import cache_folder
from kerascope.printable import printable
from kerascope.user_frames import warn

__all__ = ["DeviceState", "JaxPrograms", "rules"]

# What JAX raises. Other exceptions come from handlers of signals, and pass through.
FAILURES = (
    *(ArithmeticError, AttributeError, LookupError, NotImplementedError, RecursionError),
    *(TypeError, ValueError, jax.errors.JaxRuntimeError),
)
MANY_COMPILATIONS = 16
COLLECTIVES = ("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute")
SECONDS_BEFORE_NOTICE = 2.0


if jax.config.jax_compilation_cache_dir is None:  # so the next process need not compile again
    jax.config.update("jax_compilation_cache_dir", str(cache_folder("xla")))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)  # JAX's default is 1


class XlaExplanation(NamedTuple):
    """A description of a program that XLA compiled. `print` shows it as text.

    Attributes
    ----------
    name : str
        The name of the function.
    shapes : list of tuple of int
        The shapes of the function's inputs.
    devices : int
        How many devices compute the function together.
    collectives : dict of str to int
        How often the devices exchange arrays in a call, by the kind of exchange.
    text : str
        The program in XLA's own language.
    """

    name: str
    shapes: list[tuple[int, ...]]
    devices: int
    collectives: dict[str, int]
    text: str

    def __str__(self) -> str:
        listed = ", ".join(f"{n} {kind}" for kind, n in self.collectives.items())
        devices = "1 device" if self.devices == 1 else f"{self.devices} devices"
        return (
            f"{self.name}{self.shapes}: compiled by XLA for {devices}; "
            f"{self.text.count(' = ')} instructions, "
            f"{sum(self.collectives.values())} collectives{listed and ': '}{listed}"
        )


def programs_of(function: Any) -> JaxPrograms:
    """Return new JAX programs of a function.

    If the function's engine is a distribution, the arrays are divided by it. Otherwise they are
    divided by the distribution that `set_distribution` has set, if there is one.
    """
    return JaxPrograms(function._programs, _distribution_of(function.engine))


def _distribution_of(engine: Any) -> Distribution | None:
    return engine if isinstance(engine, Distribution) else distribution()


class DeviceState:
    """Variables whose arrays are on a device.

    Parameters
    ----------
    variables : list of Variable

    Attributes
    ----------
    content : (list of jax.Array, dict of int to np.ndarray)
        The arrays of the variables, and copies in NumPy of the arrays that were read, by the index
        of the variable. A call that writes variables replaces the whole content.
    """

    def __init__(self, variables: Sequence[Variable]) -> None:
        self.variables = list(variables)
        self.index = {v: number for number, v in enumerate(self.variables)}
        self.content: tuple[list[Any], dict[int, np.ndarray]] = ([], {})

    def array_of(self, variable: Variable) -> np.ndarray:
        """Return the array of a variable as a read-only NumPy array."""
        arrays, copies = self.content
        number = self.index[variable]
        if number not in copies:
            array = np.require(fetched(arrays[number]), requirements="C")
            array.flags.writeable = False
            copies[number] = array
        return copies[number]


class JaxPrograms:
    """Runs each call of a function by XLA, or by NumPy if XLA cannot.

    Parameters
    ----------
    programs : Programs
        The NumPy programs of the same function.
    distribution : Distribution, optional
        The devices that compute together; by default one.

    Attributes
    ----------
    refused : str or None
        The reason why all calls run on NumPy; None if they run on JAX.
    compilations : int
        How often the function was compiled: once for each set of shapes and learning phase.
    """

    def __init__(self, programs: Programs, distribution: Distribution | None = None) -> None:
        self.numpy = programs
        self.distribution = distribution
        self._placement = Placement(distribution)
        self.refused: str | None = None
        self.compilations = 0
        self._schedule, self._name = programs._schedule, programs._name
        written = programs._variables
        self._written = DeviceState(written)
        self._kept = DeviceState([v for _, v in self._schedule.variables if v not in set(written)])
        if distribution is not None:
            for v in (*written, *self._kept.variables):
                distribution.get_variable_layout(v)  # which raises if the layout does not fit
        self._ids = frozenset(map(id, written))
        self._conditions = sorted(conditions_of(self._schedule))
        self._arrays_of_kept: list[Any] = []
        self._seen: Any = None  # `LOCKS.moves` when all variables were known to be on the device
        self._newest: Any = None  # the conditions and the inputs of the newest program
        self._notice: threading.Timer | None = None
        self._program: Any = jax.jit(self._trace, static_argnums=0)

    def explain(self) -> Any:
        """Return a description of the newest program: its input shapes, its devices and its text.

        Raises
        ------
        ArgumentError
            No program was made yet.
        """
        if self._newest is None:
            raise ArgumentError(f"{self._name}: no program was made yet. Call the function first.")
        flags, shapes = self._newest
        with LOCKS.steps, jax.enable_x64(True):
            self._collect()
            arrays = self._placement.put_inputs([np.zeros(x.shape, x.dtype) for x in shapes])
            state = (self._written.content[0], self._arrays_of_kept)
            program = self._program.lower(flags, *state, arrays).compile()
        text = program.as_text()
        counts = Counter(re.findall(rf" ({'|'.join(COLLECTIVES)})(?:-start)?\(", text))
        facts = ([x.shape for x in shapes], self._placement.n_devices, dict(counts), text)
        return XlaExplanation(self._name, *facts)

    def is_for(self, engine: Any) -> bool:
        """Return whether these programs use the devices that `engine` uses now."""
        return self.distribution is _distribution_of(engine)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle None. A copy makes its own programs, perhaps where JAX has other devices."""
        return type(None), ()

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Return the outputs for these input arrays, and write the new values of the variables."""
        return self._run(arrays, self.numpy)

    def guarded(self, arrays: Sequence[np.ndarray], alarms: Alarms) -> tuple[list[Any], bool]:
        """Compute a call with alarms; return its outputs, and whether all results were tested.

        JAX tests that every result is finite. If one is not, nothing is written, and NumPy repeats
        the call: it raises `Alarm` if it gets an infinite or NaN number too, and it may leave
        results untested.
        """
        found = self._run(arrays, partial(self.numpy.guarded, alarms=alarms))
        return found if isinstance(found, tuple) else (found, True)

    def _run(self, arrays: Sequence[np.ndarray], by_numpy: Callable[..., Any]) -> Any:
        failure: Exception | None = None
        outputs: Sequence[Any] = ()
        try:
            outputs, is_valid = self._step(arrays)
            if is_valid:
                return [np.array(y)[()] for y in outputs]
            if INTERRUPTS:  # no variable has changed
                raise INTERRUPTS.pop()
        except CannotLower as error:
            self.refused = str(error)
            warn(f"{printable(self._name)}: NumPy computes it, not JAX. {error}", RuntimeWarning)
        except FAILURES as error:
            if "CpuCallback" in str(error):  # Ctrl-C in JAX's own part of a callback
                raise KeyboardInterrupt from error
            failure = error
        finally:
            if self._notice is not None:
                self._notice.cancel()
                self._notice = None
        found = by_numpy(arrays)  # which raises the usual error if the call is at fault
        made = found[0] if isinstance(found, tuple) else found
        if not all(map(is_sound, outputs)) and all(map(is_sound, made)):
            failure = FloatingPointError("its results are infinite or NaN, those of NumPy are not")
        if failure is not None:
            self._report(failure)
        return found

    def _report(self, failure: Exception) -> None:
        """Warn that JAX failed, and that NumPy computed the call.

        NumPy also computes all later calls, except after a `JaxRuntimeError`, such as exhausted
        memory.
        """
        text = f"JAX failed ({type(failure).__name__}: {str(failure).partition(chr(10))[0]})."
        if not isinstance(failure, jax.errors.JaxRuntimeError):
            self.refused = text
        name = printable(self._name)
        warn(f"{name}: {text} NumPy computed the call. Please report this.", RuntimeWarning)

    def _step(self, arrays: Sequence[np.ndarray]) -> tuple[Any, bool]:
        """Run the compiled program, and set the variables to the new values that it returns.

        Returns
        -------
        (outputs, is_valid)
            `is_valid` is False if an op does not accept a value, such as an index out of range, or
            if the call has alarms and a result is not finite. Then no variable is set.
        """
        conditions = [arrays[slot].item() for slot in self._conditions]
        flags = (current_alarms() is not None, *[x if x in (0, 1) else None for x in conditions])
        uses_64_bits = jax.config.jax_enable_x64  # in this thread, for other code
        try:
            with LOCKS.steps, jax.enable_x64(True):
                if self._seen != LOCKS.moves:
                    self._collect()
                inputs = self._arrays_of_kept, self._placement.put_inputs(arrays)
                outputs, new, is_valid = self._program(flags, self._written.content[0], *inputs)
                is_valid = is_valid is None or bool(is_valid)
                if new and is_valid:
                    new[0].block_until_ready()  # a program that fails writes nothing
                    self._commit((new, {}))
            return outputs, is_valid
        finally:
            if jax.config.jax_enable_x64 != uses_64_bits:  # Ctrl-C came while JAX set it back
                jax.enable_x64(uses_64_bits).__enter__()

    def _commit(self, content: Any) -> None:
        """Replace the values of all written variables by one assignment."""
        before: list[Any] = []
        moves = object()
        calls = [
            partial(before.extend, map(getattr, [LOCKS], ["moves"])),
            partial(setattr, self._written, "content", content),
            partial(setattr, LOCKS, "moves", moves),
        ]
        write(calls, self._ids)
        # The handler of a signal may have set variables since they were collected.
        self._seen = moves if before == [self._seen] else None

    def _collect(self) -> None:
        """Move all variables of the function to the device.

        Variables that the function writes move into its own `DeviceState`. A variable that it only
        reads stays in the `DeviceState` of another function; without one, it moves into `_kept`. If
        a signal handler writes a variable meanwhile, nothing moves, and this method starts again.
        """
        before, moves = LOCKS.moves, object()
        states = (self._written, self._kept)
        arrays = [[self._on_device(v) for v in state.variables] for state in states]
        calls: list[Any] = [
            partial(list, map({before: 0}.__getitem__, map(getattr, [LOCKS], ["moves"])))
        ]
        for state, new in zip(states, arrays, strict=True):
            calls.append(partial(setattr, state, "content", (new, {})))
            for v in state.variables:
                if state is self._written or v.state is None or v.state is self._kept:
                    calls += v._calls_to_live_in(state)
        try:
            with LOCKS.writing:  # no value changes
                at_once([*calls, partial(setattr, LOCKS, "moves", moves)])
        except KeyError:
            return self._collect()
        self._arrays_of_kept = arrays[1]
        self._seen = moves

    def _on_device(self, variable: Variable) -> Any:
        state: Any = variable.state
        if state is not None:
            array = state.content[0][state.index[variable]]
            if self._placement.has_placed(variable, array):
                return array
        return self._placement.put_variable(variable)

    # --- tracing ----------------------------------------------------------------------------------

    def _trace(self, flags: Any, written: Any, kept: Any, arrays: Any) -> tuple[Any, Any, Any]:
        """Run the schedule on tracers; return (outputs, new values of variables, is_valid).

        `is_valid` is a tracer: whether the ops accept all values, such as indices in range, and
        with alarms, whether all results are finite too. It is None if nothing needs a check.
        """
        self._count_compilation()
        SEVERAL_DEVICES.set(self._placement.n_devices > 1)
        self._newest = flags, [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays]
        schedule = self._schedule
        values = dict(zip(self._written.variables, written, strict=True))
        values.update(zip(self._kept.variables, kept, strict=True))
        inputs = list(arrays)
        for slot, flag in zip(self._conditions, flags[1:], strict=True):
            if flag is not None:  # otherwise each number would need a program of its own
                inputs[slot] = np.full(inputs[slot].shape, flag, inputs[slot].dtype)
        with requirements() as all_met:
            slots = run(schedule, inputs, [values[v] for _, v in schedule.variables])
            is_valid = all_met()
        # A result that is an input gets its own memory: the caller may write into the input.
        results = [jnp.array(slots[slot], copy=True) for slot in schedule.results]
        outputs, new = results[: schedule.n_outputs], results[schedule.n_outputs :]
        for number, (v, old) in enumerate(zip(self._written.variables, written, strict=True)):
            guards = schedule.guards_of_followers.get(v)
            is_read = True if guards is None else are_met(guards, slots)
            if is_read is not True:
                new[number] = jnp.where(is_read, new[number], old)
            new[number] = self._placement.placed(v, new[number])
        on_all = self._placement.on_all
        return list(map(on_all, outputs)), new, on_all(is_valid)

    def _count_compilation(self) -> None:
        self.compilations += 1
        name = printable(self._name)
        text = f"{name}: JAX is compiling a program. Later calls with these shapes are fast."
        self._notice = threading.Timer(SECONDS_BEFORE_NOTICE, print, [text], {"file": sys.stderr})
        self._notice.daemon = True
        self._notice.start()
        if self.compilations == MANY_COMPILATIONS:
            warn(
                f"{name}: JAX has compiled {MANY_COMPILATIONS} programs, one for each set of "
                "shapes. Pad the inputs to a few lengths, so that programs are used again.",
                RuntimeWarning,
            )
