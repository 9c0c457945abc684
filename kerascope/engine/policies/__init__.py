"""Which policies hold around calls of layers, and in which order."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from kerascope.engine.around import CalledLayer, WholeCall
from kerascope.engine.policies.cost import count_call
from kerascope.engine.policies.enclosing import inside_call
from kerascope.engine.policies.failure import FailureFacts
from kerascope.engine.policies.undo import Transaction, rolled_back


def around_call(layer: CalledLayer, call: Any) -> WholeCall:
    """Return what holds around a call: around building, the body and the Node.

    The outermost is first. So a failed call is undone before its error notes the layer.
    """
    transaction = Transaction(layer)
    return WholeCall([FailureFacts(layer, call), transaction], [transaction])


def around_repeat(layer: CalledLayer, call: Any) -> WholeCall:
    """Return what holds around a call that repeats an earlier one on other tensors."""
    transactions = [Transaction(layer)]
    return WholeCall(transactions, transactions)


def around_body(layer: CalledLayer, call: Any) -> AbstractContextManager[None]:
    """Return what holds around a layer's own `call`, its penalties and its mask."""
    count_call(layer)
    return inside_call(layer, call.tensors)


def leaving_no_trace(layer: CalledLayer) -> AbstractContextManager[None]:
    """Return a `with` block after which the layer, and those it called, are as before."""
    return rolled_back(layer)
