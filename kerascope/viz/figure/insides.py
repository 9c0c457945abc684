"""Attributes of boxes that only figures need: shared weights, and the layers in closed frames."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from string import ascii_uppercase

from kerascope.viz.collapse.view import View
from kerascope.viz.graph import Graph, GraphNode
from kerascope.viz.nesting import hiding_of


def layer_of(node: GraphNode) -> str:
    """Return the id of the first box of a layer, which is the same for all calls of this layer."""
    return str(node.attrs.get("shared_with") or node.id)


def layer_count(nodes: Iterable[GraphNode]) -> int:
    """Return the number of distinct layers whose calls the boxes show."""
    return len({layer_of(node) for node in nodes if node.kind not in ("input", "tensor")})


def with_insides(view: View) -> Graph:
    """Return the visible graph with additional attributes that figures need.

    Returns
    -------
    Graph
        A box that shares weights with another box has the attribute `shared`, a text for its label
        such as "shared A" or "partly shared". The box of a closed frame has the attribute
        `members`, its number of layers, and the attribute `inside`, a description of these layers.
        Nested models of the same structure have equal descriptions.
    """
    hiding = hiding_of(view.whole, view.closed)
    inside: dict[str, list[GraphNode]] = {}
    users: dict[str, dict[str, None]] = {}
    weighted = {node.id for node in view.whole.nodes if node.attrs.get("parameters")}
    for node in view.whole.nodes:
        home = hiding[node.group] or node.id
        inside.setdefault(home, []).append(node)
        if layer_of(node) in weighted:
            users.setdefault(layer_of(node), {})[home] = None
    groups = dict.fromkeys(tuple(boxes) for boxes in users.values() if len(boxes) > 1)
    letters = dict(zip(groups, ascii_uppercase, strict=False)) if len(groups) > 1 else {}
    shown = []
    for box in view.shown.nodes:
        hidden = inside.get(box.id, [box])
        attrs = dict(box.attrs)
        layers = {layer_of(node) for node in hidden} & weighted
        shared = [one for one in layers if len(users[one]) > 1]
        if shared:
            used = {letters.get(tuple(users[one]), "") for one in shared}
            partly = "" if len(shared) == len(layers) else "partly "
            attrs["shared"] = f"{partly}shared {'+'.join(sorted(used))}".rstrip()
        if hidden != [box]:
            attrs["members"] = layer_count(hidden)
            facts = ("class_name", "settings", "output_shapes", "activation")
            attrs["inside"] = repr([[node.attrs.get(one) for one in facts] for node in hidden])
        shown.append(replace(box, attrs=attrs))
    return replace(view.shown, nodes=tuple(shown))
