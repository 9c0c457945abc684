"""The names at a time, rebuilt from the deltas of a tape's events.

Names live in scopes, one for each open span, as local variables do:

- the names that a "B" event brings are its span's own;
- what comes behind an `overridden` of an event was set by the user there, for the whole call of
  the function: it changes names where they are, at a "B" too;
- an "I" or "E" event changes a name in the innermost open scope that has it; if none has, it is
  made in the innermost one. So does a key that is put into a container, in a "B" too;
- when a span has ended its names are gone: at the "E" event itself they are there still, and its
  value is called `result`, or what stopped it `error`;
- the `weights` are those of the whole session and never go.
"""

from __future__ import annotations

from typing import Any

from kerascope.trace.events import BEGIN, END, FORGOTTEN, SKIPPED, Delta, Event
from kerascope.trace.snapshots import REMOVED

GLOBAL_NAMES = ("weights",)
OF_THE_END = ("result", "error")
OVERRIDDEN = "overridden"  # what the user has set, by its names


class Scopes:
    """The open scopes after some event; `feed` moves on by one event.

    Attributes
    ----------
    spans : list of Event
        The "B" events of the open spans, outermost first.
    """

    def __init__(self) -> None:
        self.spans: list[Event] = []
        self._scopes: list[dict[str, Any]] = [{}]
        self._owned: list[set[str]] = [set()]  # containers of each scope that are ours to change
        self._ended = False

    def copy(self) -> Scopes:
        """Return scopes that can be moved on without changing these; containers are shared."""
        other = Scopes()
        other.spans = list(self.spans)
        other._scopes = [dict(scope) for scope in self._scopes]
        other._owned = [set() for _ in self._scopes]
        for owned in self._owned:
            owned.clear()  # from now on neither may change a container that both hold
        other._ended = self._ended
        return other

    def names(self) -> dict[str, Any]:
        """Return all names, inner ones before outer ones of the same name."""
        merged: dict[str, Any] = {}
        for scope in self._scopes:
            merged.update(scope)
        return {name: _copied(value) for name, value in merged.items()}

    def feed(self, event: Event) -> None:
        """Move on to the state at one more event."""
        if event.kind == FORGOTTEN:
            self._restore(event)
            return
        if event.kind == SKIPPED:  # the tape has looked at the batch that tells what is new
            return
        self._close_ended()
        if event.ph == BEGIN:
            self.spans.append(event)
            self._scopes.append({})
            self._owned.append(set())
        begins = event.ph == BEGIN
        for delta in event.deltas:
            begins = begins and delta.name != OVERRIDDEN
            self._put(delta, begins)
        if event.ph == END and self.spans:
            self.spans.pop()
            self._ended = True

    def record_weight(self, name: str, value: Any) -> None:
        """Take note of what a weight is that was set."""
        self._put(Delta("weights", name, value), begins=False)

    def _close_ended(self) -> None:
        if self._ended:
            self._scopes.pop()
            self._owned.pop()
            self._ended = False

    def contents(self) -> tuple[list[Event], list[dict[str, Any]]]:
        """Return the open spans and the names in each of them, the outermost first.

        Before them come the names outside of all spans.
        """
        scopes = self._scopes[:-1] if self._ended else self._scopes
        return list(self.spans), [
            {name: _copied(value) for name, value in scope.items()} for scope in scopes
        ]

    def _restore(self, mark: Event) -> None:
        """Take over what the mark of a forgotten run tells."""
        told = {delta.name: delta.value for delta in mark.deltas}
        self.spans = list(told["spans"])
        self._scopes = [dict(scope) for scope in told["scopes"]]
        self._owned = [set() for _ in self._scopes]
        self._ended = False

    def _put(self, delta: Delta, begins: bool) -> None:
        name, key, value = delta
        if key is None:
            is_own = begins or name in OF_THE_END
            place = len(self._scopes) - 1 if is_own else self._place_of(name)
            self._scopes[place][name] = value
            self._owned[place].discard(name)
            return
        place = self._place_of(name)
        scope = self._scopes[place]
        container = scope.get(name)
        if name not in self._owned[place]:
            container = list(container) if isinstance(container, (list, tuple)) else container
            container = container if isinstance(container, list) else dict(container or {})
            scope[name] = container
            self._owned[place].add(name)
        _enter(container, key, value)

    def _place_of(self, name: str) -> int:
        if name in GLOBAL_NAMES:
            return 0
        for place in range(len(self._scopes) - 1, 0, -1):
            is_of_call = name == OVERRIDDEN and self.spans[place - 1].kind == "function"
            if is_of_call or name in self._scopes[place]:
                return place
        return len(self._scopes) - 1


def _enter(container: Any, key: Any, value: Any) -> None:
    """Put a value into a dict under a key, or into a list at a place; or take it out."""
    if isinstance(container, list):
        if value is REMOVED:
            del container[key]
        elif key < len(container):
            container[key] = value
        else:
            container.append(value)
    elif value is REMOVED:
        container.pop(key, None)
    else:
        container[key] = value


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, (dict, list)) else value
