from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.overlays.diff import with_rows


def depths_of(graph):
    return {part.id: part.depth for part in (*graph.nodes, *graph.groups)}


def test_frames_are_placed_like_boxes_and_their_inside_by_itself():
    boxes = [
        GraphNode("x", "x", "input"),
        GraphNode("m/in", "in", "input", "m"),
        GraphNode("m/out", "out", "dense", "m"),
        GraphNode("y", "y", "dense"),
    ]
    edges = [GraphEdge("x", "m/in"), GraphEdge("m/in", "m/out"), GraphEdge("m/out", "y")]
    graph = with_rows(Graph("g", tuple(boxes), tuple(edges), (GraphGroup("m", "m"),)))
    assert depths_of(graph) == {"x": 2, "m": 1, "y": 0, "m/in": 1, "m/out": 0}


def test_a_box_keeps_at_least_the_depth_that_it_has():
    boxes = GraphNode("a", "a", "dense", depth=5), GraphNode("b", "b", "dense", depth=3)
    graph = with_rows(Graph("g", boxes, (GraphEdge("a", "b"),)))
    assert depths_of(graph) == {"a": 5, "b": 3}


def test_in_a_cycle_the_removed_arrow_gives_way():
    boxes = tuple(GraphNode(name, name, "dense") for name in "abc")
    edges = (
        GraphEdge("a", "b", attrs={"state": "removed"}),
        GraphEdge("b", "c"),
        GraphEdge("c", "a", attrs={"state": "added"}),
    )
    assert depths_of(with_rows(Graph("g", boxes, edges))) == {"b": 2, "c": 1, "a": 0}


def test_a_cycle_of_arrows_that_stay_is_cut_somewhere():
    boxes = tuple(GraphNode(name, name, "dense") for name in "ab")
    edges = (GraphEdge("a", "b"), GraphEdge("b", "a"), GraphEdge("a", "a"))
    assert depths_of(with_rows(Graph("g", boxes, edges))) == {"a": 1, "b": 0}
