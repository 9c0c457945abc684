"""Transactions: a call that fails changes neither its layer nor the layers called inside it.

A call may build a layer, add losses, updates and Nodes, and call further layers. On arrays it also
writes new values to variables. Each call has a `Transaction`. If the call succeeds, its transaction
becomes part of the transaction of the enclosing call, which may still fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from kerascope.backend.atomic import set_values
from kerascope.backend.variables import Variable
from kerascope.engine.around import CalledLayer, CallPolicy

_current: ContextVar[Transaction | None] = ContextVar("transaction", default=None)


class Transaction(CallPolicy):
    """The state of a layer before a call, which is restored if the call fails.

    Parameters
    ----------
    layer : Layer
    """

    def __init__(self, layer: CalledLayer) -> None:
        self.layer = layer
        self._before: dict[str, Any] | None = None if layer.built else layer._snapshot()
        self._marks = [len(items) for items in layer._collections]
        self._number_of_nodes = len(layer.inbound_nodes)
        self._inside: list[Callable[[], Any]] = []  # functions that undo the inner calls
        self._values: list[tuple[Variable, Any]] = []  # earlier values of variables, oldest first

    def resume(self) -> None:
        """Make this the current transaction, to which successful inner calls are added."""
        self._token = _current.set(self)

    def pause(self) -> None:
        """Make the transaction of the enclosing call the current one again."""
        _current.reset(self._token)

    @contextmanager
    def if_it_fails(self) -> Iterator[None]:
        """Undo this call and all inner calls if the `with` block raises an error."""
        self.resume()
        try:
            yield
        except BaseException:
            self.undo()
            raise
        finally:
            self.pause()

    def failed(self, error: BaseException) -> None:
        """Undo the call, because it failed."""
        self.undo()

    def succeeded(self) -> None:
        """Add this transaction to that of the enclosing call, which may still fail."""
        outer = _current.get()
        if outer is not None:
            outer._inside.append(self.undo)
            outer._values += self._values
            self._values = []

    keep = succeeded

    def remember_value(self, variable: Variable) -> None:
        """Store the current value of a variable, before it is changed."""
        self._values.append((variable, variable.get_value()))

    def undo(self) -> None:
        """Restore the layer, the layers that it called, and the values of variables."""
        set_values(reversed(self._values))  # the oldest value is written last
        self._values = []
        while self._inside:
            self._inside.pop()()
        self._remove_nodes()
        if self._before is not None:
            self.layer._restore(self._before)
        for items, mark in zip(self.layer._collections, self._marks, strict=True):
            items.forget_after(mark)

    def _remove_nodes(self) -> None:
        nodes = self.layer.inbound_nodes
        while len(nodes) > self._number_of_nodes:
            node = nodes.pop()
            for layer in dict.fromkeys(node.inbound_layers):
                if layer is not None and node in layer.outbound_nodes:
                    layer.outbound_nodes.remove(node)


@contextmanager
def rolled_back(layer: CalledLayer) -> Iterator[None]:
    """Undo the calls in the `with` block at its end, also if they succeed."""
    transaction = Transaction(layer)
    with transaction.if_it_fails():
        yield
    transaction.undo()


def remember_value(variable: Variable) -> None:
    """Store the current value of a variable, to restore it if the current call fails."""
    transaction = _current.get()
    if transaction is not None:
        transaction.remember_value(variable)
