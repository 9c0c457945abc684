"""What any layout must keep, on random graphs and on the zoo."""

import sys
from itertools import combinations

import pytest
from graph_strategies import graphs, layered
from holding import holds_for

import kerascope as ks
from kerascope.backend.state import fresh_names
from kerascope.engine.model import Model
from kerascope.layers import Dense
from kerascope.models import Sequential
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.layout.arrange import Path, Placed, Rect, arrange, point_at

DIRECTIONS = ("TB", "LR")


def chain_of_groups(graph: Graph, group: str) -> list[str]:
    parents = {one.id: one.parent for one in graph.groups}
    chain = []
    while group:
        chain.append(group)
        group = parents[group]
    return chain


def inside(inner: Rect, outer: Rect, slack: float = 0.02) -> bool:
    return (
        inner.x >= outer.x - slack
        and inner.y >= outer.y - slack
        and inner.right <= outer.right + slack
        and inner.bottom <= outer.bottom + slack
    )


def shrunk(rect: Rect, by: float = 0.05) -> Rect:
    return Rect(rect.x + by, rect.y + by, rect.width - 2 * by, rect.height - 2 * by)


def points_of(path: Path, per_curve: int = 8) -> list[tuple[float, float]]:
    count = (len(path.points) - 1) // 3 * per_curve
    return [point_at(path, i / count) for i in range(count)] + [path.points[-1]]


def covers(rect: Rect, point: tuple[float, float]) -> bool:
    x, y = point
    return rect.x < x < rect.right and rect.y < y < rect.bottom


def assert_well_placed(graph: Graph, placed: Placed) -> None:
    boxes = {node.id: shrunk(placed.boxes[node.id]) for node in graph.nodes}
    for (one, a), (other, b) in combinations(boxes.items(), 2):
        assert not a.overlaps(b), (one, other)
    whole = Rect(0, 0, placed.width, placed.height)
    for node in graph.nodes:
        around = chain_of_groups(graph, node.group)
        for group in graph.groups:
            if group.id in around:
                assert inside(placed.boxes[node.id], placed.frames[group.id])
            else:
                assert not boxes[node.id].overlaps(shrunk(placed.frames[group.id]))
        assert inside(placed.boxes[node.id], whole)
    for edge, path in zip(graph.edges, placed.paths, strict=True):
        assert_leads(edge, path, placed)
        for point in points_of(path):
            assert inside(Rect(*point, 0, 0), whole)
            crossed = [name for name, rect in boxes.items() if covers(rect, point)]
            assert not crossed, (edge, crossed, point)


def assert_leads(edge: GraphEdge, path: Path, placed: Placed) -> None:
    """The first point lies on the border of the source, the last on that of the target."""
    for name, (x, y) in ((edge.source, path.points[0]), (edge.target, path.points[-1])):
        rect = placed.boxes[name]
        assert rect.x - 0.02 <= x <= rect.right + 0.02, name
        assert rect.y - 0.02 <= y <= rect.bottom + 0.02, name
        distances = (x - rect.x, rect.right - x, y - rect.y, rect.bottom - y)
        assert min(map(abs, distances)) <= 0.02, name


@pytest.mark.parametrize("rankdir", DIRECTIONS)
@holds_for(graph=graphs(), few=12, many=60)
def test_boxes_never_overlap_and_no_arrow_crosses_a_box(rankdir, graph):
    placed, _ = arrange(graph, PictureOptions(rankdir=rankdir, depth_ranks=True))
    assert_well_placed(graph, placed)


@holds_for(graph=graphs(most_nodes=500), few=2, many=8)
def test_large_random_graphs_are_laid_out_too(graph):
    placed, _ = arrange(graph, PictureOptions())
    assert_well_placed(graph, placed)


@holds_for(graph=graphs(), few=6, many=20)
def test_the_same_graph_gives_the_same_layout(graph):
    assert arrange(graph, PictureOptions()) == arrange(graph, PictureOptions())


@holds_for(graph=graphs(), few=6, many=20)
def test_words_for_a_state_do_not_move_other_rows(graph):
    """Boxes keep their rows and their order whatever stands in them: nothing jumps."""
    marked = Graph(
        graph.name,
        tuple(
            GraphNode(n.id, n.label, n.kind, n.group, n.depth, {**n.attrs, "detail": "1\n2"})
            for n in graph.nodes
        ),
        graph.edges,
        graph.groups,
    )
    before, _ = arrange(graph, PictureOptions())
    after, _ = arrange(marked, PictureOptions())
    assert_well_placed(marked, after)
    assert after.boxes != before.boxes  # the words have room
    for one, other in combinations(graph.nodes, 2):
        if one.group == other.group and one.depth == other.depth:
            is_left = before.boxes[one.id].x < before.boxes[other.id].x
            same_row = abs(before.boxes[one.id].middle[1] - before.boxes[other.id].middle[1]) < 1
            if same_row:
                assert is_left == (after.boxes[one.id].x < after.boxes[other.id].x)


def test_depth_decides_the_row():
    placed, _ = arrange(layered(4, 3), PictureOptions())
    rows = [{placed.boxes[f"{r}/{c}"].middle[1] for c in range(3)} for r in range(4)]
    assert all(len(row) == 1 for row in rows)
    assert [min(row) for row in rows] == sorted(min(row) for row in rows)


def test_from_left_to_right_the_rows_become_columns():
    placed, _ = arrange(layered(4, 1), PictureOptions(rankdir="LR"))
    middles = [placed.boxes[f"{r}/0"].middle for r in range(4)]
    assert middles == sorted(middles)
    assert len({y for _, y in middles}) == 1


def test_a_chain_is_a_straight_line_beside_its_shortcuts():
    placed, _ = arrange(layered(12, 1, skips=3), PictureOptions())
    middles = [placed.boxes[f"{r}/0"].middle[0] for r in range(12)]
    assert max(middles) - min(middles) < 1


def deep_net(layers: int) -> Model:
    with fresh_names():
        return Sequential(
            [Dense(8, activation="relu", input_shape=(8,)), *(Dense(8) for _ in range(layers))]
        )


def test_the_main_path_of_a_net_of_ops_is_straight_with_weights_and_constants_at_its_sides():
    graph = ks.draw(deep_net(6), level="op", most=None).graph
    assert graph.groups
    placed, _ = arrange(graph, PictureOptions())
    middles = {n.id: placed.boxes[n.id].middle[0] for n in graph.nodes if n.kind != "variable"}
    assert max(middles.values()) - min(middles.values()) < 1
    beside = [placed.boxes[n.id] for n in graph.nodes if n.kind == "variable"]
    assert len(beside) == 14
    line = next(iter(middles.values()))
    assert not any(rect.x <= line <= rect.right for rect in beside)


def test_without_frames_the_main_path_is_straight_too():
    nodes, edges = [GraphNode("x", "x", "op", depth=9)], []
    for depth in range(8, -1, -1):
        before = nodes[-1].id if depth == 8 else f"dot{depth + 1}"
        nodes += [
            GraphNode(f"w{depth}", "w", "variable", depth=depth + 1),
            GraphNode(f"dot{depth}", "dot", "op", depth=depth, attrs={"input_count": 2}),
        ]
        edges += [
            GraphEdge(before, f"dot{depth}", attrs={"operand": 0}),
            GraphEdge(f"w{depth}", f"dot{depth}", attrs={"operand": 1}),
        ]
    placed, _ = arrange(Graph("chain", tuple(nodes), tuple(edges)), PictureOptions())
    middles = [placed.boxes[node.id].middle[0] for node in nodes if node.label == "dot"]
    assert max(middles) - min(middles) < 1


def test_labels_of_arrows_are_clear_of_boxes_and_of_each_other():
    nodes = [GraphNode("x", "x", "input", depth=1)]
    nodes += [GraphNode(f"y{i}", f"y{i}", "dense") for i in range(9)]
    edges = [GraphEdge("x", f"y{i}", f"\u00d7{i + 2}") for i in range(9)]
    placed, _ = arrange(Graph("fan", tuple(nodes), tuple(edges)), PictureOptions())
    rects = [*placed.edge_labels.values(), *placed.boxes.values()]
    assert len(placed.edge_labels) == 9
    assert not any(one.overlaps(other) for one, other in combinations(rects, 2))


def test_a_graph_without_depths_is_ranked_by_its_arrows():
    nodes = tuple(GraphNode(name, name, "op") for name in "abc")
    graph = Graph("plain", nodes, (GraphEdge("a", "b"), GraphEdge("b", "c"), GraphEdge("c", "a")))
    placed, _ = arrange(graph, PictureOptions())
    heights = [placed.boxes[name].y for name in "abc"]
    assert heights == sorted(heights)
    assert len(set(heights)) == 3


def test_gradients_run_upward_from_box_to_box():
    nodes = (GraphNode("x", "x", "op", depth=1), GraphNode("y", "y", "op"))
    edges = (GraphEdge("x", "y"), GraphEdge("y", "x", "", {"role": "gradient"}))
    placed, _ = arrange(Graph("pair", nodes, edges), PictureOptions())
    up = placed.paths[1].points
    assert up[0][1] == pytest.approx(placed.boxes["y"].y)
    assert up[-1][1] == pytest.approx(placed.boxes["x"].bottom)


def test_an_empty_graph_is_an_empty_picture():
    placed, _ = arrange(Graph("", (), ()), PictureOptions(depth_ranks=True))
    assert not placed.boxes
    assert placed.width > 0


@pytest.mark.parametrize(
    ("rows", "skips"), [(1500, 60), pytest.param(5000, 200, marks=pytest.mark.slow)]
)
def test_a_deep_chain_is_laid_out_without_recursion(rows, skips):
    assert rows > sys.getrecursionlimit()
    placed, _ = arrange(layered(rows, 1, skips=skips), PictureOptions())
    assert len(placed.boxes) == rows
