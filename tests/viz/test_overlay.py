import pytest
from effort import growth
from zoo import THINNED_ZOO, ZOO

from kerascope.errors import ArgumentError
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.overlays.marking import (
    highlighted,
    ids_matching,
    paths_of_boxes,
    with_attributes,
    with_details,
    with_progress,
    with_states,
)


def states_of(graph):
    return {node.id: node.attrs.get("state", "") for node in graph.nodes}


def structure_of(graph):
    return (
        [(node.id, node.label, node.kind, node.group, node.depth) for node in graph.nodes],
        [(edge.source, edge.target, edge.label) for edge in graph.edges],
        [(group.id, group.parent) for group in graph.groups],
    )


@pytest.fixture(params=THINNED_ZOO, name="graph")
def graph_of_the_zoo(request):
    return graph_of(ZOO[request.param](), expand_nested=True)


def test_no_overlay_changes_the_structure(graph):
    first = graph.nodes[0].id
    for overlaid in (
        highlighted(graph, "*"),
        with_progress(graph, [first]),
        with_details(graph, {first: "more"}),
        with_states(graph, {first: "done"}),
    ):
        assert structure_of(overlaid) == structure_of(graph)
        assert overlaid != graph


def test_the_graph_that_is_given_stays_as_it_was(graph):
    before = [dict(node.attrs) for node in graph.nodes]
    highlighted(graph, "*")
    with_progress(graph, [node.id for node in graph.nodes])
    assert [dict(node.attrs) for node in graph.nodes] == before


# --- highlight ------------------------------------------------------------------------------------


def test_a_name_highlights_all_calls_of_its_layer_and_an_id_only_one():
    graph = graph_of(ZOO["shared_layer"]())
    both = states_of(highlighted(graph, "shared"))
    assert [name for name, state in both.items() if state] == ["shared@0", "shared@1"]
    one = states_of(highlighted(graph, ["shared@1"]))
    assert [name for name, state in one.items() if state == "highlight"] == ["shared@1"]


def test_a_pattern_highlights_what_it_fits():
    graph = highlighted(graph_of(ZOO["many_branches"]()), "branch_[12]")
    assert [n for n, state in states_of(graph).items() if state] == ["branch_1", "branch_2"]


def test_a_name_with_brackets_is_taken_as_it_stands_first():
    graph = graph_of(ZOO["odd_names"]())
    assert ids_matching(graph, "pipe|brace{x}[1]:p\\") == ["pipe|brace{x}[1]:p\\"]


def test_a_frame_is_highlighted_with_all_that_lies_in_it():
    graph = highlighted(graph_of(ZOO["siamese"](), expand_nested=True), "encoder@1")
    marked = [name for name, state in states_of(graph).items() if state]
    assert marked == ["encoder@1/image", "encoder@1/wide", "encoder@1/code"]
    assert graph.groups[1].attrs["state"] == "highlight"


def test_an_unknown_name_is_told_with_the_nearest_one():
    with pytest.raises(ArgumentError, match="no box 'shard'. Did you mean 'shared'"):
        highlighted(graph_of(ZOO["shared_layer"]()), "shard")


# --- states and other marks -----------------------------------------------------------------------


def test_a_new_state_takes_the_words_of_the_old_one_away():
    graph = Graph("one", (GraphNode("a", "a", "dense"),), ())
    noted = with_states(graph, {"a": "failed"}, {"a": "too small"})
    assert with_states(noted, {"a": "done"}).node("a").attrs == {"state": "done"}


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        (lambda g: with_states(g, {"b": "done"}), "no box 'b'"),
        (lambda g: with_states(g, {"a": "dne"}), "Did you mean 'done'"),
        (lambda g: with_details(g, {"b": "text"}), "no box 'b'"),
        (lambda g: with_attributes(g, {"b": {"x": 1}}), "no box 'b'"),
        (lambda g: with_progress(g, ["b"]), "no box 'b'"),
        (lambda g: with_progress(g, [], "b"), "no box 'b'"),
    ],
)
def test_what_is_not_there_is_refused(overlay, message):
    graph = Graph("one", (GraphNode("a", "a", "dense"),), ())
    with pytest.raises(ArgumentError, match=message):
        overlay(graph)


def test_details_stand_below_those_that_are_there_and_in_one_line_of_a_frame():
    graph = Graph("g", (GraphNode("a", "a", "dense", "f"),), (), (GraphGroup("f", "f"),))
    twice = with_details(with_details(graph, {"a": "one"}), {"a": ["two", "three"], "f": "x\ny"})
    assert twice.node("a").attrs["detail"] == "one\ntwo\nthree"
    assert twice.groups[0].attrs["detail"] == "x · y"


def test_paths_name_layers_from_the_outermost_frame_on():
    paths = paths_of_boxes(graph_of(ZOO["siamese"](), expand_nested=True))
    assert paths["encoder@1/wide"] == paths["encoder@0/wide"] == "encoder/wide"
    assert paths["encoder@1"] == "encoder"


# --- progress -------------------------------------------------------------------------------------


def test_progress_marks_boxes_and_the_arrows_into_them():
    graph = with_progress(graph_of(ZOO["diamond"]()), ["x", "left"], "right")
    assert states_of(graph) == {"x": "done", "left": "done", "right": "current", "sum": "pending"}
    arrows = {(e.source, e.target): e.attrs["state"] for e in graph.edges}
    assert arrows == {
        ("x", "left"): "done",
        ("x", "right"): "pending",
        ("left", "sum"): "pending",
        ("right", "sum"): "pending",
    }


def test_progress_inside_a_nested_model_goes_by_full_ids():
    graph = graph_of(ZOO["siamese"](), expand_nested=True)
    middle = with_progress(graph, ["left", "encoder@0/image"], "encoder@0/wide")
    states = states_of(middle)
    assert states["encoder@0/image"] == "done"
    assert states["encoder@0/wide"] == "current"
    assert states["encoder@1/image"] == "pending"
    assert [group.attrs["state"] for group in middle.groups] == ["current", "pending"]
    later = states_of(with_progress(graph, ["left", "encoder@0"]))
    assert later["encoder@0/code"] == "done"
    assert later["encoder@1/code"] == "pending"


def test_a_call_hidden_in_a_box_makes_that_box_current():
    graph = graph_of(ZOO["siamese"]())
    states = states_of(with_progress(graph, ["left", "encoder@0/image"], "encoder@0/wide"))
    assert states["encoder@0"] == "current"
    assert states["encoder@1"] == "pending"


def test_in_the_layer_view_a_layer_is_done_when_all_its_calls_are():
    graph = graph_of(ZOO["shared_layer"](), "layer")
    assert states_of(with_progress(graph, ["a", "shared@0"]))["shared"] == "pending"
    assert states_of(with_progress(graph, ["a", "shared@0", "shared@1"]))["shared"] == "done"


def test_what_is_not_finite_stays_marked_when_it_is_done():
    graph = with_states(graph_of(ZOO["chain"]()), {"pixels": "nan", "hidden": "nan"})
    marked = with_progress(graph, ["pixels"], "hidden")
    assert states_of(marked)["pixels"] == "nan"
    assert marked.node("hidden").attrs["note"] == "current, not finite"
    assert next(e for e in marked.edges if e.target == "hidden").attrs["state"] == "pending"


def half_done(count):
    names = [f"n{i}" for i in range(count)]
    nodes = tuple(GraphNode(name, name, "dense") for name in names)
    graph = Graph("long", nodes, tuple(map(GraphEdge, names, names[1:])))
    return highlighted(with_progress(graph, names[: count // 2], names[count // 2]), "n7*")


@pytest.mark.parametrize("count", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_boxes_are_marked(count):
    assert len({str(node.attrs.get("state")) for node in half_done(count).nodes}) > 2


def test_the_work_of_marking_is_not_the_square_of_the_boxes():
    assert growth(half_done, 100, times=4) < 7  # a square: 16
