"""A graph as a numbered list, for what is too wide to be drawn in characters."""

from __future__ import annotations

from rich.cells import cell_len

from kerascope.viz.boxes import PictureOptions, group_text
from kerascope.viz.graph import Graph
from kerascope.viz.layout.levels import UPWARD_ROLES
from kerascope.viz.text.words import Density, fitted, plain, words_of
from kerascope.viz.words import reading_order

Line = list[tuple[str, str]]


def list_lines(graph: Graph, options: PictureOptions, width: int, ascii_only: bool) -> list[Line]:
    """Return one line for each box, and as many as needed for where its inputs come from.

    Data comes from the numbers after `←`, gradients and updates from those after `⇠` (`<-` and `<~`
    in ASCII).
    """
    order = reading_order(graph)
    number = {node.id: i for i, node in enumerate(order, start=1)}
    groups = {group.id: group for group in graph.groups}
    sources: dict[tuple[str, bool], list[int]] = {}
    for edge in graph.edges:
        is_back = edge.attrs.get("role") in UPWARD_ROLES
        sources.setdefault((edge.target, is_back), []).append(number[edge.source])
    digits = len(str(len(order)))
    signs = (("<-", False), ("<~", True)) if ascii_only else (("←", False), ("⇠", True))
    lines: list[Line] = []
    for node in order:
        words = words_of(node, options, Density(False), ascii_only)
        text, style = words.lines[0]
        if node.group:
            frame = plain(group_text(groups[node.group])[0], ascii_only)
            text = f"{text} in {frame}"
        head = f"{number[node.id]:>{digits}} "
        rows = [head + fitted(text, width - len(head), ascii_only)]
        for sign, is_back in signs:
            listed = sources.get((node.id, is_back), [])
            for place, source in enumerate(listed):
                more = "," if place + 1 < len(listed) else ""
                part = f"{source}{more}" if place else f"{sign} {source}{more}"
                if cell_len(rows[-1]) + 1 + len(part) > width:
                    rows.append(" " * digits)
                rows[-1] += " " + part
        lines += [[(row, style if place == 0 else "dim")] for place, row in enumerate(rows)]
    return lines
