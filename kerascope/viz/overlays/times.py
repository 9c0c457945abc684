"""Times in pictures: how the time of a function call is distributed over the boxes.

Each box has a line with its time and its share of the total. The smaller the share, the paler the
box. The time of a frame is the sum over its contents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from kerascope.viz.boxes import caption_with
from kerascope.viz.graph import Attribute, Graph
from kerascope.viz.overlays.marking import known_ids, with_attributes, with_details
from kerascope.viz.theme import HEATS

# The minimum share of the time for each of `HEATS` except the first.
FROM_SHARES = (0.01, 0.03, 0.10, 0.20, 0.40)


class Times(NamedTuple):
    """The time of one box in one call of a function, in seconds, for each phase.

    Attributes
    ----------
    forward, backward, update : float
        Seconds of each phase.
    calls : int
        1, or the number of calls of the layer if the layer's time was divided equally among them.
    """

    forward: float = 0.0
    backward: float = 0.0
    update: float = 0.0
    calls: int = 1

    @property
    def seconds(self) -> float:
        """The sum of the seconds of all phases."""
        return self.forward + self.backward + self.update

    def plus(self, other: Times) -> Times:
        """Return the sum of two times, phase by phase."""
        return Times(
            self.forward + other.forward, self.backward + other.backward, self.update + other.update
        )


def readable_time(seconds: float) -> str:
    """Return a time with three digits in a suitable unit.

    Examples
    --------
    >>> [readable_time(x) for x in (0, 3.2e-7, 1.23456e-5, 0.0999996, 12.3)]
    ['0', '0.32 µs', '12.3 µs', '100 ms', '12.3 s']
    """
    if not seconds:
        return "0"
    for factor, unit in ((1e6, "µs"), (1e3, "ms"), (1, "s")):
        if float(f"{seconds * factor:.3g}") < 1000 or unit == "s":
            break
    number = float(f"{seconds * factor:.3g}")
    if number >= 100:
        return f"{number:,.0f} {unit}"
    return f"{number:.{1 if number >= 10 else 2}f} {unit}"


def readable_share(share: float) -> str:
    """Return a share, from 0 to 1, as the text of a percentage.

    Examples
    --------
    >>> readable_share(0.4567), readable_share(0.031), readable_share(0.0001)
    ('46 %', '3.1 %', '<0.1 %')
    """
    percent = 100 * share
    if 0 < percent < 0.1:
        return "<0.1 %"
    return f"{percent:.0f} %" if percent >= 9.95 else f"{percent:.1f} %"


def heat_of(share: float) -> str:
    """Return the heat of a share of the time, from `theme.HEATS`.

    Examples
    --------
    >>> heat_of(0.0), heat_of(0.15), heat_of(1.0)
    ('heat0', 'heat3', 'heat5')
    """
    return HEATS[sum(share >= least for least in FROM_SHARES)]


def with_times(
    graph: Graph, times: Mapping[str, Times], total: float, what: str = "a call"
) -> Graph:
    """Return the graph with the time of each box.

    Parameters
    ----------
    graph : Graph
    times : mapping of str to Times
        The time of each box, by its id. The entry of a frame is only the time that belongs to none
        of the boxes inside the frame.
    total : float
        Seconds of the whole call. Shares are relative to this time.
    what : str
        The measured subject, for the caption.

    Returns
    -------
    Graph
        Boxes and frames have a line "12.3 µs · 45 %", the attribute `time_share`, and one of
        `theme.HEATS` as their state. Boxes also have a line with the phases.

    Raises
    ------
    ArgumentError
        The graph has no box or frame with one of these ids.

    Examples
    --------
    >>> from kerascope.viz.graph import GraphNode
    >>> graph = Graph("one", (GraphNode("a", "a", "dense"),), ())
    >>> marked = with_times(graph, {"a": Times(2e-6, 3e-6)}, 1e-5)
    >>> marked.node("a").attrs["detail"].split(chr(10))
    ['5.00 µs · 50 %', 'forward 2.00 µs · backward 3.00 µs']
    >>> marked.node("a").attrs["state"]
    'heat5'
    """
    sums = _with_frames(graph, times)
    shares = {one: _share(sums[one].seconds, total) for one in sums}
    frames = {group.id for group in graph.groups}
    details = {
        one: _lines(found, shares[one])[: 1 if one in frames else None]
        for one, found in sums.items()
        if found.seconds
    }
    boxes = known_ids(graph)
    marks: dict[str, dict[str, Attribute]] = {
        one: {"state": heat_of(shares.get(one, 0.0)), "time_share": round(shares.get(one, 0.0), 4)}
        for one in boxes
    }
    marked = with_attributes(with_details(graph, details, "times"), marks, "times")
    caption = caption_with(graph.attrs, *_captions(times.values(), total, what))
    return replace(marked, attrs={**graph.attrs, "caption": caption})


def _with_frames(graph: Graph, times: Mapping[str, Times]) -> dict[str, Times]:
    """Return the times of all boxes, and of each frame including its contents."""
    sums = dict(times)
    parents = {group.id: group.parent for group in graph.groups}
    for node in graph.nodes:
        if node.group and node.id in times:
            sums[node.group] = sums.get(node.group, Times()).plus(times[node.id])
    for group in reversed(graph.groups):  # inner groups first
        if group.parent and group.id in sums:
            parent = parents[group.id]
            sums[parent] = sums.get(parent, Times()).plus(sums[group.id])
    return sums


def _share(seconds: float, total: float) -> float:
    return seconds / total if total else 0.0


def _lines(times: Times, share: float) -> list[str]:
    words = [f"{readable_time(times.seconds)} · {readable_share(share)}"]
    phases = [
        f"{name} {readable_time(seconds)}"
        for name, seconds in zip(Times._fields[:3], times[:3], strict=True)
        if seconds
    ]
    if len(phases) > 1:
        words.append(" · ".join(phases))
    if times.calls > 1:
        words.append(f"1/{times.calls} of its {times.calls} calls")
    return words


def _captions(times: Iterable[Times], total: float, what: str) -> tuple[str, str]:
    shown = sum(one.seconds for one in times)
    rest = readable_share(max(1 - _share(shown, total), 0.0))
    scale = ", ".join(f"{100 * share:.0f}" for share in FROM_SHARES)
    return (
        f"Time of {what}: {readable_time(total)}, {rest} of it outside the boxes",
        f"The colour gets stronger at {scale} % of the time",
    )
