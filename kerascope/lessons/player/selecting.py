"""Which events of a tape a player shows, and what its slider counts: lanes, steps, moments."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, END, FORGOTTEN, GRAINS, Event
from kerascope.trace.selectors import ACTS, PHASES, KnownNames, Selector, parse_selector
from kerascope.trace.tape_store import Tape

LANES = ("build", "forward", "backward", "update")
_LANE_OF_PHASE = {
    "build_map": "build", "depth_sort": "build", "check_graph": "build",
    "run_internal_graph": "forward", "forward": "forward", "loss": "forward",
    "metrics": "forward", "gradients": "backward", "backward": "backward",
    "get_updates": "update", "update": "update", "commit": "update",
}  # fmt: skip
When = int | str  # a time of the tape, or what a breakpoint of the debugger can name


def lane_of(event: Event) -> str:
    """Return in which lane an event lies; "" for what lies around all of them.

    Examples
    --------
    >>> lane_of(Event(0, "batch", "commit", "update.apply", "I", 3, "node", "w"))
    'update'
    """
    if event.act in ("build", "compile") and event.phase != "run_internal_graph":
        return "build"
    if event.kind == "update.pair":
        return "update"
    return _LANE_OF_PHASE.get(event.phase, "")


def selected(
    tape: Tape,
    from_: When | None = None,
    until: When | None = None,
    level: str = "detail",
    lanes: Sequence[str] | None = None,
) -> list[Event]:
    """Return the events that are shown.

    Raises
    ------
    ArgumentError
        There is nothing to show, or a word is unknown.
    """
    if level not in GRAINS:
        raise ArgumentError(
            f"Player: level: expected one of {GRAINS}, got {level!r}. "
            f"{did_you_mean(str(level), GRAINS)}".rstrip()
        )
    for lane in lanes or ():
        if lane not in LANES:
            raise ArgumentError(
                f"Player: lanes: expected names among {LANES}, got {lane!r}. "
                f"{did_you_mean(str(lane), LANES)}".rstrip()
            )
    if not len(tape):
        raise ArgumentError("Player: the tape is empty; record inside `with ks.trace() as tape:`.")
    first = 0 if from_ is None else time_of(tape, from_, "from_")
    last = len(tape) - 1 if until is None else end_of(tape, until, first)
    finest = GRAINS.index(level)
    found = [
        event
        for event in tape[first : last + 1]
        if GRAINS.index(event.grain) <= finest and (lanes is None or lane_of(event) in lanes)
    ]
    if not found:
        raise ArgumentError(
            f"Player: no event is left from t={first} to t={last} at level {level!r}"
            f"{f' in the lanes {tuple(lanes)}' if lanes is not None else ''}. Show more of them."
        )
    if any(event.kind == FORGOTTEN for event in found):
        raise ArgumentError(
            "Player: the tape has forgotten some of these events. Record fewer, or with "
            "`ks.trace(history=None)`."
        )
    return found


def time_of(tape: Tape, when: When, where: str, start: int = 0) -> int:
    """Return the time of the first event, from `start` on, that is meant.

    Raises
    ------
    ArgumentError
        There is none.
    """
    if isinstance(when, bool) or not isinstance(when, (int, str)):
        raise ArgumentError(
            f"Player: {where}: expected a time such as 17 or a name such as 'dense_2' or "
            f"'phase:commit', got {when!r}."
        )
    if isinstance(when, int):
        if not 0 <= when < len(tape):
            raise ArgumentError(
                f"Player: {where}: there is no t={when}; the tape goes from 0 to {len(tape) - 1}."
            )
        return when
    selector = parsed(tape, when, where)
    for event in tape[start:]:
        if selector.matches(event, tape):
            return int(event.t)
    raise ArgumentError(
        f"Player: {where}: no event from t={start} on is meant by {when!r}. "
        f"`print(tape.to_table())` shows all."
    )


def parsed(tape: Tape, text: str, where: str) -> Selector:
    """Return a selector: as in the debugger, but a phase may stand without the word.

    A misspelt name of a layer is refused with the one that was meant.
    """
    layers = {event.name for event in tape if event.kind in ("layer.call", "layer.init", "node")}
    if text in (*ACTS, *PHASES) and text not in layers:
        text = f"phase:{text}"
    return parse_selector(text, KnownNames(layers=layers), f"Player: {where}")


def end_of(tape: Tape, when: When, start: int) -> int:
    """Return the last time of what is meant: of a span that begins there, its end."""
    t = time_of(tape, when, "until", start)
    event = tape[t]
    if isinstance(when, int) or event.ph != BEGIN:
        return t
    for later in tape[t + 1 :]:
        if later.ph == END and later.depth == event.depth:
            return later.t
    return len(tape) - 1


# --- moments: what the slider counts --------------------------------------------------------------


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
