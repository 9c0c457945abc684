"""Moments: what the slider counts. Which step each side shows, and which lane it lies in."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from kerascope.lessons.player.selecting import LANES, lane_of
from kerascope.trace.events import Event

Stretch = tuple[str, int, int]  # what it is called, its first and its last moment


def moments_of(sides: Sequence[Sequence[Event]]) -> list[list[int]]:
    """Return which step each side shows at each moment.

    Two sides walk together where their events are of the same kind and name. Where one has events
    that the other lacks, the other stands still.

    Examples
    --------
    >>> facts = {"act": "", "phase": "", "ph": "I", "depth": 0, "grain": "op", "name": ""}
    >>> left, right = ([Event(t, kind=kind, **facts) for t, kind in enumerate(kinds)]
    ...                for kinds in ("abc", "axbc"))
    >>> moments_of([left, right])
    [[0, 0], [0, 1], [1, 2], [2, 3]]
    """
    if len(sides) == 1:
        return [[step] for step in range(len(sides[0]))]
    ours, theirs = ([_sight(event) for event in events] for events in sides)
    moments: list[list[int]] = []
    left = right = 0
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for _, first, last, other_first, other_last in matcher.get_opcodes():
        for place in range(max(last - first, other_last - other_first)):
            left = first + place if first + place < last else left
            right = other_first + place if other_first + place < other_last else right
            moments.append([left, right])
    return moments


def _sight(event: Event) -> tuple[str, str, str, str]:
    """Return by what two events on two tapes are the same step."""
    return event.kind, event.ph, event.name, event.phase


def lanes_of(
    events: Sequence[Event], moments: Sequence[Sequence[int]], side: int
) -> list[tuple[str, list[Stretch]]]:
    """Return the lanes of a side that are not empty, each with its stretches.

    The update has two phases: first all tuples are made, and at a call all new values, then they
    are committed.
    """
    lanes: dict[str, list[Stretch]] = {lane: [] for lane in LANES}
    before = None
    for moment, steps in enumerate(moments):
        event = events[steps[side]]
        lane = lane_of(event)
        if lane and before == (lane, event.phase):
            word, first, _ = lanes[lane].pop()
            lanes[lane].append((word, first, moment))
        elif lane:
            lanes[lane].append((_word(lane, event), moment, moment))
        before = (lane, event.phase)
    return [(lane, stretches) for lane, stretches in lanes.items() if stretches]


def _word(lane: str, event: Event) -> str:
    if lane == "update":
        return {"commit": "committed", "update": "values"}.get(event.phase, "made")
    return event.phase if event.phase in ("loss", "metrics") and lane == "forward" else lane
