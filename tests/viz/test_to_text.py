"""Every line of a drawing is walked, character by character, and must tell the graph's edges."""

from collections import Counter
from pathlib import Path

import pytest
from effort import growth
from holding import holds_for
from rich.cells import cell_len

import kerascope as ks
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.exports.text_canvas import Density, fitted, lines_of_box
from kerascope.viz.exports.to_text import block_of, text_drawing, to_text
from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.layout.levels import levels_of
from kerascope.viz.layout.order import order_rows
from kerascope.viz.theme import STATES
from tests.graph_strategies import graphs, layered
from tests.zoo import THINNED_ZOO, ZOO, resnet50

GOLDEN = Path(__file__).parents[1] / "golden"
UP, DOWN, LEFT, RIGHT = (0, -1), (0, 1), (-1, 0), (1, 0)
WAYS = {
    "│": (UP, DOWN), "╎": (UP, DOWN), "─": (LEFT, RIGHT), "╌": (LEFT, RIGHT),
    "╭": (DOWN, RIGHT), "╮": (DOWN, LEFT), "╰": (UP, RIGHT), "╯": (UP, LEFT),
    "├": (UP, DOWN, RIGHT), "┤": (UP, DOWN, LEFT), "┬": (LEFT, RIGHT, DOWN),
    "┴": (LEFT, RIGHT, UP), "╋": (UP, DOWN, LEFT, RIGHT), "▼": (UP, DOWN), "▲": (UP, DOWN),
}  # fmt: skip
PLAIN_WAYS = {
    "|": (UP, DOWN), ":": (UP, DOWN), "v": (UP, DOWN), "^": (UP, DOWN), "*": (UP, DOWN),
    ".": (DOWN,), "'": (UP,), "-": (),
}  # fmt: skip


class Reader:
    """Reads a drawing as a person does; only where the boxes stand is told."""

    def __init__(self, graph, density, ascii_only):
        levels = levels_of(graph)
        for level in levels.values():
            order_rows(level)
        options = PictureOptions()
        words = {n.id: lines_of_box(n, options, density, ascii_only) for n in graph.nodes}
        block = block_of(graph, levels, words, density, ascii_only)
        lines = block.canvas.lines(ascii_only)
        self.plain = ascii_only
        self.cells = {
            (x, y): text for y, line in enumerate(lines) for x, (text, _) in enumerate(line)
        }
        self.spots = block.spots
        self.box_at = {}
        for name, (left, top, width, height) in self.spots.items():
            for x in range(left, left + width):
                for y in range(top, top + height):
                    assert (x, y) not in self.box_at, "boxes overlap"
                    self.box_at[x, y] = name

    def ways(self, x, y):
        text = self.cells.get((x, y), " ")
        if not self.plain:
            return WAYS.get(text, ())
        if text not in PLAIN_WAYS:
            return ()
        sides = [way for way in (LEFT, RIGHT) if self._is_bar(x + way[0], y)]
        return (*PLAIN_WAYS[text], *([LEFT, RIGHT] if text == "-" else sides))

    def _is_bar(self, x, y):
        return self.cells.get((x, y)) == "-" and (x, y) not in self.box_at

    def edges(self):
        found = Counter()
        done = set()
        for name, (left, top, width, height) in self.spots.items():
            for x in range(left, left + width):
                for y, way in ((top + height, DOWN), (top - 1, UP)):
                    if (-way[0], -way[1]) in self.ways(x, y) and (x, y) not in done:
                        tails, heads = self._walk(x, y, way, done)
                        assert len(tails) == 1, "a line begins at one box"
                        found.update((tails[0], head) for head in heads)
            found.update(self._beside(name))
        return found

    def _walk(self, x, y, way, done):
        ends, seen, waiting = {}, set(), [(x, y, way)]
        while waiting:
            x, y, way = waiting.pop()
            if (x, y) in self.box_at:
                pin = x - way[0], y - way[1]
                done.add(pin)
                head = {DOWN: "v▼", UP: "^▲"}.get(way, "")
                ends[pin, way] = (self.box_at[x, y], self.cells[pin] in head)
                continue
            if (x, y, way) in seen:
                continue
            seen.add((x, y, way))
            if self.cells.get((x, y)) == ("+" if self.plain else "┼"):
                waiting.append((x + way[0], y + way[1], way))
                continue
            ways = self.ways(x, y)
            assert (-way[0], -way[1]) in ways, f"a line ends in the air at {(x, y)}"
            waiting += [(x + a, y + b, (a, b)) for a, b in ways]
        return (
            [box for box, is_head in ends.values() if not is_head],
            [box for box, is_head in ends.values() if is_head],
        )

    def _beside(self, name):
        left, top, width, height = self.spots[name]
        bars, back, forth = ("-", "<", ">") if self.plain else ("─╌", "◀", "▶")
        for y in range(top, top + height):
            x, text = left + width, ""
            while self.cells.get((x, y), " ") in bars + back + forth and (x, y) not in self.box_at:
                text += self.cells[x, y]
                x += 1
            if text[:1] == back:
                yield self.box_at[x, y], name
            elif text[-1:] == forth:
                yield name, self.box_at[x, y]


def edges_of(graph):
    return Counter((edge.source, edge.target) for edge in graph.edges)


def check(graph):
    for density in (Density(True), Density(True, 0, 10), Density(False), Density(False, 0, 10)):
        for ascii_only in (False, True):
            reader = Reader(graph, density, ascii_only)
            assert set(reader.spots) == {node.id for node in graph.nodes}
            assert reader.edges() == edges_of(graph)


@pytest.mark.parametrize("name", THINNED_ZOO)
@pytest.mark.parametrize("how", [{}, {"expand": "all"}, {"level": "layer"}], ids=str)
def test_lines_read_back_are_the_edges(name, how):
    check(ks.draw(ZOO[name](), **how).graph)


@holds_for(graphs(most_nodes=20), few=12, many=60)
def test_lines_of_random_graphs(graph):
    check(graph)


@holds_for(graphs(most_nodes=30), few=8, many=40)
def test_no_line_is_longer_than_the_width(graph):
    for width in (20, 40, 80):
        for ascii_only in (False, True):
            options = PictureOptions(depth_ranks=True)
            text = to_text(graph, options, width=width, ascii_only=ascii_only)
            assert all(cell_len(line) <= width for line in text.split("\n"))
            assert text.isascii() or not ascii_only


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_width_and_ascii_of_the_zoo(name):
    graph = ks.draw(ZOO[name](), expand="all").graph
    for width in (20, 33, 80, 120):
        text = to_text(graph, width=width)
        assert all(cell_len(line) <= width for line in text.split("\n"))
        assert to_text(graph, width=width, ascii_only=True).isascii()
        assert text_drawing(graph, width=width).plain.replace(" ", "") == text.replace(" ", "")


GOLDENS = ["chain", "diamond", "shared_layer", "siamese", "several_ends", "resnet50"]


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name):
    model = resnet50() if name == "resnet50" else ZOO[name]()
    graph = ks.draw(model, expand="all" if name == "siamese" else None).graph
    expected = (GOLDEN / f"text_{name}.txt").read_text(encoding="utf-8")
    assert to_text(graph) + "\n" == expected


def test_a_row_that_is_too_wide_becomes_a_list():
    names = [f"branch_{i}" for i in range(30)]
    nodes = [GraphNode("x", "x", "input", depth=2)]
    nodes += [GraphNode(name, name, "dense", depth=1) for name in names]
    nodes.append(GraphNode("all", "all", "merge", depth=0))
    edges = [GraphEdge("x", n) for n in names] + [GraphEdge(n, "all") for n in names]
    text = to_text(Graph("wide", tuple(nodes), tuple(edges)), width=60)
    assert all(name in text for name in names)
    assert " 2 ■ branch_0 ← 1" in text
    assert "32 + all ← 2, 3, 4" in text
    assert text.rstrip().endswith("30, 31")


@pytest.mark.parametrize("state", STATES)
def test_states_are_told_by_a_glyph(state):
    graph = Graph("one", (GraphNode("d", "scores", "dense", attrs={"state": state}),), ())
    assert f"{STATES[state].glyph} scores" in to_text(graph)
    assert f"{STATES[state].plain} scores" in to_text(graph, ascii_only=True)


def test_gradients_go_up():
    nodes = (GraphNode("a", "a", "variable", depth=1), GraphNode("g", "g", "gradient"))
    graph = Graph("up", nodes, (GraphEdge("g", "a", attrs={"role": "gradient"}),))
    check(graph)
    assert "▲" in to_text(graph)
    assert "▼" not in to_text(graph)


def test_depths_at_the_side():
    text = to_text(ks.draw(ZOO["chain"]()).graph, PictureOptions(depth_ranks=True))
    assert [line[0] for line in text.split("\n")[2:] if line[:1].isdigit()] == list("3210")


def test_names_keep_both_ends():
    assert fitted("conv2_block1_out", 10) == "conv2…_out"
    assert cell_len(fitted("日本語日本語日本語", 9)) <= 9


def test_the_work_is_not_the_square_of_the_boxes():
    graphs = {rows: layered(rows, 4, 5) for rows in (6, 24)}
    assert growth(lambda rows: to_text(graphs[rows]), 6, times=4) < 8  # a square: 16
