"""The figures of a run, sent to a server."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from kerascope.callbacks.base import Callback, Logs, registry
from kerascope.errors import KerascopeWarning

TIMEOUT_SECONDS = 10


@registry.register
class RemoteMonitor(Callback):
    """Sends the figures of each epoch to a server, by an HTTP POST.

    Parameters
    ----------
    root : str
        Address of the server.
    path : str
        Where on it; the figures are sent to `root + path`.
    field : str
        Name of the form's field that has the figures as JSON; not used with `send_as_json`.
    headers : dict, optional
        Further HTTP headers.
    send_as_json : bool
        Send the JSON itself instead of a form.

    Notes
    -----
    Training goes on if nobody answers.

    Warns
    -----
    KerascopeWarning
        The figures could not be sent.
    """

    def __init__(
        self,
        root: str = "http://localhost:9000",
        path: str = "/publish/epoch/end/",
        field: str = "data",
        headers: Mapping[str, str] | None = None,
        send_as_json: bool = False,
    ) -> None:
        self.root = root
        self.path = path
        self.field = field
        self.headers = headers
        self.send_as_json = send_as_json

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Send the figures of one epoch."""
        problem = self._send(json.dumps({"epoch": epoch, **(logs or {})}, default=_plain))
        if problem is not None:
            warnings.warn(
                f"RemoteMonitor: the figures of epoch {epoch + 1} could not be sent to "
                f"{self.root + self.path}: {problem}. Training goes on.",
                KerascopeWarning,
                stacklevel=2,
            )

    def _send(self, text: str) -> Exception | None:
        """Send a text; return what went wrong."""
        # Imported here because the modules of HTTP take long and few runs need them.
        from http.client import HTTPException
        from urllib.parse import urlencode
        from urllib.request import Request, urlopen

        body, kind = text, "application/json"
        if not self.send_as_json:
            body, kind = urlencode({self.field: text}), "application/x-www-form-urlencoded"
        headers = {"Content-Type": kind, **(self.headers or {})}
        try:
            request = Request(self.root + self.path, data=body.encode(), headers=headers)
            with urlopen(request, timeout=TIMEOUT_SECONDS):
                return None
        except (OSError, ValueError, HTTPException) as error:
            return error


def _plain(value: Any) -> Any:
    """Return a figure of NumPy as what JSON can hold, anything else as text."""
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else str(value)
