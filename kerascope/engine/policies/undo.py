"""A call that fails changes nothing: neither its layer, nor the layers that it called inside.

A call may build a layer, enter losses, updates and Nodes, and call further layers that do the
same; on arrays it writes new values into variables. Each call keeps a `Transaction`; one that
succeeds hands it to the call around it, which may still fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from kerascope.backend.atomic import set_values
from kerascope.backend.variables import Variable
from kerascope.engine.around import CallPolicy

Layer = Any  # a type would be a circle


_around: ContextVar[Transaction | None] = ContextVar("around", default=None)


class Transaction(CallPolicy):
    """What a layer was before a call, to be put back if the call fails.

    Parameters
    ----------
    layer : Layer
    """

    def __init__(self, layer: Layer, call: Any = None) -> None:
        self.layer = layer
        self._before: dict[str, Any] | None = None if layer.built else layer._snapshot()
        self._marks = [len(book) for book in layer._books]
        self._number_of_nodes = len(layer.inbound_nodes)
        self._inside: list[Callable[[], Any]] = []  # each takes back one thing done inside the call
        self._values: list[tuple[Variable, Any]] = []  # what variables had before, in this order

    def resume(self) -> None:
        """Let the calls made from now on belong to this one."""
        self._token = _around.set(self)

    def pause(self) -> None:
        """Let those of the call around it be its own again."""
        _around.reset(self._token)

    @contextmanager
    def if_it_fails(self) -> Iterator[None]:
        """Undo everything if the `with` block raises; calls made inside it belong to it."""
        self.resume()
        try:
            yield
        except BaseException:
            self.undo()
            raise
        finally:
            self.pause()

    def failed(self, error: BaseException) -> None:
        """Undo everything."""
        self.undo()

    def succeeded(self) -> None:
        """Leave the work as it is, unless a call around this one fails."""
        outer = _around.get()
        if outer is not None:
            outer._inside.append(self.undo)
            outer._values += self._values
            self._values = []

    keep = succeeded

    def remember_value(self, variable: Variable) -> None:
        """Note the value of a variable that is going to be written."""
        self._values.append((variable, variable.get_value()))

    def undo(self) -> None:
        """Put the layer, and those that it called, back."""
        set_values(reversed(self._values))  # of several values the oldest counts
        self._values = []
        while self._inside:
            self._inside.pop()()
        self._remove_nodes()
        if self._before is not None:
            self.layer._restore(self._before)
        for book, mark in zip(self.layer._books, self._marks, strict=True):
            book.forget_after(mark)

    def _remove_nodes(self) -> None:
        nodes = self.layer.inbound_nodes
        while len(nodes) > self._number_of_nodes:
            node = nodes.pop()
            for layer in dict.fromkeys(node.inbound_layers):
                if layer is not None and node in layer.outbound_nodes:
                    layer.outbound_nodes.remove(node)


@contextmanager
def rolled_back(layer: Layer) -> Iterator[None]:
    """Undo in the end all that calls in the `with` block have done, even if they succeed."""
    undoing = Transaction(layer)
    with undoing.if_it_fails():
        yield
    undoing.undo()


def remember_value(variable: Variable) -> None:
    """Let the call that is being made, if there is one, put this value back if it fails."""
    undoing = _around.get()
    if undoing is not None:
        undoing.remember_value(variable)
