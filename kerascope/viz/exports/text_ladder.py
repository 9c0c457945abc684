"""A ladder in characters: each row has a call, its card of weights and, at the right, its gradient.

There are no lines between boxes. Instead, each call and each gradient names its inputs, after `←`
for a call and after `⇠` for a gradient. They are left out if the only input is from the call of the
row above, or from the gradient of the row below. A card has a line for each weight, from the weight
to its new value.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len

from kerascope.viz.boxes import PictureOptions
from kerascope.viz.exports.text_canvas import Density, fitted, lines_of_box, plain
from kerascope.viz.graph import Graph, GraphNode
from kerascope.viz.nesting import longest_paths
from kerascope.viz.theme import OKABE_ITO, style_of

Line = list[tuple[str, str]]  # characters with their styles
GAP = 3
LEAST_COLUMN = 14


def ladder_lines(
    graph: Graph, options: PictureOptions, width: int, ascii_only: bool
) -> list[Line] | None:
    """Return the lines of a ladder, no longer than `width`; None if it does not fit.

    Parameters
    ----------
    graph : Graph
        A graph with the attribute `ladder`.
    options : PictureOptions
    width : int
    ascii_only : bool
        Use ASCII characters only.
    """
    text = _Text(graph, options, ascii_only)
    rows = text.rows()
    widths = [max((cell_len(x) for row in rows for x, _ in row[i]), default=0) for i in range(3)]
    spare = width - sum(widths) - 2 * GAP
    for column in (0, 2):  # names of calls may be cut, texts of cards may not
        if spare < 0:
            cut = min(-spare, max(0, widths[column] - LEAST_COLUMN))
            widths[column] -= cut
            spare += cut
    if spare < 0:
        return None
    lines: list[Line] = [text.heads(widths)]
    for row in rows:
        for place in range(max(map(len, row))):
            line: Line = []
            for part, width_of in zip(row, widths, strict=True):
                words, style = part[place] if place < len(part) else ("", "")
                words = fitted(words, width_of, ascii_only)
                line.append((words, style))
                line.append((" " * (width_of - cell_len(words) + GAP), ""))
            lines.append(line)
    return lines


class _Text:
    """The texts of a ladder, row by row, in three columns."""

    def __init__(self, graph: Graph, options: PictureOptions, ascii_only: bool) -> None:
        self.graph = graph
        self.options = options
        self.ascii_only = ascii_only
        self.nodes = {node.id: node for node in graph.nodes}
        self.into: dict[str, list[tuple[str, str]]] = {}
        for edge in graph.edges:
            if "operand_of" not in edge.attrs:
                via = str(edge.attrs.get("via", ""))
                self.into.setdefault(edge.target, []).append((edge.source, via))
        self.lines: dict[str, dict[str, list[GraphNode]]] = {}
        for node in graph.nodes:
            if "line" in node.attrs:
                lines = self.lines.setdefault(node.group, {})
                lines.setdefault(str(node.attrs["line"]), []).append(node)
        self.shown_cards: set[str] = set()

    def heads(self, widths: list[int]) -> Line:
        """Return the line with the titles of the columns."""
        names = ("forward v", "weights", "^ backward") if self.ascii_only else (
            "forward \u25bc", "weights", "\u25b2 backward"
        )  # fmt: skip
        line: Line = []
        for name, width in zip(names, widths, strict=True):
            line.append((f"{name:<{width + GAP}}" if width else "", "bold"))
        return line

    def rows(self) -> list[tuple[Line, Line, Line]]:
        """Return the texts of each row, in three columns: rows of calls, then rows of losses."""
        calls = [node for node in self.graph.nodes if self._rail(node) == "forward"]
        pairs = [
            (edge.source, edge.target)
            for edge in self.graph.edges
            if self._rail(self.nodes[edge.source])
            == self._rail(self.nodes[edge.target])
            == "forward"
        ]
        depths = longest_paths([node.id for node in calls], pairs)
        calls.sort(key=lambda node: -depths[node.id])
        found = []
        for number, node in enumerate(calls):
            above = calls[number - 1].id if number else ""
            below = calls[number + 1].id if number + 1 < len(calls) else ""
            gradients = [x for x in self.graph.nodes if x.attrs.get("beside") == node.id]
            right = [line for x in gradients for line in self._gradient(x, below)]
            found.append((self._call(node, above), self._cards(node.id), right))
        rest = [card for card in self.lines if card not in self.shown_cards]
        found += [([], self._card(card), []) for card in rest]
        below_all = [node for node in self.graph.nodes if self._rail(node) == "loss"]
        return [*found, *((self._call(node, ""), [], []) for node in below_all)]

    def _rail(self, node: GraphNode) -> str:
        return str(node.attrs.get("rail", ""))

    def _call(self, node: GraphNode, above: str) -> Line:
        words = lines_of_box(node, self.options, Density(True), self.ascii_only)
        sources = [s for s, _ in self.into.get(node.id, []) if self._rail(self.nodes[s])]
        lines = [words.lines[0], *((f"  {text}", style) for text, style in words.lines[1:])]
        if sources and sources != [above]:
            sign = "<-" if self.ascii_only else "\u2190"
            names = dict.fromkeys(map(self._name, sources))
            lines += [(f"  {sign} {name}", "dim") for name in names]
        return lines

    def _gradient(self, node: GraphNode, below: str) -> Line:
        words = lines_of_box(node, self.options, Density(True), self.ascii_only)
        arriving = list(dict.fromkeys(self.into.get(node.id, [])))
        lines = [words.lines[0], *((f"  {text}", style) for text, style in words.lines[1:])]
        homes = [str(self.nodes[source].attrs.get("beside", "")) for source, _ in arriving]
        if arriving and homes != [below]:
            sign = "<~" if self.ascii_only else "\u21e0"
            for source, via in arriving:
                origin = f"via {via}" if via else self._name(source)
                lines.append((f"  {sign} {plain(origin, self.ascii_only)}", "dim"))
        return lines

    def _name(self, box: str) -> str:
        return plain(self.nodes[box].id, self.ascii_only)

    # --- cards ------------------------------------------------------------------------------------

    def _cards(self, call: str) -> Line:
        """Return the texts of the cards that a call reads. A card shown before is only named."""
        lines: Line = []
        cards = dict.fromkeys(
            source if self.nodes[source].kind == "card" else self.nodes[source].group
            for source, _ in self.into.get(call, [])
            if self.nodes[source].kind == "card" or "line" in self.nodes[source].attrs
        )
        for card in cards:
            if card in self.shown_cards:
                sign = "<-" if self.ascii_only else "\u2190"
                lines.append(
                    (f"{sign} {plain(self._label(card), self.ascii_only)}, as above", "dim")
                )
            else:
                lines += self._card(card)
        return lines

    def _label(self, card: str) -> str:
        if card in self.nodes:
            return self.nodes[card].label
        return next(group.label for group in self.graph.groups if group.id == card)

    def _card(self, card: str) -> Line:
        self.shown_cards.add(card)
        if card in self.nodes:
            words = lines_of_box(self.nodes[card], self.options, Density(True), self.ascii_only)
            return list(words.lines)
        table = [self._cells(line) for line in self.lines[card].values()]
        columns = dict.fromkeys(column for line in table for column in line)
        order = [*(c for c in columns if c != "new"), *(c for c in columns if c == "new")]
        widths = {c: max(cell_len(line.get(c, "")) for line in table) for c in order}
        hue = OKABE_ITO[style_of("variable").hue]
        return [
            ("  ".join(f"{line.get(c, ''):<{widths[c]}}" for c in order).rstrip(), hue)
            for line in table
        ]

    def _cells(self, line: Iterable[GraphNode]) -> dict[str, str]:
        """Return the texts of a weight's line on a card by column, without new values of slots."""
        found: dict[str, str] = {}
        order = {"weight": 0, "via": 1, "gradient": 2, "new": 9}
        for node in sorted(line, key=lambda x: order.get(str(x.attrs["column"]), 3)):
            column, short = str(node.attrs["column"]), str(node.attrs["short"])
            if node.kind == "update" and column != "new":
                continue
            sign = lines_of_box(node, self.options, Density(True), self.ascii_only).lines[0][0][:1]
            detail = str(node.attrs.get("detail", "")).split("\n")[0]
            if column == "weight":
                shape = str(node.attrs.get("output_shapes", "")) if self.options.show_shapes else ""
                words = " ".join(filter(None, [sign, short, shape, detail]))
            elif column == "via":
                words = " ".join(filter(None, [found.get(column, ""), sign, short, detail]))
            else:
                name = "" if column in ("gradient", "new") else short
                words = " ".join(filter(None, [sign, name, detail]))
            found[column] = plain(words, self.ascii_only)
        return found
