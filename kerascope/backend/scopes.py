"""Where we are while a graph is being made: the names that are open, and whose line opened them.

A layer opens a scope with its own name before it calls its `call`, so its ops are named
`dense_1/dot`. The scope also remembers the line of the user's script that made the layer: a
run-time error can then say which line to look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import NamedTuple


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
    """

    name: str = ""
    made_at: tuple[str, int] | None = None
    makes_graph: bool = False

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


@contextmanager
def name_scope(
    name: str, made_at: tuple[str, int] | None = None, makes_graph: bool = True
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
    """
    outer = _scope.get()
    inner = Scope(
        outer.join(name) or outer.name, made_at or outer.made_at, makes_graph or outer.makes_graph
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
