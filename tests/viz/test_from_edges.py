"""Graphs of boxes and arrows that somebody else has found get their depths."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kerascope as ks
from kerascope.errors import ArgumentError
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode


@st.composite
def dags(draw):
    count = draw(st.integers(1, 12))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    arrows = draw(st.lists(pairs, max_size=30, unique=True))
    names = draw(st.permutations([f"n{i}" for i in range(count)]))
    return names, [(names[min(pair)], names[max(pair)]) for pair in arrows if pair[0] != pair[1]]


@given(dags(), st.randoms())
def test_depths_are_longest_paths_to_an_end_as_networkx_finds_them(dag, random):
    names, arrows = dag
    shuffled = [*names]
    random.shuffle(shuffled)
    graph = Graph.from_edges("g", shuffled, arrows)
    known = nx.DiGraph(arrows)
    known.add_nodes_from(names)
    for box in graph.nodes:
        below = known.subgraph({box.id, *nx.descendants(known, box.id)})
        assert box.depth == nx.dag_longest_path_length(below)
    assert [box.depth for box in graph.nodes] == sorted(
        (b.depth for b in graph.nodes), reverse=True
    )


@given(dags(), st.lists(st.integers(0, 4), min_size=12, max_size=12))
def test_in_every_frame_something_lies_at_the_end_and_the_picture_has_all(dag, homes):
    names, arrows = dag
    frames = [GraphGroup("f1", "f1"), GraphGroup("f2", "f2", "f1"), GraphGroup("f3", "f3")]
    around = ["", "f1", "f2", "f3", "f2"]
    boxes = [GraphNode(n, n, "dense", around[h]) for n, h in zip(names, homes, strict=False)]
    graph = Graph.from_edges("g", boxes, [GraphEdge(*pair) for pair in arrows], frames)
    for frame in ("", "f1", "f2", "f3"):
        inside = [part.depth for part in graph.nodes if part.group == frame]
        held = {box.group for box in graph.nodes}
        used = held | ({"f1"} if "f2" in held else set())
        inside += [part.depth for part in graph.groups if part.parent == frame and part.id in used]
        assert not inside or min(inside) == 0
    drawing = ks.draw(graph, expand="all", most=None)
    assert {box.id for box in drawing.graph.nodes} == set(names)
    assert drawing.svg.count('class="edge"') == len(arrows)


def test_arrows_between_frames_order_the_frames():
    frames = [GraphGroup("encoder", "encoder"), GraphGroup("decoder", "decoder")]
    boxes = [
        GraphNode("decoder/a", "a", "dense", "decoder"),
        GraphNode("encoder/a", "a", "dense", "encoder"),
        GraphNode("encoder/b", "b", "dense", "encoder"),
        "out",
    ]
    arrows = [("encoder/a", "encoder/b"), ("encoder/b", "decoder/a"), ("decoder/a", "out")]
    graph = Graph.from_edges("net", boxes, arrows, frames)
    assert {group.id: group.depth for group in graph.groups} == {"encoder": 2, "decoder": 1}
    assert {box.id: box.depth for box in graph.nodes} == {
        "encoder/a": 1, "encoder/b": 0, "decoder/a": 0, "out": 0,
    }  # fmt: skip


def test_a_frame_that_is_entered_again_is_drawn_all_the_same():
    boxes = [GraphNode("f/a", "a", "dense", "f"), "b", GraphNode("f/c", "c", "dense", "f")]
    arrows = [("f/a", "b"), ("b", "f/c")]
    graph = Graph.from_edges("again", boxes, arrows, [GraphGroup("f", "f")])
    assert graph.groups[0].depth > graph.node("b").depth == 0
    assert ks.draw(graph, expand="all").svg.count('class="edge"') == 2


def test_what_is_wrong_is_said():
    with pytest.raises(ArgumentError, match=r"without a cycle, got 2 boxes .* 'a', 'b'"):
        Graph.from_edges("g", ["a", "b"], [("a", "b"), ("b", "a")])
    with pytest.raises(ArgumentError, match="ends at an unknown box"):
        Graph.from_edges("g", ["a"], [("a", "b")])
    with pytest.raises(ArgumentError, match="'a' twice"):
        Graph.from_edges("g", ["a", "a"], [])
    with pytest.raises(ArgumentError, match="unknown group"):
        Graph.from_edges("g", [GraphNode("a", "a", "dense", "f")], [])
    assert Graph.from_edges("g", [], []).nodes == ()
