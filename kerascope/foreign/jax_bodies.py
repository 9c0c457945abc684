"""Read a traced JAX function: a `Body` is a jaxpr, a `Step` an equation (`bodies.py`).

JAX traces a function to a jaxpr, which is a list of equations with named inputs and outputs. Some
equations contain jaxprs: calls of functions that are compiled or have custom derivatives, loops,
and branches. Each equation gets a unique name made from the scopes in which it was traced. A call
of a function that consists of one equation, such as `relu`, becomes this equation under the
function's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from kerascope.foreign.bodies import Body, Step, StepNames
from kerascope.foreign.jax_equations import line_of, scopes_of

LOOPS = {"scan": {"body": "jaxpr"}, "while": {"test": "cond_jaxpr", "body": "body_jaxpr"}}
# Primitives that call a function on their inputs, and the parameters that may hold the function.
_CALLS = frozenset(
    ("jit", "pjit", "closed_call", "core_call", "xla_call", "remat", "remat2", "checkpoint",
     "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr")
)  # fmt: skip
_FUNCTIONS = ("jaxpr", "call_jaxpr", "fun_jaxpr")


def body_of(closed: ClosedJaxpr, without_scope: bool = False) -> Body:
    """Return a traced function as a `Body`: its inputs, constants, steps and outputs.

    Parameters
    ----------
    closed : ClosedJaxpr
    without_scope : bool
        Whether to omit the outermost scope, which is the module that is drawn.
    """
    while (call := _only_call(closed)) and call[0].primitive.name in ("jit", "pjit"):
        closed = call[1]
    return _JaxReader(without_scope).body(closed, "")


def _only_call(closed: ClosedJaxpr) -> tuple[JaxprEqn, ClosedJaxpr] | None:
    """Return the only equation of a jaxpr and the function that this equation calls.

    Return None if there are several equations, or the only one calls no function.
    """
    if len(closed.jaxpr.eqns) != 1 or closed.consts:
        return None
    (equation,) = closed.jaxpr.eqns
    inner = function_in(equation)
    passes = [*equation.invars] == [*closed.jaxpr.invars]
    gives = [*equation.outvars] == [*closed.jaxpr.outvars]
    return (equation, inner) if inner is not None and passes and gives else None


def function_in(equation: JaxprEqn) -> ClosedJaxpr | None:
    """Return the function that an equation calls, or None for an equation without a function."""
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


class _JaxReader:
    """Makes a `Body` from each jaxpr. The names of the steps are unique in the whole function."""

    def __init__(self, without_scope: bool) -> None:
        self.without_scope = without_scope
        self.names = StepNames(first=1)

    def body(self, closed: ClosedJaxpr, name: str) -> Body:
        """Convert a jaxpr, JAX's form of a traced function, to a `Body`, a graph for a walk."""
        jaxpr = closed.jaxpr
        constants = dict(zip(jaxpr.constvars, closed.consts, strict=True))
        steps = tuple(self.step(equation, name) for equation in jaxpr.eqns)
        return Body(name, tuple(jaxpr.invars), tuple(jaxpr.outvars), constants, steps, closed)

    def step(self, equation: JaxprEqn, around: str) -> Step:
        """Return the `Step` of an equation, with the bodies of the jaxprs that it contains."""
        stack = scopes_of(str(equation.source_info.name_stack))
        if self.without_scope and not around:
            stack = (*stack[:1], *stack[2:]) if stack[:1] == ("gradient",) else stack[1:]
        scopes = self._scopes(around, stack)
        inside = scopes[-1] if scopes else around
        op = equation.primitive.name
        function = function_in(equation)
        if function is not None:
            function, called = _innermost_function(function, _name_of(equation))
            op = called or op
        name = self.names.free(f"{inside}.{op}" if inside else op)
        reads, gives = tuple(equation.invars), tuple(equation.outvars)
        step = Step(equation, name, op, reads, gives, {}, scopes, line_of(equation.source_info))
        bodies = dict(self._bodies(step, function))
        return step._replace(bodies=bodies) if bodies else step

    def _bodies(self, step: Step, function: ClosedJaxpr | None) -> Iterator[tuple[str, Body]]:
        equation, name = step.source, step.name
        if function is not None:
            body = self.body(function, name)
            if len(body.steps) == 1:
                whole = body.steps[0]._replace(name=name, op=step.op, bodies={}, scopes=())
                body = body._replace(steps=(whole._replace(line=step.line),))
            yield "", body
        for key, parameter in LOOPS.get(equation.primitive.name, {}).items():
            yield key, self.body(equation.params[parameter], f"{name}.{key}")
        if equation.primitive.name == "cond":
            for number, branch in enumerate(equation.params["branches"]):
                yield f"branch{number}", self.body(branch, f"{name}.branch{number}")

    def _scopes(self, around: str, stack: Sequence[str]) -> tuple[str, ...]:
        """Return the ids of the frames around an equation, one for each scope of its trace."""
        names, path = [], around
        for scope in stack:
            path = f"{path}.{scope}" if path else scope
            self.names.taken.add(path)
            names.append(path)
        return tuple(names)


def _innermost_function(function: ClosedJaxpr, name: str) -> tuple[ClosedJaxpr, str]:
    """Return the innermost of nested functions that each only call the next one, and a name.

    The name is the first one among `name` and the names of the called functions that is not empty.
    """
    while (call := _only_call(function)) is not None:
        equation, function = call
        name = name or _name_of(equation)
    return function, name


def _name_of(equation: JaxprEqn) -> str:
    """Return the name of the function that an equation calls, or "" if the name is unknown."""
    return str(equation.params.get("name", "")).strip("<>")
