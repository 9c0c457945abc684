"""The walk through a JAX function (`bodies.py`), and the evaluator of its equations.

Each equation runs with its own primitive. The first `MOST_TURNS` iterations of a loop are recorded.
Later iterations run as compiled functions. An array of the model is a parameter of each equation
that reads the array, even after a reshape. For example, a bias that a layer reshapes before the
addition is still the bias.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import count
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Var, jaxpr_as_fun

from kerascope.foreign.bodies import (
    ArrayType,
    Body,
    Loop,
    Scanned,
    Step,
    Values,
    Visit,
    Walk,
    WalkedValue,
    piece_of,
    selected,
)
from kerascope.foreign.jax_equations import VIEWS, kind_of, number, settings_of
from kerascope.foreign.records import Setting, Value
from kerascope.foreign.writer import TapeWriter

MOST_TURNS = 100  # number of recorded iterations of a loop
_NATIVE = "biufc"  # kinds of NumPy's own numbers


class JaxWalk(Walk):
    """Records a call for each equation of a traced function.

    Parameters
    ----------
    writer : TapeWriter
    roles : mapping of int to str
        Names of arrays that the function captures, by the identity of the array.
    evaluator : JaxEvaluator, optional
        None means that nothing is computed.
    """

    most_turns = MOST_TURNS

    def __init__(
        self, writer: TapeWriter, roles: Mapping[int, str], evaluator: JaxEvaluator | None = None
    ) -> None:
        super().__init__(writer, evaluator)
        self.roles = roles

    def enter_constants(self, body: Body, known: dict[Any, WalkedValue]) -> None:
        """Add the constants of a `Body` to `known`, and record those that are not parameters."""
        for variable, array in body.constants.items():
            known[variable] = one = self._constant(variable.aval, array)
            if one.flows:
                self.write_constant(body, "constant", one.value)

    def read(self, key: Any, known: Mapping[Any, WalkedValue]) -> WalkedValue:
        """Return the value of a variable, or of a literal."""
        return known[key] if isinstance(key, Var) else self._constant(key.aval, key.val)

    def type_of(self, body: Body, key: Any) -> ArrayType:
        """Return the type of a variable."""
        return array_type(key.aval)

    def _constant(self, aval: Any, array: Any) -> WalkedValue:
        role = self.roles.get(id(array), "")
        value = value_of(next(self.tokens), aval, array)
        kept = None if self.evaluator is None else array
        if np.ndim(array) == 0 and value.read is not None:
            return WalkedValue(value, kept, words=str(number(array)))
        return self.parameter(aval, array, role) if role else WalkedValue(value, kept)

    def parameter(self, aval: Any, array: Any, role: str) -> WalkedValue:
        """Return the value for a parameter of the model, with its name as the value's role."""
        value = value_of(next(self.tokens), aval, array)
        value = value._replace(trainable=value.dtype.startswith(("float", "bfloat")))
        return WalkedValue(value, None if self.evaluator is None else array, role, value)

    def leaf(self, visit: Visit) -> list[WalkedValue]:
        """Record an equation that contains no jaxpr, and return its outputs."""
        step, _, operands, _ = visit
        outputs = self.computed(visit)
        primitive = step.source.primitive.name
        if primitive in VIEWS and len(operands) == 1 and not operands[0].flows:
            (whole,), (view,) = operands, outputs
            return [view._replace(role=whole.role, origin=whole.origin, words=whole.words)]
        settings = settings_of(primitive, step.source.params, [one.words for one in operands])
        arrays = sum(bool(one.role) for one in operands)
        kind = kind_of(step.op, arrays, sum(one.flows for one in operands))
        self.call(step, step.name, operands, outputs, kind, settings=settings)
        return outputs

    def loop_of(self, visit: Visit) -> Loop | None:
        """Return the `Loop` for an equation `scan` or `while`, or None for a `cond`."""
        step, _, operands, _ = visit
        params, primitive = step.source.params, step.source.primitive.name
        if primitive == "cond":
            return None
        body = step.bodies["body"]
        if primitive == "while":
            first = params["cond_nconsts"]
            second = first + params["body_nconsts"]
            own, states = operands[first:second], operands[second:]
            test, of_test = step.bodies["test"], operands[:first]
            return Loop(body, states, constants=own, test=test, test_constants=of_test)
        first = params["num_consts"]
        second = first + params["num_carry"]
        states, rows = operands[first:second], operands[second:]
        each = (0, params["reverse"])
        axes, stacks = [each] * len(rows), [each] * len(step.outputs)
        return Loop(body, states, rows, axes, stacks, operands[:first], params["length"])

    def rest(
        self, step: Step, loop: Loop, states: list[WalkedValue], scanned: Scanned
    ) -> tuple[list[WalkedValue], Scanned, Mapping[str, Setting]]:
        """Run the iterations after the first `MOST_TURNS` with a compiled body."""
        shown = len(scanned)
        settings = {} if loop.turns is None else {"turns": loop.turns}
        if self.evaluator is None or shown < MOST_TURNS:
            return states, scanned, settings
        arrays, more = _compiled_turns(loop, [one.array for one in states], shown)
        if more:
            states = [*map(self.given, arrays)]
            scanned = [*scanned, *([*map(self.given, turn)] for turn in more)]
            settings = {"turns": shown + len(more), "shown": shown}
        return states, scanned, settings


class JaxEvaluator:
    """Computes the equations of a walk, each with its primitive."""

    numpy: Any = jnp

    def compute(self, visit: Visit) -> Iterable[Any]:
        """Return the outputs of an equation, computed by the equation's primitive."""
        equation = visit.step.source
        primitive = equation.primitive
        params, functions = primitive.get_bind_params(equation.params), ()
        if isinstance(params, tuple):  # until JAX 0.9
            functions, params = params
        with getattr(equation.ctx, "manager", nullcontext()):
            found = primitive.bind(*functions, *(one.array for one in visit.operands), **params)
        return found if primitive.multiple_results else [found]

    def value_of(self, token: int, array: Any) -> Value:
        """Return an array as a `Value` with this token, which a `TapeWriter` can record."""
        return value_of(token, array, array)

    def branch(self, condition: Any, branches: Sequence[str]) -> str:
        """Return the branch with the number `condition`, or the first or last if out of range."""
        return branches[min(max(int(condition), 0), len(branches) - 1)]


# --- arrays ---------------------------------------------------------------------------------------


def array_type(aval: Any) -> ArrayType:
    """Return the shape and dtype of an abstract value of JAX."""
    value = value_of(0, aval, None)
    return ArrayType(value.shape, value.dtype)


def value_of(token: int, aval: Any, array: Any) -> Value:
    """Return an array as a `Value` with this token, which a `TapeWriter` can record."""
    if not hasattr(aval, "shape"):
        return Value(token, (), type(aval).__name__)
    sizes = tuple(size if isinstance(size, int) else None for size in aval.shape)
    return Value(token, sizes, str(aval.dtype), _reader(aval, array))


def _reader(aval: Any, array: Any) -> Callable[[], np.ndarray] | None:
    """Return a function that reads the numbers of an array, or None if it has no numbers.

    Random keys and gradients with respect to integers have no numbers.
    """
    if array is None or jax.dtypes.issubdtype(aval.dtype, jax.dtypes.extended):
        return None
    if aval.dtype == jax.dtypes.float0:
        return None
    if np.dtype(aval.dtype).kind in _NATIVE:
        return partial(np.asarray, array)
    return partial(np.asarray, array, np.float32)


# --- iterations that are not recorded -------------------------------------------------------------


def _compiled(body: Body, constants: Values) -> Callable[..., list[Any]]:
    """Compile a loop's body with these constants; return it as a function of its other inputs."""
    return jax.jit(partial(jaxpr_as_fun(body.source), *(one.array for one in constants)))


def _compiled_turns(
    loop: Loop, arrays: list[Any], shown: int
) -> tuple[list[Any], list[Sequence[Any]]]:
    """Run a loop's iterations from number `shown` on; return last states and stacked outputs."""
    compute, more = _compiled(loop.body, loop.constants), list[Sequence[Any]]()
    test = None if loop.test is None else _compiled(loop.test, loop.test_constants)
    for turn in count(shown) if loop.turns is None else range(shown, loop.turns):
        condition = None if test is None else test(*arrays)[0]
        if condition is not None and not bool(jnp.any(condition)):
            break
        pairs = zip(loop.rows, loop.axes, strict=True)
        found = compute(*arrays, *(piece_of(rows.array, each, turn) for rows, each in pairs))
        ends, besides = found[: len(arrays)], tuple(found[len(arrays) :])
        if condition is not None and condition.ndim:
            ends = [selected(jnp, condition, *pair) for pair in zip(ends, arrays, strict=True)]
        arrays = ends
        more.append(besides)
    return arrays, more
