"""The names at a time, rebuilt from the deltas of a tape's events.

An event "B" begins a span, "E" ends one, and "I" does neither. Names are in scopes, one for each
open span, like local variables:

- the names in a "B" event belong to its span;
- deltas after the delta `overridden` of an event are changes by the user, for the whole call of the
  function: they change existing names, even in a "B" event;
- an "I" or "E" event changes a name in the innermost open scope that has the name. If no scope has
  the name, the event adds it to the innermost scope. The same rule selects the scope of a container
  when a key is put into it, even in a "B" event;
- when a span has ended, its names are gone. At the "E" event itself they still exist, its result
  has the name `result`, and an error the name `error`;
- the `weights` belong to the whole session and never disappear.
"""

from __future__ import annotations

from typing import Any

from kerascope.trace.events import BEGIN, END, FORGOTTEN, SKIPPED, Delta, Event
from kerascope.trace.snapshots import REMOVED

GLOBAL_NAMES = ("weights",)
OF_THE_END = ("result", "error")
OVERRIDDEN = "overridden"  # the values that the user has set, by name


class Scopes:
    """The names in the open spans after an event; `feed` advances to the next event.

    Attributes
    ----------
    spans : list of Event
        The events that began the open spans, the outermost first.
    """

    def __init__(self) -> None:
        self.spans: list[Event] = []
        self._scopes: list[dict[str, Any]] = [{}]
        self._owned: list[set[str]] = [set()]  # names of containers that may be changed in place
        self._ended = False

    def copy(self) -> Scopes:
        """Return an independent copy. Containers are shared until they change."""
        other = Scopes()
        other.spans = list(self.spans)
        other._scopes = [dict(scope) for scope in self._scopes]
        other._owned = [set() for _ in self._scopes]
        for owned in self._owned:
            owned.clear()  # neither copy may change a shared container in place
        other._ended = self._ended
        return other

    def names(self) -> dict[str, Any]:
        """Return all names with their values. A name of an inner span hides an outer one."""
        merged: dict[str, Any] = {}
        for scope in self._scopes:
            merged.update(scope)
        return {name: _copied(value) for name, value in merged.items()}

    def feed(self, event: Event) -> None:
        """Apply the deltas of `event`, which must be the next event of the tape."""
        if event.kind == FORGOTTEN:
            self._restore(event)
            return
        if event.kind == SKIPPED:  # batches with new names have been executed again
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
        """Store the value of a weight that was set outside of functions."""
        self._put(Delta("weights", name, value), begins=False)

    def _close_ended(self) -> None:
        if self._ended:
            self._scopes.pop()
            self._owned.pop()
            self._ended = False

    def contents(self) -> tuple[list[Event], list[dict[str, Any]]]:
        """Return the open spans, and a dict of names for each span, the outermost first.

        The list of dicts has one more item at its start: the names outside of all spans.
        """
        scopes = self._scopes[:-1] if self._ended else self._scopes
        return list(self.spans), [
            {name: _copied(value) for name, value in scope.items()} for scope in scopes
        ]

    def _restore(self, mark: Event) -> None:
        """Set the spans and names to those in a mark of forgotten events."""
        facts = {delta.name: delta.value for delta in mark.deltas}
        self.spans = list(facts["spans"])
        self._scopes = [dict(scope) for scope in facts["scopes"]]
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
    """Set an item of a dict or list; with the value `REMOVED`, remove the item."""
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
