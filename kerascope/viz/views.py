"""What of a graph is shown: which frames are open, and what stands on the closed ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kerascope.viz.collapse.blocks import with_blocks
from kerascope.viz.collapse.closing import closed_by_default, closed_for
from kerascope.viz.collapse.collapsed import collapsed
from kerascope.viz.graph import Graph

MOST_BOXES = 60
ROOM = 5 / 3  # a little more than that is better than frames that nobody made
WHOLE_LEVELS = ("gradient", "training")
# The state of a closed frame: the first of these that something inside it has.
TELLING_STATES = ("failed", "nan", "current", "overridden", "highlight", "gradient")


@dataclass(frozen=True)
class View:
    """A whole graph and which of its frames are closed.

    Parameters
    ----------
    whole : Graph
        With all its frames.
    closed : frozenset of str
        Ids of the closed ones.
    """

    whole: Graph
    closed: frozenset[str] = frozenset()

    @cached_property
    def shown(self) -> Graph:
        """What is drawn: closed frames as boxes, marked by what is marked inside."""
        if not self.closed:
            return self.whole
        return _with_inner_states(self.whole, collapsed(self.whole, self.closed))


def _with_inner_states(whole: Graph, shown: Graph) -> Graph:
    """Give each closed frame that has no state of its own the one that its boxes tell."""
    inner = _states_inside(whole)
    groups = {group.id for group in whole.groups}
    boxes = [
        replace(box, attrs={**box.attrs, "state": _told(inner[box.id])})
        if box.id in groups and not box.attrs.get("state") and _told(inner.get(box.id, ()))
        else box
        for box in shown.nodes
    ]
    return replace(shown, nodes=tuple(boxes))


def _states_inside(graph: Graph) -> dict[str, dict[str, None]]:
    """Return the states of the boxes in each frame, at any depth."""
    parents = {group.id: group.parent for group in graph.groups}
    found: dict[str, dict[str, None]] = {}
    for node in graph.nodes:
        group = node.group
        while group:
            found.setdefault(group, {})[str(node.attrs.get("state", ""))] = None
            group = parents[group]
    return found


def _told(states: Iterable[str]) -> str:
    """Return the state of a frame with boxes in these states."""
    listed = list(states)
    for state in TELLING_STATES:
        if state in listed:
            return state
    if len(listed) == 1:
        return listed[0]
    if "pending" in listed:
        return "current" if "done" in listed else "pending"
    return "changed" if any(state in ("added", "removed", "changed") for state in listed) else ""


def view_of(graph: Graph, expand: Any = None, most: int | None = MOST_BOXES) -> View:
    """Return a graph with as many frames closed as a person needs.

    Parameters
    ----------
    graph : Graph
    expand : str, list of str, int, "all" or callable, optional
        Which frames shall be open; see `collapse.closed_for`.
    most : int, optional
        About how many boxes are shown at most; None for all. If there are more, repeated blocks
        become frames; not in pictures of gradients and updates, where each box is its own.
    """
    roomy = len(graph.nodes) + 1
    if most is None or graph.attrs.get("level") in WHOLE_LEVELS:
        return View(graph, closed_for(graph, expand, roomy))
    if _shown(graph, closed_by_default(graph, roomy)) <= most:
        return View(graph, closed_for(graph, expand, roomy))
    if _shown(graph, closed_by_default(graph, most)) > most * ROOM:
        graph = with_blocks(graph, most)  # the frames that are there do not hide enough
    return View(graph, closed_for(graph, expand, most))


def _shown(graph: Graph, closed: frozenset[str]) -> int:
    """Return how many boxes are shown if some frames are closed."""
    hiding = {"": ""}
    for group in graph.groups:
        hiding[group.id] = hiding[group.parent] or (group.id if group.id in closed else "")
    homes = Counter(hiding[node.group] for node in graph.nodes)
    return homes.pop("", 0) + len(homes)
