"""Where we are while a graph is being made: the names that are open, and whose line opened them.

A layer opens a scope with its own name before it calls its `call`, so its ops are named
`dense_1/dot`. The scope also remembers the line of the user's script that made the layer: a
run-time error can then say which line to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple

from kerascope.callers import Frames, Line, users_frames

LAYER, COMPILE, UPDATES, GRADIENT = "layer", "compile", "updates", "gradient"


class Origin(NamedTuple):
    """What the engine is given to do while ops are made, and where the user gave it.

    Attributes
    ----------
    kind : {"layer", "compile", "updates", "gradient"}
        A layer is called; a model compiled; an optimizer asked for updates; an op differentiated.
    name : str
        Of the layer, or of the op.
    made_on : Line or None
        The line that made the layer.
    frames : Frames
        The user's, from where this was asked for outwards; of a gradient those of the op.
    outer : Origin or None
        What was being done when this was asked for; of a gradient what was around the op.
    """

    kind: str
    name: str
    made_on: Line | None
    frames: Frames
    outer: Origin | None


# Made of one tuple, in half the time that the constructor by names takes.
new_around: Callable[[Iterable[Any]], Origin] = partial(tuple.__new__, Origin)


class Scope(NamedTuple):
    """An open name scope.

    Attributes
    ----------
    name : str
        Names from the outermost in, joined by "/"; empty at the top.
    made_at : tuple of (str, int) or None
        File and line of the user's script that made the innermost layer.
    makes_graph : bool
        Whether one of the scopes is kerascope's own, in which a part of a model is made.
    around : Origin or None
        What is being done.
    """

    name: str = ""
    made_at: tuple[str, int] | None = None
    makes_graph: bool = False
    around: Origin | None = None

    def join(self, name: str) -> str:
        """Return `name` inside this scope; a name that starts with the scope stays as it is.

        Examples
        --------
        >>> Scope("dense_1").join("dot"), Scope("dense_1").join("dense_1/kernel")
        ('dense_1/dot', 'dense_1/kernel')
        """
        inside = not self.name or not name or name.startswith((f"{self.name}/", f"{self.name}_"))
        return name if inside else f"{self.name}/{name}"


_TOP = Scope()
_scope: ContextVar[Scope] = ContextVar("scope", default=_TOP)


def current_scope() -> Scope:
    """Return the innermost open scope."""
    return _scope.get()


def scoped(name: str) -> str:
    """Return `name` behind the names of the open scopes, unless it starts with them."""
    return current_scope().join(name)


@contextmanager
def name_scope(
    name: str,
    made_at: tuple[str, int] | None = None,
    makes_graph: bool = True,
    around: Origin | None = None,
) -> Iterator[Scope]:
    """Put `name/` before the names of all that is made inside the `with` block.

    Parameters
    ----------
    name : str
        Usually a layer's name.
    made_at : tuple of (str, int), optional
        File and line of the script that made the layer; by default that of the scope around.
    makes_graph : bool
        False for a scope that only gives names.
    around : Origin, optional
        What is done inside; by default what is done already.
    """
    outer = _scope.get()
    inner = Scope(
        outer.join(name) or outer.name,
        made_at or outer.made_at,
        makes_graph or outer.makes_graph,
        around or outer.around,
    )
    token = _scope.set(inner)
    try:
        yield inner
    finally:
        _scope.reset(token)


def users_name_scope(name: str) -> AbstractContextManager[Scope]:
    """Put `name/` before the names of all that is made inside the `with` block: K.name_scope."""
    return name_scope(name, makes_graph=False)


@contextmanager
def root_scope(scope: Scope | None = None) -> Iterator[None]:
    """Leave all open scopes (or go back into the one given) inside the `with` block."""
    token = _scope.set(scope or Scope())
    try:
        yield
    finally:
        _scope.reset(token)


_GRADIENTS = Scope("gradients", None, True)


def gradient_scope(apply: Any = None, named: bool = True) -> AbstractContextManager[None]:
    """Let what is made inside the `with` block belong to the gradient of an op.

    Parameters
    ----------
    apply : Apply, optional
    named : bool
        Whether the scope of the op is part of the names.
    """
    if apply is None:
        return root_scope(_GRADIENTS)
    output = apply.outputs[0].name  # of several outputs with a number; made quickly, for each op
    around = new_around((GRADIENT, output, None, apply.frames, apply.scope.around))
    if not named:
        return root_scope(_GRADIENTS._replace(around=around))
    name = _GRADIENTS.join(apply.scope.name) or _GRADIENTS.name
    return root_scope(Scope(name, apply.scope.made_at, True, around))


# --- what is done, and where the user asked for it ------------------------------------------------


def origin_here(kind: str, name: str = "", made_on: Line | None = None) -> Origin:
    """Return an origin whose line is the one of the user that led to the caller of the caller."""
    return Origin(kind, name, made_on, users_frames(2), _scope.get().around)


def current_origin() -> Origin | None:
    """Return the origin of the ops that are made now; None outside of all calls and compiling."""
    return _scope.get().around


def with_origin(origin: Origin | None) -> AbstractContextManager[None]:
    """Return a `with` block; all ops that are made inside have this origin."""
    return root_scope(_scope.get()._replace(around=origin))


def resuming_in(origin: Origin) -> Callable[[Callable[[], Any]], Any]:
    """Return the same for a stage, each time that it advances: what `Stage` calls `around`."""

    def advance(go_on: Callable[[], Any]) -> Any:
        with with_origin(origin):
            return go_on()

    return advance
