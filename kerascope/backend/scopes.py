"""Name scopes while a graph is built: the open names, and the user's lines that opened them.

A layer opens a scope with its own name before its `call`, so its ops are named `dense_1/dot`. The
scope also stores the line of the user's script that made the layer: a run-time error can then name
the line to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple

from kerascope.user_frames import Frames, Line, users_frames

LAYER, COMPILE, UPDATES, GRADIENT = "layer", "compile", "updates", "gradient"


class Origin(NamedTuple):
    """The task during which ops are made, and where the user requested it.

    Attributes
    ----------
    kind : {"layer", "compile", "updates", "gradient"}
        A layer is called, a model is compiled, an optimizer makes updates, or an op is
        differentiated.
    name : str
        The name of the layer, the model or the op.
    made_on : Line or None
        The line that made the layer.
    frames : Frames
        The user's frames that led to the task, the innermost first; for a gradient, those
        that led to the op.
    outer : Origin or None
        The surrounding task, or None without one; for a gradient, the task around the op.
    """

    kind: str
    name: str
    made_on: Line | None
    frames: Frames
    outer: Origin | None


# Made from one tuple: this takes half the time of the constructor with names.
new_origin: Callable[[Iterable[Any]], Origin] = partial(tuple.__new__, Origin)


class Scope(NamedTuple):
    """The state of the name scopes that are open at one moment.

    Attributes
    ----------
    name : str
        The names of the open scopes, joined by "/", the outermost first; "" at the top.
    made_at : tuple of (str, int) or None
        The file and line of the user's script that made the innermost layer.
    makes_graph : bool
        Whether one of the scopes is kerascope's own, inside which a model is built.
    origin : Origin or None
        The task during which ops are made at this moment, such as a layer call.
    """

    name: str = ""
    made_at: tuple[str, int] | None = None
    makes_graph: bool = False
    origin: Origin | None = None

    def join(self, name: str) -> str:
        """Return `name` with the scope's name before it; unchanged if it already starts with it.

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
    """Return `name` with the open scopes' names before it; unchanged if it starts with them."""
    return current_scope().join(name)


@contextmanager
def name_scope(
    name: str,
    made_at: tuple[str, int] | None = None,
    makes_graph: bool = True,
    origin: Origin | None = None,
) -> Iterator[Scope]:
    """Return a context manager in which names of new tensors and ops start with `name/`.

    Parameters
    ----------
    name : str
        Usually a layer's name.
    made_at : tuple of (str, int), optional
        The file and line of the script that made the layer; by default those of the outer scope.
    makes_graph : bool
        Whether the scope is kerascope's own, inside which a model is built. False for a scope that
        only affects names.
    origin : Origin, optional
        The task for which the ops of the block are made, such as compiling a model. The default is
        that of the outer scope.
    """
    outer = _scope.get()
    inner = Scope(
        outer.join(name) or outer.name,
        made_at or outer.made_at,
        makes_graph or outer.makes_graph,
        origin or outer.origin,
    )
    token = _scope.set(inner)
    try:
        yield inner
    finally:
        _scope.reset(token)


def users_name_scope(name: str) -> AbstractContextManager[Scope]:
    """Return a context manager in which new names start with `name/`: K.name_scope."""
    return name_scope(name, makes_graph=False)


@contextmanager
def root_scope(scope: Scope | None = None) -> Iterator[None]:
    """Return a context manager in which only `scope` is open, by default no scope."""
    token = _scope.set(scope or Scope())
    try:
        yield
    finally:
        _scope.reset(token)


_GRADIENTS = Scope("gradients", None, True)


def gradient_scope(apply: Any = None, named: bool = True) -> AbstractContextManager[None]:
    """Return a context manager in which new ops count as part of the gradient of an op.

    Parameters
    ----------
    apply : Apply, optional
        The call of the op. Without it, the new ops belong to no particular op's gradient.
    named : bool
        Whether names include the scope of the op.
    """
    if apply is None:
        return root_scope(_GRADIENTS)
    output = apply.outputs[0].name  # fast: this runs for each op
    origin = new_origin((GRADIENT, output, None, apply.frames, apply.scope.origin))
    if not named:
        return root_scope(_GRADIENTS._replace(origin=origin))
    name = _GRADIENTS.join(apply.scope.name) or _GRADIENTS.name
    return root_scope(Scope(name, apply.scope.made_at, True, origin))


# --- the current task, and where the user requested it --------------------------------------------


def origin_here(kind: str, name: str = "", made_on: Line | None = None) -> Origin:
    """Return a new `Origin`, with the user's frames that led to the caller of the caller."""
    return Origin(kind, name, made_on, users_frames(2), _scope.get().origin)


def current_origin() -> Origin | None:
    """Return the task in which ops are made now, such as a layer's call; None outside of tasks."""
    return _scope.get().origin


def with_origin(origin: Origin | None) -> AbstractContextManager[None]:
    """Return a context manager in which all new ops get this origin, such as a layer's call."""
    return root_scope(_scope.get()._replace(origin=origin))


def resuming_in(origin: Origin) -> Callable[[Callable[[], Any]], Any]:
    """Return the argument `around` of a `Stage`; it gives the stage's new ops this `Origin`."""

    def advance(go_on: Callable[[], Any]) -> Any:
        with with_origin(origin):
            return go_on()

    return advance
