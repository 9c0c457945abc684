"""Lowering: one walk through a schedule with JAX's tracers instead of arrays.

A schedule is a list of pure steps, gradients and updates included. `run` goes through it once with
tracers in the slots, and `jax.jit` compiles the computation that this records. The *lowering* of
one step is the first of these that applies:

1. The op needs only shapes, or all its inputs are known: NumPy computes it while tracing.
2. The rule of the nearest class in `RULES`; see `rules.py`.
3. The function of `jax.numpy` with the name of the op's ufunc.
4. The op's own `perform`, with `jax.numpy` as its keyword `xp`.

A custom op, from outside kerascope, is computed by NumPy while the program waits.

An op that refuses values ("gather: no row 9") cannot raise inside a compiled program. Its rule
calls `require(condition)`, and the program returns whether all required conditions were true.

If the call has alarms (`program/alarms.py`), all results must be finite too. A result needs no test
of its own if an op uses it that cannot hide an infinite or NaN number (`PASSING`). So about three
tests for each weight of a training step are left.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, reduce
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kerascope.backend.graph import Op
from kerascope.backend.ops.into_memory import IntoMemory
from kerascope.backend.ops.scan import Scan
from kerascope.backend.ops.shaping import Full
from kerascope.backend.program.alarms import current_alarms
from kerascope.backend.program.custom_ops import is_builtin_class, is_pure, on_read_only
from kerascope.backend.schedule import Guards, Schedule
from kerascope.errors import DtypeError
from kerascope.stage import observing

# An op of these classes gives an infinite or NaN number if it gets one in its first `n` inputs.
PASSING = dict.fromkeys(("Add", "Dot", "MatMul", "Multiply", "Subtract", "TensorDot"), 2)
PASSING |= dict.fromkeys(
    ("BroadcastLike", "Divide", "ExpandDims", "Log", "Mean", "Negative", "PutItem", "Reshape",
     "ReshapeLike", "Sqrt", "Square", "Squeeze", "Sum", "SumTo", "Transpose"), 1)  # fmt: skip
RULES: dict[type[Op], Callable[..., Any]] = {}
_REQUIRED: ContextVar[list[Any]] = ContextVar("required")
INTERRUPTS: list[BaseException] = []  # Ctrl-C or a refusal in the middle of a program
SEVERAL_DEVICES: ContextVar[bool] = ContextVar("several_devices", default=False)


class CannotLower(Exception):
    """Raised if XLA cannot compile a function, for example because a size depends on values."""


def rule(*kinds: type[Op]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that registers a function (op, *arrays) as lowering of op classes."""

    def register(lowering: Callable[..., Any]) -> Callable[..., Any]:
        RULES.update(dict.fromkeys(kinds, lowering))
        return lowering

    return register


def is_known(x: Any) -> bool:
    """Return whether `x` is an array or a number, whose values JAX knows while tracing."""
    return isinstance(x, (np.ndarray, np.generic, int, float))


# --- conditions on values -------------------------------------------------------------------------


def require(condition: Any) -> None:
    """Require a condition on the values of an op's inputs, such as indices in range.

    If it is false when the program runs, NumPy repeats the call, which raises an error.
    """
    _REQUIRED.get().append(jnp.all(condition))


@contextmanager
def requirements() -> Iterator[Callable[[], Any]]:
    """Collect the conditions that `require` is called with in a `with` block.

    Yield a function. It returns whether all conditions are true; None if there are none.
    """
    found: list[Any] = []
    token = _REQUIRED.set(found)
    try:
        yield lambda: reduce(jnp.logical_and, found) if found else None
    finally:
        _REQUIRED.reset(token)


# --- one op ---------------------------------------------------------------------------------------


def lower(op: Op, *xs: Any) -> Any:
    """Return the result of an op for arrays and tracers.

    Raises
    ------
    CannotLower
        A size in the result depends on values, or a custom op is not pure.
    """
    kind: Any = type(op)
    if not kind.__module__.startswith("kerascope.backend."):  # of a user, or of a layer
        if not is_pure(op):
            raise CannotLower(f"The custom op {op.name} is not pure.")
        return by_numpy(op, *xs)
    if kind not in RULES and op.needs_only_shapes:
        return op.perform(*[x if is_known(x) else _shaped_like(x) for x in xs])
    if xs and op.is_pure and not isinstance(op, (Scan, Full)) and all(map(is_known, xs)):
        return op.perform(*xs)
    for ancestor in kind.__mro__:
        if ancestor in RULES:
            return RULES[ancestor](op, *xs)
        if ancestor is not IntoMemory and {"perform", "compute"} & vars(ancestor).keys():
            break
    if kind.ufunc is not None:
        return getattr(jnp, kind.ufunc.__name__)(*xs)
    perform: Any = op.perform
    return perform(*xs, xp=jnp) if _takes_xp(kind) else perform(*xs)


@cache
def _takes_xp(kind: Any) -> bool:
    return "xp" in inspect.signature(kind.perform).parameters


def _shaped_like(x: Any) -> np.ndarray:
    """Return a NumPy array with the shape and dtype of a tracer. It is a view of a single 0."""
    return np.broadcast_to(np.zeros((), x.dtype), x.shape)


def by_numpy(op: Op, *xs: Any) -> Any:
    """Return the result of an op that NumPy computes while the compiled program waits."""
    perform: Any = op.perform if is_builtin_class(type(op)) else on_read_only(op)
    facts: Any = [SimpleNamespace(shape=x.shape, dtype=str(x.dtype), ndim=x.ndim) for x in xs]
    shapes, dtypes = op.infer_shape(*facts), op.infer_dtype(*facts)
    if op.n_outputs == 1:
        shapes, dtypes = (shapes,), (dtypes,)
    wanted = [jax.ShapeDtypeStruct(*one) for one in zip(shapes, dtypes, strict=True)]
    results = by_callback(
        op, lambda *ys: (perform(*ys),) if op.n_outputs == 1 else perform(*ys), wanted, *xs
    )
    return results[0] if op.n_outputs == 1 else tuple(results)


def by_callback(
    op: Op, compute: Callable[..., Any], wanted: Sequence[Any], *xs: Any
) -> Sequence[Any]:
    """Return arrays that NumPy computes while the compiled program waits.

    If `compute` raises, NumPy repeats the call of the function, which raises the usual error. XLA
    never receives the exception, because in XLA an exception loses its type and can end the
    process. If `compute` calls a function of kerascope, NumPy computes this call and all later
    ones.
    """
    require_one_device(op)

    def refuse(*stage_and_event: Any) -> None:  # both functions would wait for one lock
        raise CannotLower(f"Its op {op.name} calls another function.")

    def attempt(*arrays: Any) -> list[np.ndarray]:
        try:
            with observing(refuse):
                found = compute(*map(np.asarray, arrays))
            results = [np.asarray(y, x.dtype) for y, x in zip(found, wanted, strict=True)]
            if [y.shape for y in results] == [x.shape for x in wanted]:
                return [np.asarray(True), *results]
        except BaseException as error:
            if not isinstance(error, Exception) or isinstance(error, CannotLower):
                INTERRUPTS.append(error)
        return [np.asarray(False), *(np.zeros(x.shape, x.dtype) for x in wanted)]

    is_met, *results = jax.pure_callback(attempt, [jax.ShapeDtypeStruct((), "bool"), *wanted], *xs)
    require(is_met)
    return results


def require_one_device(op: Op) -> None:
    """Require one device for the program, because several would wait for each other for ever.

    Raises
    ------
    CannotLower
        The program is for several devices.
    """
    if SEVERAL_DEVICES.get():
        raise CannotLower(f"Python computes its op {op.name}, which works on one device only.")


def transposed(forward: Callable[[Any], Any], shape: Sequence[int], g: Any) -> Any:
    """Return the input gradient of the linear function `forward`; `g` is the output gradient."""
    like = jax.ShapeDtypeStruct(tuple(map(int, shape)), g.dtype)
    return jax.linear_transpose(forward, like)(g)[0]


# --- a schedule -----------------------------------------------------------------------------------


def run(schedule: Schedule, arrays: Sequence[Any], variables: Sequence[Any] = ()) -> list[Any]:
    """Return the array of each slot after a walk through a schedule.

    Parameters
    ----------
    schedule : Schedule
    arrays : list of array or tracer
        The inputs.
    variables : list of array or tracer
        One for each of `schedule.variables`.

    Raises
    ------
    CannotLower
        A size in a result depends on values.
    DtypeError
        A step has another dtype than with NumPy.
    """
    unchecked: set[int] = set()
    values: list[Any] = [None] * len(schedule.slots)
    values[: len(arrays)] = arrays
    for slot, array in schedule.fixed:
        values[slot] = array
    for (slot, _), array in zip(schedule.variables, variables, strict=True):
        values[slot] = array
    for step in schedule.steps:
        if step.guards and are_met(step.guards, values) is False:
            continue
        op: Any = step.apply.op
        with jax.named_scope(step.apply.name.replace(" ", "_")):
            result = lower(op, *[values[slot] for slot in step.inputs])
        several = (result,) if len(step.outputs) == 1 else result
        for slot, array, tensor in zip(step.outputs, several, step.apply.outputs, strict=True):
            if array.dtype != tensor.dtype:
                raise DtypeError(
                    f"{step.apply.name}: expected {tensor.dtype} from JAX, as from NumPy, "
                    f"got {array.dtype}. Please report this."
                )
            values[slot] = array
        # The steps of a loop check their own results, but not the sums over all steps.
        first = len(step.outputs) - len(op.inner.results.terms) if isinstance(op, Scan) else 0
        unchecked.update(step.outputs[first:])
        if is_builtin_class(type(op)):
            unchecked.difference_update(step.inputs[: PASSING.get(type(op).__name__, 0)])
    sums: dict[Any, Any] = {}  # in a loop one sum for all arrays of a shape: this is faster
    for slot in sorted(unchecked) if current_alarms() is not None else ():
        x = values[slot]
        if not is_known(x) and x.dtype.kind in "fc":
            key = slot if variables else (x.shape, x.dtype)
            sums[key] = x + sums.get(key, 0)
    for x in sums.values():
        require(jnp.isfinite(x.sum(dtype=np.promote_types(x.dtype, "float32"))))
    return values


def are_met(guards: Guards, values: Sequence[Any]) -> Any:
    """Return whether a step is needed: if all conditions of one of its `guards` hold.

    Returns
    -------
    bool or tracer
        A tracer if the result depends on values that are known only when the program runs.
    """
    whole: Any = False
    for conjunction in guards:
        part: Any = True
        for slot, wanted in conjunction:
            value = values[slot]
            if value is None or part is False:  # a condition whose step was left out
                continue
            if is_known(value):
                part = part if bool(value) is wanted else False
            else:
                truth = value.astype(bool) if wanted else ~value.astype(bool)
                part = truth if part is True else part & truth
        if part is True:
            return True
        if part is not False:
            whole = part if whole is False else whole | part
    return whole
