"""Policies around every call of a layer, beside the call itself.

A policy is one concern: a failed call is undone, an error notes the layer, and so on. It is made
for one call, it may hold something while the call advances, and it is notified of how the call
ended. `engine/policies/` contains them; `WholeCall` wraps a call in several of them. `CalledLayer`
is what they use of a layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from kerascope.callers import boundary


class CalledLayer(Protocol):
    """The attributes of a `Layer` that policies use.

    Their files cannot import `Layer`: its file imports them.
    """

    name: str
    built: bool
    made_at: tuple[str, int] | None
    inbound_nodes: list[Any]
    outbound_nodes: list[Any]

    # Penalties of the last call on numbers, updates, and whether `call` assigns to variables.
    _last_call: Any
    _updates: Any
    _assigns: bool

    @property
    def label(self) -> str:
        """The class and the name, for messages."""

    @property
    def _collections(self) -> tuple[Any, ...]:
        """Losses, updates and inner calls."""

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add updates of variables."""

    def record_inner_call(self, layer: Any, inner_inputs: list[Any], inputs: Any) -> None:
        """Record a call of another layer in this one's `call`."""

    def _snapshot(self) -> dict[str, Any]:
        """Return what building changes."""

    def _restore(self, snapshot: dict[str, Any]) -> None:
        """Restore a snapshot."""


class CallPolicy:
    """What holds around one call of a layer. This one does nothing."""

    def resume(self) -> None:
        """Prepare for the call to begin, or to continue after a pause."""

    def pause(self) -> None:
        """Take back what `resume` did: the call pauses, or ends."""

    def succeeded(self) -> None:
        """React to the end of the call."""

    def failed(self, error: BaseException) -> None:
        """React to an error in the call, or to a stage that was abandoned before its end."""


class WholeCall:
    """Wraps one call of a layer in policies.

    Use it in a `with` statement, or pass it to a stage: `Stage(..., around=WholeCall(...))`.

    Parameters
    ----------
    policies : sequence of CallPolicy
        All of them, the outermost first; each is notified if the call fails.
    holding : sequence of CallPolicy
        Those among them that have something to do when the call begins, pauses or succeeds. Each
        call of a layer goes through these, so it pays to leave the others out.
    """

    def __init__(self, policies: Sequence[CallPolicy], holding: Sequence[CallPolicy]) -> None:
        self._policies = policies
        self._holding = holding
        self._is_over = False

    def __enter__(self) -> None:
        for policy in self._holding:
            policy.resume()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        for policy in reversed(self._holding):
            policy.pause()
        self._end(error)

    @boundary
    def __call__(self, advance: Callable[[], Any]) -> Any:
        """Let the work of a stage advance: what `Stage` calls `around`."""
        error: BaseException | None = None
        is_paused = False
        for policy in self._holding:
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
            for policy in reversed(self._holding):
                policy.pause()
            if not is_paused:
                self._end(error)

    def __del__(self) -> None:
        if not self._is_over:  # a stage was abandoned before its end
            self._end(GeneratorExit())

    def _end(self, error: BaseException | None) -> None:
        self._is_over = True
        if error is None:
            for policy in reversed(self._holding):
                policy.succeeded()
        else:
            for policy in reversed(self._policies):
                policy.failed(error)
