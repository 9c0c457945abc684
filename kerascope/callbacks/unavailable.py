"""Two callbacks of Keras 2 that are not here: a script that uses them is told why."""

from __future__ import annotations

from typing import Any

from kerascope.callbacks.base import Callback, registry
from kerascope.errors import UnavailableError


@registry.register
class TensorBoard(Callback):
    """Not available: its event files hold a TensorFlow graph, which a model on NumPy does not have.

    Raises
    ------
    UnavailableError
        Always.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnavailableError(
            "TensorBoard: not available; it writes a TensorFlow graph and there is none on NumPy. "
            "Use `kerascope draw` for the graph and CSVLogger for the figures."
        )


@registry.register
class RemoteMonitor(Callback):
    """Not available yet: sending the logs of each epoch to a server.

    Raises
    ------
    UnavailableError
        Always.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnavailableError(
            "RemoteMonitor: not available yet; nothing is sent over a network. "
            "Use LambdaCallback(on_epoch_end=...) with your own sender, or CSVLogger."
        )
