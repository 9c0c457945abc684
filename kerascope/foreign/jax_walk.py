"""The walk through a traced function of JAX that writes down its calls: as traced, or as it runs.

`Reading` goes through all equations: every branch of a `cond`, the body of a loop once. `Running`
executes them, each by its own primitive: of a `cond` the branch that is taken, of a loop each turn
up to `MOST_TURNS`; the turns after that run without being written down.

An array of the model is a parameter of each equation that reads it, and so is one that lies in
another form only: the bias that a layer reshapes before it adds it is the bias still.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn, jaxpr_as_fun

from kerascope.foreign.jax_bodies import Body, Step, is_variable
from kerascope.foreign.jax_equations import VIEWS, kind_of, number, settings_of
from kerascope.foreign.records import Setting, Value
from kerascope.foreign.scopes import Scopes
from kerascope.foreign.writer import TapeWriter

MOST_TURNS = 100  # of a loop, that are written down
_NATIVE = "biufc"  # kinds of NumPy's own numbers


class Known(NamedTuple):
    """A value on its way.

    Attributes
    ----------
    value : Value
        How it is written down.
    array : jax.Array, optional
        None while nothing runs.
    role : str
        What it is called as an array of the model, in whatever form; "" for any other.
    origin : Value, optional
        That array as the model has it.
    words : str
        The number that it is everywhere, if it was written as one.
    """

    value: Value
    array: Any = None
    role: str = ""
    origin: Value | None = None
    words: str = ""

    @property
    def flows(self) -> bool:
        """Whether it comes along an arrow."""
        return not self.role and not self.words


class Reading:
    """Walks through a traced function, without numbers.

    Parameters
    ----------
    writer : TapeWriter
    roles : mapping of int to str
        Names of arrays that the function has around it, by their identity.
    """

    def __init__(self, writer: TapeWriter, roles: Mapping[int, str]) -> None:
        self.writer = writer
        self.roles = roles
        self._tokens = count()

    # --- a jaxpr ----------------------------------------------------------------------------------

    def walk(self, body: Body, given: Sequence[Known]) -> list[Known]:
        """Write down the calls of a jaxpr and return its outputs."""
        known = self._begin(body, given)
        with Scopes(self.writer) as scopes:
            for step in body.steps:
                scopes.move(step.scopes)
                equation = step.equation
                outputs = self.step(step, [self._read(one, known) for one in equation.invars])
                known.update(zip(equation.outvars, outputs, strict=True))
        return [self._read(one, known) for one in body.jaxpr.outvars]

    def _begin(self, body: Body, given: Sequence[Known]) -> dict[Any, Known]:
        """Return what the variables of a jaxpr stand for before its first equation."""
        known = dict(zip(body.jaxpr.invars, given, strict=True))
        for variable, array in zip(body.jaxpr.constvars, body.constants, strict=True):
            known[variable] = one = self.constant(variable.aval, array)
            if one.flows:
                name = f"{body.name}.constant" if body.name else "constant"
                self.writer.call(name, [], [one.value], op="Constant", kind="constant")
        return known

    def _read(self, atom: Any, known: Mapping[Any, Known]) -> Known:
        return known[atom] if is_variable(atom) else self.constant(atom.aval, atom.val)

    def constant(self, aval: Any, array: Any) -> Known:
        """Return a number, or an array that the function has around it."""
        value = self._value(aval, array)
        if np.ndim(array) == 0 and value.read is not None:
            return self._known(value, array, words=str(number(array)))
        role = self.roles.get(id(array), "")
        return self.parameter(aval, array, role) if role else self._known(value, array)

    def parameter(self, aval: Any, array: Any, role: str) -> Known:
        """Return an array of the model."""
        value = self._value(aval, array)
        value = value._replace(trainable=value.dtype.startswith(("float", "bfloat")))
        return self._known(value, array, role=role)

    def _known(self, value: Value, array: Any, role: str = "", words: str = "") -> Known:
        return Known(value, None, role, value if role else None, words)

    def step(self, step: Step, operands: Sequence[Known]) -> list[Known]:
        """Write down an equation, and what is inside it; return what it gives."""
        if not step.bodies:
            return self._leaf(step, step.equation, operands)
        if step.is_whole:
            body = step.bodies[""]
            (inner,) = body.steps
            known = self._begin(body, operands)
            given = [self._read(one, known) for one in inner.equation.invars]
            outputs = self._leaf(step, inner.equation, given)
            known.update(zip(inner.equation.outvars, outputs, strict=True))
            return [self._read(one, known) for one in body.jaxpr.outvars]
        with self.frame(step.name, step.op, step):
            if "" in step.bodies:
                return self.walk(step.bodies[""], operands)
            walk = {"scan": self._scan, "while": self._while, "cond": self._cond}
            return walk[step.equation.primitive.name](step, operands)

    def _leaf(self, step: Step, equation: JaxprEqn, operands: Sequence[Known]) -> list[Known]:
        """Write down an equation that holds no other."""
        outputs = self.outputs(equation, operands)
        primitive = equation.primitive.name
        if primitive in VIEWS and len(operands) == 1 and not operands[0].flows:
            (whole,), (view,) = operands, outputs
            return [view._replace(role=whole.role, origin=whole.origin, words=whole.words)]
        words = [one.words for one in operands]
        settings = settings_of(primitive, equation.params, words)
        arrays = sum(bool(one.role) for one in operands)
        kind = kind_of(step.op, arrays, sum(one.flows for one in operands))
        self._call(step, step.name, operands, outputs, kind, settings)
        return outputs

    def frame(self, name: str, op: str, step: Step) -> AbstractContextManager[Any]:
        """Return a frame around the calls that are written while it is open."""
        return self.writer.span("node", name, op=op, line=step.line)

    def _call(
        self,
        step: Step,
        name: str,
        inputs: Sequence[Known],
        outputs: Sequence[Known],
        kind: str,
        settings: Mapping[str, Setting],
    ) -> None:
        parameters: dict[str, Value] = {}
        for one in inputs:
            if one.origin is not None:
                short = one.role.rpartition(".")[2]
                parameters[one.role if short in parameters else short] = one.origin
        self.writer.call(
            name,
            [one.value for one in inputs if one.flows],
            [one.value for one in outputs],
            op=step.op,
            kind=kind,
            line=step.line,
            settings=settings,
            parameters=parameters,
        )

    # --- equations that hold jaxprs ---------------------------------------------------------------

    def _scan(self, step: Step, operands: Sequence[Known]) -> list[Known]:
        params, body = step.equation.params, step.bodies["body"]
        first, number = params["num_consts"], params["num_carry"]
        constants, states = operands[:first], [*operands[first : first + number]]
        rows = operands[first + number :]
        order = range(params["length"])
        order = order[::-1] if params["reverse"] else order
        collected: list[list[Known]] = []
        for place in self.turns(order):
            with self.frame(body.name, "turn", step):
                start = [*map(self.passed, states), *(self.piece(row, place) for row in rows)]
                self._start(step, body, [*states, *rows], start)
                outputs = self.walk(body, [*constants, *start])
            states = outputs[:number]
            collected.append(outputs[number:])
        written = [*states, *(one for turn in collected for one in turn)]
        settings: dict[str, Setting] = {"turns": len(order)}
        if 1 < len(collected) < len(order):
            settings["shown"] = len(collected)
            states, more = self.rest(body, constants, states, rows, order[len(collected) :])
            collected += more
        results = [self.passed(state) for state in states]
        for one, variable in enumerate(step.equation.outvars[number:]):
            pieces = [turn[one] for turn in collected]
            pieces = pieces[::-1] if params["reverse"] else pieces
            results.append(self.stacked(variable.aval, pieces))
        self._call(step, f"{step.name}.result", written, results, "merge", settings)
        return results

    def _while(self, step: Step, operands: Sequence[Known]) -> list[Known]:
        params, test, body = step.equation.params, step.bodies["test"], step.bodies["body"]
        first = params["cond_nconsts"]
        second = first + params["body_nconsts"]
        states = [*operands[second:]]
        settings: dict[str, Setting] = {}
        for turn in count():
            with self.frame(test.name, "test", step):
                (condition,) = self.walk(test, [*operands[:first], *states])
            if not self.goes_on(condition):
                break
            with self.frame(body.name, "turn", step):
                start = [self.passed(state) for state in states]
                self._start(step, body, [condition, *states], start)
                ends = self.walk(body, [*operands[first:second], *start])
                states = self._kept(step, body, condition, ends, start)
            if self.is_last(turn):
                break
        written = [condition, *states]
        if self.is_last(turn) and self.goes_on(condition):
            states, turns = self.end(test, body, operands[:first], operands[first:second], states)
            settings = {"turns": turn + 1 + turns, "shown": turn + 1} if turns else {}
        results = [self.passed(state) for state in states]
        self._call(step, f"{step.name}.result", written, results, "merge", settings)
        return results

    def _kept(
        self, step: Step, body: Body, condition: Known, ends: list[Known], start: list[Known]
    ) -> list[Known]:
        """Return the states after a turn; samples of a `vmap` that are done keep theirs."""
        if not condition.value.shape:
            return ends
        kept = [self.selected(condition, *pair) for pair in zip(ends, start, strict=True)]
        inputs = [condition, *ends, *start]
        self._call(step, f"{body.name}.kept", inputs, kept, "merge", {})
        return kept

    def _start(
        self, step: Step, body: Body, inputs: Sequence[Known], outputs: Sequence[Known]
    ) -> None:
        """Write down what a turn of a loop begins with; a number at first is none later."""
        words = settings_of("", {}, [one.words for one in inputs])
        self._call(step, f"{body.name}.start", inputs, outputs, "shaping", words)

    def _cond(self, step: Step, operands: Sequence[Known]) -> list[Known]:
        which, *given = operands
        branches = []
        for key in self.taken(which, [*step.bodies]):
            body = step.bodies[key]
            with self.frame(body.name, "branch", step):
                branches.append(self.walk(body, given))
        results = [self.passed(among[0]) for among in zip(*branches, strict=True)]
        inputs = [which, *(one for branch in branches for one in branch)]
        self._call(step, f"{step.name}.result", inputs, results, "merge", {})
        return results

    # --- what differs while it runs ---------------------------------------------------------------

    def _value(self, aval: Any, array: Any = None) -> Value:
        """Return how a value is written down of which the shape is known."""
        if not hasattr(aval, "shape"):
            return Value(next(self._tokens), (), type(aval).__name__)
        sizes = tuple(size if isinstance(size, int) else None for size in aval.shape)
        return Value(next(self._tokens), sizes, str(aval.dtype), _reader(aval, array))

    def outputs(self, equation: JaxprEqn, operands: Sequence[Known]) -> list[Known]:
        """Return what an equation gives."""
        return [Known(self._value(one.aval)) for one in equation.outvars]

    def piece(self, rows: Known, place: int) -> Known:
        """Return one row of an array that a loop goes through."""
        shape = rows.value.shape[1:]
        return Known(Value(next(self._tokens), shape, rows.value.dtype))

    def passed(self, one: Known) -> Known:
        """Return the same array as a new value."""
        return Known(one.value._replace(token=next(self._tokens)))

    def stacked(self, aval: Any, pieces: Sequence[Known]) -> Known:
        """Return what the turns of a loop gave, as one array."""
        return Known(self._value(aval))

    def selected(self, condition: Known, new: Known, old: Known) -> Known:
        """Return what of a state is new, where the condition holds."""
        return self.passed(new)

    def turns(self, order: Sequence[int]) -> Sequence[int]:
        """Return which turns of a `scan` are walked."""
        return order[:1]

    def goes_on(self, condition: Known) -> bool:
        """Tell whether a `while` has another turn."""
        return True

    def is_last(self, turn: int) -> bool:
        """Tell whether no turn after this one is walked."""
        return True

    def taken(self, which: Known, branches: Sequence[str]) -> Sequence[str]:
        """Return the branches of a `cond` that are walked."""
        return branches

    def rest(
        self,
        body: Body,
        constants: Sequence[Known],
        states: list[Known],
        rows: Sequence[Known],
        order: Sequence[int],
    ) -> tuple[list[Known], list[list[Known]]]:
        """Return the states after the turns of a `scan` that are not walked, and what they gave."""
        return states, []

    def end(
        self,
        test: Body,
        body: Body,
        of_test: Sequence[Known],
        of_body: Sequence[Known],
        states: list[Known],
    ) -> tuple[list[Known], int]:
        """Return the states after the turns of a `while` that are not walked, and their number."""
        return states, 0


class Running(Reading):
    """Executes a traced function, equation by equation, and writes down each value."""

    def _known(self, value: Value, array: Any, role: str = "", words: str = "") -> Known:
        return Known(value, array, role, value if role else None, words)

    def known(self, array: Any) -> Known:
        """Return an array with how it is written down."""
        return Known(self._value(array, array), array)

    def outputs(self, equation: JaxprEqn, operands: Sequence[Known]) -> list[Known]:
        """Return what the primitive of an equation computes."""
        primitive = equation.primitive
        params, functions = primitive.get_bind_params(equation.params), ()
        if isinstance(params, tuple):  # until JAX 0.9
            functions, params = params
        with getattr(equation.ctx, "manager", nullcontext()):
            found = primitive.bind(*functions, *(one.array for one in operands), **params)
        return [self.known(one) for one in (found if primitive.multiple_results else [found])]

    def piece(self, rows: Known, place: int) -> Known:
        """Return one row."""
        return self.known(rows.array[place])

    def passed(self, one: Known) -> Known:
        """Return the same array as a new value."""
        return self.known(one.array)

    def stacked(self, aval: Any, pieces: Sequence[Known]) -> Known:
        """Return the rows as one array."""
        if not pieces:
            return self.known(jnp.zeros(aval.shape, aval.dtype))
        return self.known(jnp.stack([one.array for one in pieces]))

    def selected(self, condition: Known, new: Known, old: Known) -> Known:
        """Return what of a state is new, where the condition holds."""
        return self.known(_selected(condition.array, new.array, old.array))

    def turns(self, order: Sequence[int]) -> Sequence[int]:
        """Return all turns, but no more than can be looked at."""
        return order[:MOST_TURNS]

    def goes_on(self, condition: Known) -> bool:
        """Tell what the condition says."""
        return bool(jnp.any(condition.array))

    def is_last(self, turn: int) -> bool:
        """Tell whether there are as many turns as can be looked at."""
        return turn + 1 >= MOST_TURNS

    def taken(self, which: Known, branches: Sequence[str]) -> Sequence[str]:
        """Return the branch that is taken."""
        place = min(max(int(which.array), 0), len(branches) - 1)
        return [branches[place]]

    def rest(
        self,
        body: Body,
        constants: Sequence[Known],
        states: list[Known],
        rows: Sequence[Known],
        order: Sequence[int],
    ) -> tuple[list[Known], list[list[Known]]]:
        """Run the other turns of a `scan`, compiled."""
        compute = _compiled(body, constants)
        arrays, collected = [state.array for state in states], []
        for place in order:
            found = compute(*arrays, *(row.array[place] for row in rows))
            arrays = found[: len(states)]
            collected.append([self.known(one) for one in found[len(states) :]])
        return [self.known(array) for array in arrays], collected

    def end(
        self,
        test: Body,
        body: Body,
        of_test: Sequence[Known],
        of_body: Sequence[Known],
        states: list[Known],
    ) -> tuple[list[Known], int]:
        """Run the other turns of a `while`, compiled."""
        asks, compute = _compiled(test, of_test), _compiled(body, of_body)
        arrays = [state.array for state in states]
        for turns in count():
            (condition,) = asks(*arrays)
            if not bool(jnp.any(condition)):
                return [self.known(array) for array in arrays], turns
            ends = compute(*arrays)
            arrays = [
                _selected(condition, *pair) if condition.ndim else pair[0]
                for pair in zip(ends, arrays, strict=True)
            ]
        return states, 0


# --- arrays ---------------------------------------------------------------------------------------


def _reader(aval: Any, array: Any) -> Any:
    """Return what reads the numbers of an array; None where it has none.

    Keys of generators have none, nor gradients by whole numbers.
    """
    if array is None or jax.dtypes.issubdtype(aval.dtype, jax.dtypes.extended):
        return None
    if aval.dtype == jax.dtypes.float0:
        return None
    if np.dtype(aval.dtype).kind in _NATIVE:
        return partial(np.asarray, array)
    return partial(np.asarray, array, np.float32)


def _selected(condition: Any, new: Any, old: Any) -> Any:
    """Return new rows where a condition holds, and old ones elsewhere."""
    ones = (1,) * (new.ndim - condition.ndim)
    return jnp.where(condition.reshape(condition.shape + ones), new, old)


def _compiled(body: Body, constants: Sequence[Known]) -> Any:
    """Return a jaxpr as a compiled function of what its first inputs leave open."""
    closed = ClosedJaxpr(body.jaxpr, body.constants)
    return jax.jit(partial(jaxpr_as_fun(closed), *(one.array for one in constants)))
