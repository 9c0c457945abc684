"""The programs of a function, one for each set of input shapes that is used again."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from kerascope.backend.atomic import LOCKS, WITHOUT_WAITING, Exclusive
from kerascope.backend.constants import defaults_to_ones, is_constant_ones
from kerascope.backend.program.alarms import Alarms, current_alarms
from kerascope.backend.program.bound import Facts, Trial, conditions_of, record_facts
from kerascope.backend.program.checks import checked_loops, own_failure
from kerascope.backend.program.flat import Homes
from kerascope.backend.program.program import Program
from kerascope.backend.program.verified import VerifiedProgram
from kerascope.backend.schedule import Schedule, Step
from kerascope.backend.variables import ReadMode, Variable
from kerascope.errors import VerificationError
from kerascope.printable import printable
from kerascope.settings import verify_of_environment

MOST_PROGRAMS = 16
MOST_STEPS = 30_000  # beyond that, compiling costs more than it saves
CALLS_BEFORE = 1  # calls with the same shapes before a program is compiled

Interpret = Callable[[Sequence[np.ndarray], Facts | None, ReadMode], list[Any]]


class Programs(Exclusive):
    """Runs each call of a function, by its program if there is one, otherwise step by step.

    Parameters
    ----------
    schedule : Schedule
    variables : list of Variable
        The variables that a call writes, in the order of the schedule's results.
    interpret : callable
        Computes the outputs step by step. Its arguments are the input arrays, a dict to which
        `Fact`s are added by slot (or None), and the `ReadMode` for variables.
    name : str
        The name of the function.
    rewrites : list of str, optional
        The names of the rules to use; by default all.
    verify : bool, optional
        Whether each call compares its program with the interpreted steps. The default is the
        environment variable KERASCOPE_VERIFY.

    Attributes
    ----------
    programs : dict of tuple to Program
        The programs, the newest last. The key consists of the shapes of the inputs, the truth of
        the conditions, and which sample weights are constants of ones.
    """

    _kind: type[Program] = Program  # for pickles of older versions

    def __init__(
        self,
        schedule: Schedule,
        variables: Sequence[Variable],
        interpret: Interpret,
        name: str,
        rewrites: Sequence[str] | None = None,
        verify: bool | None = None,
    ) -> None:
        super().__init__()
        self.programs: dict[Any, Program] = {}
        self._schedule = schedule
        self._variables = list(variables)
        self._name = name
        self._rewrites = rewrites
        verify = verify_of_environment() if verify is None else verify
        self._kind = VerifiedProgram if verify else Program
        self._interpret = functools.partial(_with_checked_loops, interpret) if verify else interpret
        self._homes: Homes = {}
        self._counts: dict[Any, int] = {}
        self._refused: set[Any] = set()  # shapes whose program has failed
        self._conditions = sorted(conditions_of(schedule))
        self._mostly_ones = [slot for slot, x in enumerate(schedule.inputs) if defaults_to_ones(x)]
        self._calls_before = self._first_calls

    @staticmethod
    def run_steps(events: Generator[Any, Any, Any], values: list[Any], facts: Facts | None) -> Any:
        """Compute a call step by step, and return its outputs.

        After each step, `Fact`s about its results are added to `facts`, if given. If alarms are on,
        they inspect the results.
        """
        alarms = current_alarms()
        while True:
            try:
                event = next(events)
            except StopIteration as stop:
                return stop.value
            if isinstance(event, Step):
                if facts is not None:
                    record_facts(facts, event, values)
                if alarms is not None:
                    alarms.inspect_step(event, values)

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes to pickle, without programs: a copy compiles its own."""
        fresh: dict[str, Any] = {"programs": {}, "_homes": {}, "_counts": {}, "_refused": set()}
        return {**vars(self), **fresh, "_calls_before": self._first_calls, "lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        super().__init__()

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Return the outputs for these input arrays, and write the new values into the variables.

        Several threads may call this at once. Calls that update variables run one at a time. A call
        that only reads never mixes values from before and after an update: if a variable is written
        during the call, the call is computed again.
        """
        key = self._key(arrays)
        program = self.programs.get(key)
        if self._variables if program is None else program.writes:
            with LOCKS.steps:
                return self._choose(key, program, arrays)
        with LOCKS.writing:
            since = LOCKS.writes
        outputs = self._choose(key, program, arrays)
        if LOCKS.writes != since:
            variables = {id(v) for _, v in self._schedule.variables}
            if LOCKS.has_changed(variables, since):
                return self._interpret(arrays, None, ReadMode.COPIED)
        return outputs

    def guarded(self, arrays: Sequence[np.ndarray], alarms: Alarms) -> tuple[list[Any], bool]:
        """Compute a call with alarms; return its outputs, and whether all results were inspected.

        Raises
        ------
        Alarm
            A number became infinite or NaN; nothing was written.
        """
        key = self._key(arrays)
        program = self.programs.get(key)
        with LOCKS.steps:
            if program is None:
                return self._choose(key, None, arrays), True
            codes = program.begin_guarded(alarms)
            is_same = True
            try:
                outputs = self._choose(key, program, arrays)
            finally:
                is_same = program.end_guarded(*codes)
            return outputs, is_same

    def _choose(self, key: Any, program: Program | None, arrays: Sequence[np.ndarray]) -> list[Any]:
        if program is None:
            if self._is_due(key):
                return self._compile(key, arrays)
            return self._interpret(arrays, None, self._reading)
        lock, taken = self.lock, False
        try:
            (taken,) = map(lock.acquire, WITHOUT_WAITING)
            if taken:
                return program(arrays)
        except VerificationError:
            raise
        except Exception as error:
            if not taken or program.state.has_written:
                raise
            failure = own_failure(lambda: program(arrays), error)
            if program.state.has_written:
                raise failure from None
            return self._step_after(failure, key, arrays)
        finally:
            if taken:
                lock.release()
        # The memory of a program exists once: a second thread computes without the program.
        return self._interpret(arrays, None, self._reading)

    @property
    def _reading(self) -> ReadMode:
        """How a call without a program reads variables: in place, or copied if calls write any."""
        return ReadMode.COPIED if self._variables else ReadMode.IN_PLACE

    @property
    def _first_calls(self) -> int:
        """The number of calls with the same shapes before a program is compiled."""
        return 0 if self._kind is VerifiedProgram else CALLS_BEFORE

    def program_for(self, arrays: Sequence[np.ndarray]) -> Program | None:
        """Return the program for arrays of these shapes, or None if there is none yet."""
        return self.programs.get(self._key(arrays))

    def _key(self, arrays: Sequence[np.ndarray]) -> Any:
        key: Any = tuple([array.shape for array in arrays])
        if self._conditions:
            key = (key, tuple([bool(arrays[slot]) for slot in self._conditions]))
        if self._mostly_ones:
            key = (key, tuple([is_constant_ones(arrays[slot]) for slot in self._mostly_ones]))
        return key

    def _step_after(self, failure: Exception, key: Any, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Compute a call step by step after its program failed, before any variable was written.

        If a step fails as well, its error is raised. Otherwise the program is wrong, and no
        programs are used for these shapes any more.
        """
        outputs = self._interpret(arrays, None, self._reading)
        self._refuse(key, "failed where its steps do not", failure)
        return outputs

    def _refuse(self, key: Any, what: str, failure: Exception) -> None:
        """Stop using programs for the shapes in `key`, and warn of the failure of the last one."""
        self.programs.pop(key, None)
        self._refused.add(key)
        warnings.warn(
            f"{printable(self._name)}: its NumPy program {what} "
            f"({type(failure).__name__}: {failure}). "
            f"From now on the function is computed step by step. Please report this.",
            RuntimeWarning,
            stacklevel=5,
        )

    def _is_due(self, key: Any) -> bool:
        """Return whether enough calls with these shapes were made to compile a program."""
        if key in self._refused or len(self._schedule.steps) > MOST_STEPS:
            return False
        calls = self._counts[key] = self._counts.get(key, 0) + 1
        if calls == 1 and len(self._counts) > 8 * MOST_PROGRAMS:
            self._counts = {key: 1}
        return calls > self._calls_before

    def _compile(self, key: Any, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Compute a call step by step, record all shapes, and compile a program for later calls."""
        with LOCKS.steps:
            facts: Facts = {}
            outputs = self._interpret(arrays, facts, self._reading)
            trial = Trial(arrays, self._numbers(arrays), facts)
            if len(self.programs) >= MOST_PROGRAMS:
                # When shapes vary this much, programs may cost more than they save: require more
                # calls before the next ones are compiled.
                self.programs.pop(next(iter(self.programs)), None)
                self._calls_before *= 2
                self._counts.clear()
            options = (trial, self._homes, self._name, self._rewrites)
            write = functools.partial(self._kind, self._schedule, self._variables, *options)
            try:
                self.programs[key] = write()
            except Exception as error:  # the call itself succeeded
                self._refuse(key, "cannot be compiled", own_failure(write, error))
        return outputs

    def _numbers(self, arrays: Sequence[np.ndarray]) -> dict[int, np.ndarray]:
        """Return, by slot, the inputs whose values a program may depend on.

        These are conditions, and sample weights that are all 1.
        """
        ones = {slot: arrays[slot] for slot in self._mostly_ones if is_constant_ones(arrays[slot])}
        return {slot: arrays[slot].copy() for slot in self._conditions} | ones


def _with_checked_loops(
    interpret: Interpret, arrays: Sequence[Any], facts: Facts | None, reading: ReadMode
) -> list[Any]:
    with checked_loops():
        return interpret(arrays, facts, reading)
