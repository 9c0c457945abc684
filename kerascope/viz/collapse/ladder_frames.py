"""Frames of a ladder: a block that is closed on one rail is closed on the other, with its cards.

Repeated blocks are found among the calls, as at the node level. Each frame has two twins: one
around the cards of its layers, one around the gradients of its calls. The three open and close
together, so a closed block is one box on each rail with one card between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kerascope.viz.collapse.blocks import with_blocks
from kerascope.viz.collapse.collapsed import kind_of_group
from kerascope.viz.graph import Graph, GraphGroup, GraphNode
from kerascope.viz.nesting import FreeIds, chains_of, items_of, shared_length

LEAST_ON_A_RAIL = 8


def forward_rail(graph: Graph) -> Graph:
    """Return a graph of only the calls of a ladder, with the frames around them."""
    nodes = tuple(
        replace(node, depth=node.depth // 2 if not node.group else node.depth)
        for node in graph.nodes
        if node.attrs.get("rail") == "forward"
    )
    kept = {node.id for node in nodes}
    edges = tuple(e for e in graph.edges if e.source in kept and e.target in kept)
    groups = tuple(
        group if group.parent else replace(group, depth=group.depth // 2)
        for group in graph.groups
        if is_nested_call(group)
    )
    return Graph.trusted(graph.name, nodes, edges, groups, {"level": "node"})


def is_nested_call(group: GraphGroup) -> bool:
    """Return whether a frame of a ladder is the call of a nested model."""
    return kind_of_group(group) == "call"


def with_twins(graph: Graph) -> Graph:
    """Return a ladder with frames for nested models on both rails and around their cards."""
    return _Mirror(graph, forward_rail(graph)).result()


def with_ladder_blocks(graph: Graph, most: int) -> Graph:
    """Return a ladder with frames around repeated blocks, on both rails and around the cards.

    Parameters
    ----------
    graph : Graph
        A graph with the attribute `ladder`.
    most : int
        The approximate number of boxes that remain when all frames are closed.
    """
    below = sum(node.attrs.get("rail") == "loss" for node in graph.nodes)
    rail = with_blocks(forward_rail(graph), max(LEAST_ON_A_RAIL, (most - below) // 3))
    return _Mirror(graph, rail).result() if rail.groups else graph


@dataclass
class _Mirror:
    """Adds, for each frame around calls, the frames around their gradients and cards (twins).

    Attributes
    ----------
    graph, rail : Graph
        The ladder, and its forward rail with frames.
    """

    graph: Graph
    rail: Graph
    cards: dict[str, str] = field(default_factory=lambda: {"": ""})
    gradients: dict[str, str] = field(default_factory=lambda: {"": ""})

    def result(self) -> Graph:
        """Return the ladder with the frames around its calls, their gradients and their cards."""
        taken = [part.id for part in items_of(self.graph)]
        free_id = FreeIds(dict.fromkeys(taken)).take
        calls = {node.id: node for node in self.rail.nodes}
        groups: list[GraphGroup] = []
        for group in self.rail.groups:
            depth = 2 * group.depth if not group.parent else group.depth
            own = {**group.attrs, "rail": "forward"}
            groups.append(replace(group, depth=depth, attrs=own))
            for twins, prefix, kind in (
                (self.cards, "cards", "cards"),
                (self.gradients, "grad", "gradients"),
            ):
                twin = twins[group.id] = free_id(f"{prefix}:{group.id}")
                attrs = {**group.attrs, "kind": kind, "twin": group.id}
                label = group.label
                if kind == "gradients":
                    attrs |= {"rail": "backward", "beside": group.id}
                    label = f"d loss / d {group.label}"
                groups.append(GraphGroup(twin, label, twins[group.parent], depth, attrs))
        around = self._around_cards(calls)
        held = self._parameters_held(around)
        groups = [
            replace(group, attrs={**group.attrs, "parameters": held.get(group.id, 0)})
            if group.attrs["kind"] == "cards"
            else group
            for group in groups
        ]
        groups += [
            replace(card, parent=self.cards[around[card.id]], depth=card.depth)
            for card in self.graph.groups
            if card.id in around
        ]
        nodes = sorted((self._placed(node, calls) for node in self.graph.nodes), key=_row)
        attrs = dict(self.graph.attrs)
        return Graph(self.graph.name, tuple(nodes), self.graph.edges, tuple(groups), attrs)

    def _parameters_held(self, around: Mapping[str, str]) -> dict[str, int]:
        """Return, for each frame around cards, the number of parameters on the cards in it."""
        parents = {group.id: group.parent for group in self.rail.groups}
        held: dict[str, int] = {}
        for card in self.graph.groups:
            group = around.get(card.id, "")
            while group:
                twin = self.cards[group]
                held[twin] = held.get(twin, 0) + int(card.attrs.get("parameters", 0))
                group = parents[group]
        return held

    def _placed(self, node: GraphNode, calls: Mapping[str, GraphNode]) -> GraphNode:
        """Return a copy of a box that refers to its new frame, with its depth inside that frame."""
        home = calls.get(node.id)
        if home is not None:
            depth = home.depth if home.group else node.depth
            return replace(node, group=home.group, depth=depth, attrs=home.attrs)
        home = calls.get(str(node.attrs.get("beside", "")))
        if home is None or not home.group:
            return node
        return replace(node, group=self.gradients[home.group], depth=home.depth)

    def _around_cards(self, calls: Mapping[str, GraphNode]) -> dict[str, str]:
        """Return, for each card, the innermost frame around all calls that read its weights."""
        chains = chains_of(self.rail.groups)
        found: dict[str, str] = {}
        for card in self.graph.groups:
            if is_nested_call(card):
                continue
            reading = [calls[one].group for one in _calls_of(card) if one in calls]
            chain = chains[reading[0]] if reading else chains[""]
            for group in reading[1:]:
                chain = chain[: shared_length(chain, chains[group])]
            found[card.id] = chain[-1]
        return found


def _calls_of(card: GraphGroup) -> list[str]:
    return str(card.attrs.get("of", "")).split(", ")


def _row(node: GraphNode) -> int:
    return -node.depth


def closed_with_twins(graph: Graph, closed: Iterable[str]) -> frozenset[str]:
    """Return the given closed frames, except those that have an open twin.

    Twins are the frames around the calls of a block, around their gradients and around their cards.
    They open and close together.
    """
    listed = set(closed)
    families: dict[str, list[str]] = {}
    for group in graph.groups:
        families.setdefault(str(group.attrs.get("twin", group.id)), []).append(group.id)
    return frozenset(
        one for family in families.values() if listed.issuperset(family) for one in family
    )
