import dataclasses

import pytest

from kerascope.errors import ArgumentError, DtypeError
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode

A, B = GraphNode("a", "A", "input", depth=1), GraphNode("b", "B", "dense")


def test_a_graph_cannot_be_changed():
    graph = Graph("g", (A, B), (GraphEdge("a", "b"),))
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.name = "other"


def test_boxes_are_found_by_id_and_by_row():
    graph = Graph("g", (A, B), ())
    assert graph.node("b") is B
    assert graph.rows() == {1: [A], 0: [B]}
    with pytest.raises(ArgumentError, match=r"no box 'c'. Use one of: \['a', 'b'\]"):
        graph.node("c")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (((A, A), ()), "boxes with distinct ids, got 'a' twice"),
        (((A,), (GraphEdge("a", "b"),)), "edge 'a' -> 'b' ends at an unknown box"),
        (((A,), (GraphEdge("b", "a"),)), "edge 'b' -> 'a' ends at an unknown box"),
        (((GraphNode("a", "a", "input", group="g"),), ()), "box 'a' is in an unknown group"),
        (((), (), (GraphGroup("g", "g", "h"), GraphGroup("h", "h"))), "unknown or later group"),
        (((), (), (GraphGroup("g", "g"), GraphGroup("g", "g"))), "groups with distinct ids"),
    ],
)
def test_a_graph_that_does_not_hang_together_is_refused(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        Graph("g", *arguments)


def test_an_attribute_that_no_file_can_hold_is_refused():
    with pytest.raises(DtypeError, match=r"attribute 'shape': expected .*got \(1, 2\)"):
        Graph("g", (GraphNode("a", "a", "input", attrs={"shape": (1, 2)}),), ())
