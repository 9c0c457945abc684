"""What holds around every call of a layer, beside the call itself.

Each concern is a `CallPolicy`: it is made for one call, holds while the work advances (and not
while it is paused), and is told how the call ended. `engine/policies/` has them; a call is wrapped
in all of them by `WholeCall`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kerascope.callers import boundary


class CallPolicy:
    """One concern of one call of a layer; this one does nothing.

    Parameters
    ----------
    layer : Layer
    call : Call
    """

    def resume(self) -> None:
        """Hear that the call begins, or goes on after a pause."""

    def pause(self) -> None:
        """Hear that the call pauses, or ends."""

    def succeeded(self) -> None:
        """Hear that the call is done."""

    def failed(self, error: BaseException) -> None:
        """Hear that the call raised, or was abandoned half way."""


class WholeCall:
    """Wraps one call of a layer in policies, the outermost first.

    As a context manager it wraps a call that is made at once; called, it lets a stage advance.
    """

    def __init__(self, policies: Sequence[CallPolicy]) -> None:
        self._policies = policies
        self._is_over = False

    def __enter__(self) -> None:
        for policy in self._policies:
            policy.resume()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        for policy in reversed(self._policies):
            policy.pause()
        self._end(error)

    @boundary
    def __call__(self, advance: Callable[[], Any]) -> Any:
        """Let the work of a stage advance: what `Stage` calls `around`."""
        error: BaseException | None = None
        is_paused = False
        for policy in self._policies:
            policy.resume()
        try:
            event = advance()
            is_paused = True
            return event
        except StopIteration:
            raise
        except BaseException as raised:
            error = raised
            raise
        finally:
            for policy in reversed(self._policies):
                policy.pause()
            if not is_paused:
                self._end(error)

    def __del__(self) -> None:
        if not self._is_over:  # a stage was abandoned half way
            self._end(GeneratorExit())

    def _end(self, error: BaseException | None) -> None:
        self._is_over = True
        for policy in reversed(self._policies):
            policy.succeeded() if error is None else policy.failed(error)
