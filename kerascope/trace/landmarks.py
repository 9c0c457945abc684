"""Times that conditions look back to: where calls began, gradients and losses came.

Each event is read once, so that to look back costs nothing that grows with the history.
"""

from __future__ import annotations

from bisect import bisect_left

from kerascope.trace.events import BEGIN, Event
from kerascope.trace.sources import History


class Landmarks:
    """Times by what happened then.

    Attributes
    ----------
    calls, backwards : list of int
        Begins of functions' calls, and of backward passes.
    gradients, losses : list of int
        Events that bring the names `grads` and `total_loss`.
    """

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.backwards: list[int] = []
        self.gradients: list[int] = []
        self.losses: list[int] = []
        self._next = 0

    def read(self, events: History, t: int) -> None:
        """Take note of the events before a time."""
        while self._next < t:
            event = events[self._next]
            self._note(event)
            self._next = event.t + 1  # behind a forgotten stretch, if it is the mark of one

    def _note(self, event: Event) -> None:
        if event.ph == BEGIN:
            if event.kind == "function":
                self.calls.append(event.t)
            elif event.kind == "backward":
                self.backwards.append(event.t)
        for name, _, _ in event.deltas:
            if name == "grads":
                if not self.gradients or self.gradients[-1] != event.t:
                    self.gradients.append(event.t)
            elif name == "total_loss" and event.ph != BEGIN:
                self.losses.append(event.t)


def landmarks_of(events: History, t: int) -> Landmarks:
    """Return the landmarks of a history, all before a time among them."""
    found: Landmarks | None = getattr(events, "landmarks", None)
    if found is None:
        found = Landmarks()
    found.read(events, t)
    return found


def last_before(times: list[int], t: int) -> int | None:
    """Return the last of some times that lies before another."""
    place = bisect_left(times, t)
    return times[place - 1] if place else None
