"""What a page knows of its graph, as compact JSON: `viewer/graph.js` reads it.

Every text stands once in a table, every set of words, size and set of attributes too; all else
names them by their numbers. The rows of every level are in order already, so the page only has to
find places, whatever frames are open.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from kerascope.printable import printable_json, printable_lines
from kerascope.viz.boxes import BoxText, PictureOptions, caption_lines, group_text
from kerascope.viz.collapse.collapsed import kind_of_group
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphNode
from kerascope.viz.html.closed import ClosedFrames
from kerascope.viz.html.constants import LETTERS, layout_constants
from kerascope.viz.layout.arrange import DEPTH_SIZE
from kerascope.viz.layout.levels import BOX, FRAME, Level
from kerascope.viz.layout.measures import caption_size, measure, title_size
from kerascope.viz.layout.order import ordered_levels
from kerascope.viz.layout.text_width import SLACK, text_width
from kerascope.viz.theme import STATES, STYLES, style_of

IN_A_LANE, BESIDE = 1, 2  # ways of a route that is not from row to row


def page_data(
    graph: Graph, options: PictureOptions, frames: ClosedFrames, closed: Iterable[str]
) -> dict[str, Any]:
    """Return everything that the page draws, in a form that JSON has.

    Parameters
    ----------
    graph : Graph
        With all its groups.
    options : PictureOptions
    frames : ClosedFrames
        The groups as closed boxes.
    closed : iterable of str
        Ids of the groups that are closed at first.
    """
    return _Data(graph, options, frames).result(dict.fromkeys(closed))


def as_script(data: Mapping[str, Any]) -> str:
    """Return data as JSON that may stand in a script element: no text in it can end the element.

    Examples
    --------
    >>> "</script>" in as_script({"name": "</script>"})
    False
    """
    text = printable_json(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
    return text.replace("<", "\\u003c")


class _Table:
    """Things that are the same several times, each named by its number."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.numbers: dict[Hashable, int] = {}

    def add(self, key: Hashable, item: Any) -> int:
        """Return the number of the item with this key; it is added if it is new."""
        if key not in self.numbers:
            self.numbers[key] = len(self.items)
            self.items.append(item)
        return self.numbers[key]


class _Data:
    def __init__(self, graph: Graph, options: PictureOptions, frames: ClosedFrames) -> None:
        self.graph = graph
        self.options = options
        self.sideways = replace(options, rankdir="LR")
        self.downward = replace(options, rankdir="TB")
        self.frames = frames
        self.group_numbers = {"": -1} | {group.id: i for i, group in enumerate(graph.groups)}
        # Frames have numbers of their own in this table: a group may be called as a box is.
        self.box_numbers = {node.id: i for i, node in enumerate(graph.nodes)}
        self.strings, self.texts, self.sizes = _Table(), _Table(), _Table()
        self.attributes, self.kinds = _Table(), _Table()
        self.units: list[int] = []

    def result(self, closed: Mapping[str, None]) -> dict[str, Any]:
        graph = self.graph
        closed_boxes = [self.frames.boxes[group.id] for group in graph.groups]
        levels = ordered_levels(graph)
        wide, high = caption_size(graph)
        found = {
            "name": printable_lines(graph.name),
            "rankdir": self.options.rankdir,
            "theme": self.options.theme,
            "depthRanks": self.options.depth_ranks,
            "depthStrip": self._depth_strip(levels[""]),
            "caption": [self.drawn(line) for line in caption_lines(graph)],
            "captionSize": [wide, high],
            "layout": layout_constants(),
            "states": {name: state.word or name for name, state in STATES.items()},
            "boxes": [self.box(node) for node in (*graph.nodes, *closed_boxes)],
            "groups": [self.group(number) for number in range(len(graph.groups))],
            "edges": [self.edge(number, edge) for number, edge in enumerate(graph.edges)],
            "levels": [self.level(level) for level in levels.values()],
            "closed": [i for i, group in enumerate(graph.groups) if group.id in closed],
        }
        tables = {
            "strings": self.strings.items,
            "units": self.units,
            "texts": self.texts.items,
            "sizes": self.sizes.items,
            "attributes": self.attributes.items,
            "kinds": self.kinds.items,
        }
        return found | tables

    # --- texts and attributes ---------------------------------------------------------------------

    def string(self, text: str) -> int:
        """Return the number of a text that is not measured."""
        if text not in self.strings.numbers:
            self.units.append(0)
            return self.strings.add(text, printable_lines(text))
        return self.strings.numbers[text]

    def drawn(self, text: str) -> int:
        """Return the number of a text that stands in the picture; its width is known there."""
        number = self.string(text)
        self.units[number] = round(text_width(text, 1000.0 / SLACK))
        return number

    def attribute_set(self, attrs: Mapping[str, Attribute], label: str = "") -> int:
        """Return the number of a set of attributes; nothing is said of a layer that is `label`."""
        pairs: list[Any] = []
        for key, value in attrs.items():
            if value != "" and (key != "layer" or value != label):
                pairs.append(self.string(key))
                pairs.append(self.string(value) if isinstance(value, str) else [_plain(value)])
        return self.attributes.add(repr(pairs), pairs)

    def words(self, text: BoxText) -> int:
        parts = [text.lines, text.marks, text.inputs, text.outputs]
        while parts and not parts[-1]:
            parts.pop()
        numbers = [[self.drawn(line) for line in lines] for lines in parts]
        return self.texts.add(repr(numbers), numbers)

    def kind(self, name: str) -> int:
        style = style_of(name)
        name = name if name in STYLES else "layer"
        row = [name, self.drawn(style.sign), style.corners, style.frames]
        return self.kinds.add(name, row)

    # --- boxes, frames, arrows --------------------------------------------------------------------

    def box(self, node: GraphNode) -> list[Any]:
        down = side = measure(node, self.downward)
        if any(int(node.attrs.get(key, 0)) > 1 for key in ("input_count", "output_count")):
            side = measure(node, self.sideways)
        size = [down.width, down.height]
        if [side.width, side.height] != size or any(side.margins):
            size += [side.width, side.height, side.margins[0], side.margins[2]]
        size = [round(length, 2) for length in size]
        return [
            self.string(node.id),
            self.drawn(down.text.title),
            self.string(node.label),
            self.kind(node.kind),
            self.group_numbers[node.group],
            node.depth,
            self.words(down.text),
            self.sizes.add(repr(size), size),
            self.attribute_set(node.attrs, node.label),
        ]

    def group(self, number: int) -> list[Any]:
        group = self.graph.groups[number]
        name, detail = group_text(group)
        is_call = kind_of_group(group) == "call"
        return [self.drawn(name), self.drawn(detail), *title_size(group), int(is_call)]

    def edge(self, number: int, edge: GraphEdge) -> list[Any]:
        row = [
            self.box_numbers[edge.source],
            self.box_numbers[edge.target],
            self.attribute_set(edge.attrs),
            self.drawn(edge.label),
        ]
        tails = self._ports(number, edge.source, self.frames.outputs)
        heads = self._ports(number, edge.target, self.frames.operands)
        return [*row, tails, heads] if tails or heads else row

    def _ports(self, number: int, box: str, ports: Mapping[tuple[int, str], int]) -> list[int]:
        """Return pairs of a group around a box and the port of it, closed, that an arrow takes."""
        found = []
        around = self.graph.nodes[self.box_numbers[box]].group
        while around:
            if (number, around) in ports:
                found += [self.group_numbers[around], ports[number, around]]
            around = self.graph.groups[self.group_numbers[around]].parent
        return found

    def level(self, level: Level) -> list[Any]:
        things = []
        for kind, name, edge in zip(level.kinds, level.names, level.edges, strict=True):
            if kind == BOX:
                things.append(self.box_numbers[name])
            elif kind == FRAME:
                things.append(len(self.graph.nodes) + self.group_numbers[name])
            else:
                things.append(edge)
        routes = []
        for route in level.routes:
            way = BESIDE if route.beside else IN_A_LANE if route.lane >= 0 else 0
            routes.append([route.edge, way, route.place, int(route.turned), *route.stops])
        kinds = "".join(LETTERS[kind] for kind in level.kinds)
        return [self.group_numbers[level.group], kinds, things, level.rows, level.depths, routes]

    def _depth_strip(self, level: Level) -> float:
        depths = [depth for depth in level.depths if depth is not None]
        return max((text_width(f"depth {d}", DEPTH_SIZE) for d in depths), default=0.0) + 16


def _plain(value: Attribute) -> Attribute:
    """Return a number as JSON has it: infinite ones and NaN as text."""
    is_odd = isinstance(value, float) and value - value != 0
    return str(value) if is_odd else value
