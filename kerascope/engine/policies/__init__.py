"""The policies around the calls of layers, in their order."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from kerascope.engine.around import CalledLayer, WholeCall
from kerascope.engine.policies.cost import count_call
from kerascope.engine.policies.enclosing import inside_call
from kerascope.engine.policies.failure import FailureFacts
from kerascope.engine.policies.undo import Transaction, rolled_back


def around_call(layer: CalledLayer, call: Any) -> WholeCall:
    """Return the policies around a whole call, which builds the layer, runs it and makes a Node.

    A call that fails is undone, which restores the layer and the layers that it called. Then the
    layer's name and the inputs of the call are attached to the error.
    """
    transaction = Transaction(layer)
    return WholeCall([FailureFacts(layer, call), transaction], [transaction])


def around_repeat(layer: CalledLayer, call: Any) -> WholeCall:
    """Return the policies around a call that repeats an earlier call on other tensors."""
    transactions = [Transaction(layer)]
    return WholeCall(transactions, transactions)


def around_body(layer: CalledLayer, call: Any) -> AbstractContextManager[None]:
    """Return the context manager in which a layer's `call` runs and its masks are computed."""
    count_call(layer)
    return inside_call(layer, call.tensors)


def leaving_no_trace(layer: CalledLayer) -> AbstractContextManager[None]:
    """Return a context manager whose end undoes all calls of the layer and its inner layers."""
    return rolled_back(layer)
