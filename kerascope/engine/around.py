"""Call policies: actions around each call of a layer that are not part of the computation.

A policy is one concern, such as undoing a failed call or adding the layer's name to an error. It is
made for one call. It can prepare something while the call runs, and it is notified when the call
succeeds or fails. The policies are in `engine/policies/`; `WholeCall` wraps a call in several.
`CalledLayer` lists the attributes of a layer that policies use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from kerascope.user_frames import boundary


class CalledLayer(Protocol):
    """The attributes of a `Layer` that the policies around its calls use.

    The files of policies cannot import `Layer`, because `base_layer.py` imports the policies.
    """

    name: str
    built: bool
    made_at: tuple[str, int] | None
    inbound_nodes: list[Any]
    outbound_nodes: list[Any]

    # Penalties of the last call on arrays, updates, and whether `call` assigns to variables.
    _last_call: Any
    _updates: Any
    _assigns: bool

    @property
    def label(self) -> str:
        """The layer's class and name in messages: `Dense 'dense_1'`."""

    @property
    def _collections(self) -> tuple[Any, ...]:
        """The layer's losses, its updates, and the calls of inner layers that it made."""

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add pairs (variable, new value) that belong to the call on `inputs`."""

    def record_inner_call(self, layer: Any, inner_inputs: list[Any], inputs: Any) -> None:
        """Record that the `call` of this layer called another layer."""

    def _snapshot(self) -> dict[str, Any]:
        """Return a copy of the layer's attributes."""

    def _restore(self, snapshot: dict[str, Any]) -> None:
        """Set the layer's attributes to a copy that `_snapshot` returned."""


class CallPolicy:
    """Base class of the policies around one call of a layer. Its methods do nothing."""

    def resume(self) -> None:
        """Prepare for the layer's call, each time that it begins or continues after a pause."""

    def pause(self) -> None:
        """Revert what `resume` did, each time that the call pauses or ends."""

    def succeeded(self) -> None:
        """React to a call that ended without an error."""

    def failed(self, error: BaseException) -> None:
        """React to an error in the call, or to the end of a stage that was abandoned."""


class WholeCall:
    """One call of a layer, wrapped in policies.

    Use it in a `with` statement, or pass it to a stage: `Stage(..., around=WholeCall(...))`.

    Parameters
    ----------
    policies : sequence of CallPolicy
        All policies, the outermost first. Each is notified if the call fails.
    holding : sequence of CallPolicy
        The policies that also act when the call begins, pauses or succeeds. Notifying them costs
        time in every call of a layer, so policies that act only on failure are not in this list.
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
        """Advance a stage to its next event, inside the policies; `Stage` calls this."""
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
