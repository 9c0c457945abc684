"""How the equations of a function of JAX hang together: a `Body` a jaxpr, a `Step` an equation.

JAX traces a function to a jaxpr: equations that name what they read and what they give. Some hold
jaxprs of their own: calls of functions that are compiled or have derivatives of their own, loops
and branches. Here each gets a name that no other has, by the scopes in which it was made; a call
of a function that comes down to one equation (`relu`) is that equation, under its name.

`jax_walk.py` draws what is found here, and executes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Var

from kerascope.foreign.jax_equations import line_of, scopes_of
from kerascope.foreign.records import Line

LOOPS = {
    "scan": {"body": "jaxpr"},
    "while": {"test": "cond_jaxpr", "body": "body_jaxpr"},
}
# Primitives that call a function on what they read, and the parameters that may hold it.
_CALLS = frozenset(
    ("jit", "pjit", "closed_call", "core_call", "xla_call", "remat", "remat2", "checkpoint",
     "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr")
)  # fmt: skip
_FUNCTIONS = ("jaxpr", "call_jaxpr", "fun_jaxpr")


@dataclass(frozen=True)
class Step:
    """One equation.

    Attributes
    ----------
    equation : JaxprEqn
    name : str
        No other equation of the function has it.
    op : str
        Its primitive, or the function that it calls.
    scopes : tuple of str
        Ids of the frames around it that are no jaxprs, from outside.
    bodies : mapping of str to Body
        The jaxprs that it holds: "" for that of a function, "body", "test", "branch0".
    line : (str, int, str), optional
        The user's line.
    """

    equation: JaxprEqn
    name: str
    op: str
    scopes: tuple[str, ...] = ()
    bodies: Mapping[str, Body] = field(default_factory=dict)
    line: Line | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it calls a function that comes down to one equation."""
        return "" in self.bodies and len(self.bodies[""].steps) == 1


@dataclass(frozen=True)
class Body:
    """A jaxpr.

    Attributes
    ----------
    name : str
    jaxpr : Jaxpr
    constants : sequence of array
        What its `constvars` stand for.
    steps : tuple of Step
    """

    name: str
    jaxpr: Jaxpr
    constants: Sequence[Any]
    steps: tuple[Step, ...]


def body_of(closed: ClosedJaxpr, without_scope: bool = False) -> Body:
    """Return how the equations of a traced function hang together.

    Parameters
    ----------
    closed : ClosedJaxpr
    without_scope : bool
        Leave out the outermost scope: that of the module which is drawn.
    """
    while (inner := _only_call(closed)) is not None:
        closed = inner
    return _Reader(without_scope).body(closed, "")


def _only_call(closed: ClosedJaxpr) -> ClosedJaxpr | None:
    """Return the function that a jaxpr only passes its inputs to."""
    equations = closed.jaxpr.eqns
    if len(equations) != 1 or closed.consts or equations[0].primitive.name not in ("jit", "pjit"):
        return None
    (equation,) = equations
    inner = function_in(equation)
    passes = [*equation.invars] == [*closed.jaxpr.invars]
    gives = [*equation.outvars] == [*closed.jaxpr.outvars]
    return inner if passes and gives else None


def function_in(equation: JaxprEqn) -> ClosedJaxpr | None:
    """Return the function that an equation calls; None if it calls none."""
    if equation.primitive.name not in _CALLS:
        return None
    for key in _FUNCTIONS:
        if key in equation.params:
            found = _closed(equation.params[key])
            if found is not None and len(found.jaxpr.invars) == len(equation.invars):
                return found
    return None


def _closed(found: Any) -> ClosedJaxpr | None:
    if isinstance(found, ClosedJaxpr):
        return found
    if isinstance(found, Jaxpr) and not found.constvars:
        return ClosedJaxpr(found, ())
    return None


class _Reader:
    """Makes bodies; knows the names that are taken."""

    def __init__(self, without_scope: bool) -> None:
        self.without_scope = without_scope
        self.taken: set[str] = set()
        self.frames: set[str] = set()

    def body(self, closed: ClosedJaxpr, name: str) -> Body:
        """Return the body of a jaxpr."""
        steps = tuple(self.step(equation, name) for equation in closed.jaxpr.eqns)
        return Body(name, closed.jaxpr, closed.consts, steps)

    def step(self, equation: JaxprEqn, around: str) -> Step:
        """Return one equation, with the jaxprs that it holds."""
        stack = scopes_of(str(equation.source_info.name_stack))
        if self.without_scope and not around:
            stack = (*stack[:1], *stack[2:]) if stack[:1] == ("gradient",) else stack[1:]
        scopes = self._scopes(around, stack)
        inside = scopes[-1] if scopes else around
        op = equation.primitive.name
        function = function_in(equation)
        if function is not None:
            function, told = _inmost(function, _name_of(equation))
            op = told or op
        name = self._free(f"{inside}.{op}" if inside else op)
        bodies = dict(self._bodies(equation, function, name))
        return Step(equation, name, op, scopes, bodies, line_of(equation.source_info))

    def _bodies(
        self, equation: JaxprEqn, function: ClosedJaxpr | None, name: str
    ) -> Iterator[tuple[str, Body]]:
        if function is not None:
            yield "", self.body(function, name)
        for key, parameter in LOOPS.get(equation.primitive.name, {}).items():
            yield key, self.body(equation.params[parameter], f"{name}.{key}")
        if equation.primitive.name == "cond":
            for number, branch in enumerate(equation.params["branches"]):
                yield f"branch{number}", self.body(branch, f"{name}.branch{number}")

    def _scopes(self, around: str, stack: Sequence[str]) -> tuple[str, ...]:
        """Return the ids of the frames around an equation, for the scopes in which it was made."""
        names, path = [], around
        for scope in stack:
            path = f"{path}.{scope}" if path else scope
            self.taken.add(path)
            names.append(path)
        return tuple(names)

    def _free(self, wanted: str) -> str:
        free, number = wanted, 0
        while free in self.taken:
            number += 1
            free = f"{wanted}_{number}"
        self.taken.add(free)
        return free


def _inmost(function: ClosedJaxpr, name: str) -> tuple[ClosedJaxpr, str]:
    """Return the function that others only pass on, and the outermost name among them."""
    while len(function.jaxpr.eqns) == 1 and not function.consts:
        (equation,) = function.jaxpr.eqns
        inner = function_in(equation)
        same = [*equation.invars] == [*function.jaxpr.invars]
        if inner is None or not same or [*equation.outvars] != [*function.jaxpr.outvars]:
            break
        function, name = inner, name or _name_of(equation)
    return function, name


def _name_of(equation: JaxprEqn) -> str:
    """Return the name of the function that an equation calls, "" if it has none."""
    return str(equation.params.get("name", "")).strip("<>")


def is_variable(atom: Any) -> bool:
    """Tell whether an equation reads a variable there, and no number."""
    return isinstance(atom, Var)
