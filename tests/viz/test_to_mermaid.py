import re

import pytest
from zoo import THINNED_ZOO, ZOO

from kerascope.viz import theme
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.exports.to_mermaid import to_mermaid
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.kinds import KINDS
from kerascope.viz.theme import contrast


def lines_of(graph, **options):
    return [line.strip() for line in to_mermaid(graph, PictureOptions(**options)).splitlines()]


def box(name, kind="dense", group="", **attrs):
    return GraphNode(name, name, kind, group, 0, attrs)


PAIR = (box("a"), box("b"))


@pytest.fixture(params=THINNED_ZOO, name="graph")
def graph_of_the_zoo(request):
    return graph_of(ZOO[request.param](), expand_nested=True)


def test_every_box_arrow_and_frame_is_there_with_its_id(graph):
    lines = lines_of(graph)
    ids = dict(
        re.fullmatch('%% (n[0-9]+) is "(.*)"', x).groups()
        for x in lines
        if " is " in x and x[3] == "n"
    )
    arrows = [re.fullmatch(r"(n\d+) -->(?:\|.*\|)? (n\d+)", x) for x in lines if " -->" in x]
    if graph.name.startswith("odd"):  # ids with quotation marks and backslashes
        assert len(ids) == len(graph.nodes)
    else:
        assert sorted(ids.values()) == sorted(node.id for node in graph.nodes)
        assert [(ids[x[1]], ids[x[2]]) for x in arrows] == [
            (edge.source, edge.target) for edge in graph.edges
        ]
    assert len(arrows) == len(graph.edges)
    assert sum(x.startswith("subgraph ") for x in lines) == len(graph.groups) == lines.count("end")


def test_frames_stand_in_frames():
    groups = (GraphGroup("f", "outer"), GraphGroup("g", "inner", "f"))
    source = to_mermaid(Graph("g", (box("a"), box("b", group="g")), (), groups))
    shape = re.findall(r"(?m)^ *(subgraph g\d|n\d|end)", source)
    assert shape[:5] == ["n0", "subgraph g0", "subgraph g1", "n1", "end"]


def test_roles_have_lines_of_their_own():
    roles = ({}, {"role": "gradient"}, {"role": "update"}, {"role": "odd"})
    edges = tuple(GraphEdge("a", "b", "x2", attrs) for attrs in roles)
    lines = lines_of(Graph("g", PAIR, edges))
    assert [x for x in lines if x.startswith("n0 ")] == [
        'n0 -->|"x2"| n1',
        'n0 -.->|"x2"| n1',
        'n0 ==>|"x2"| n1',
        'n0 -->|"x2"| n1',
    ]


def test_shapes_stand_on_arrows_if_they_are_asked_for():
    graph = graph_of(ZOO["doubled"]())
    assert 'n1 -->|"0 · (None, 4)"| n2' in lines_of(graph)  # which operand it is, too
    assert "None" not in "\n".join(lines_of(graph, show_shapes=False))


def test_states_of_boxes_and_arrows():
    edge = GraphEdge("a", "b", "", {"state": "nan", "note": "from here"})
    nodes = (box("a", state="pending"), box("b", state="failed"))
    lines = lines_of(Graph("g", nodes, (edge,)))
    assert 'n0 -->|"✗ from here"| n1' in lines
    assert "class n0 state_pending" in lines
    assert "class n0,n1 kind_dense" in lines
    look = next(x for x in lines if x.startswith("classDef state_pending"))
    assert "stroke-dasharray" in look
    kinds = [i for i, x in enumerate(lines) if x.startswith("class n0")]
    assert "kind_" in lines[kinds[0]]  # what comes later wins


@pytest.mark.parametrize("chosen", theme.THEMES)
def test_text_can_be_read_in_every_box(chosen):
    nodes = [box(kind, kind) for kind in KINDS]
    nodes += [box(f"in {name}", "dense", state=name) for name in theme.STATES]
    lines = lines_of(Graph("g", tuple(nodes), ()), theme=chosen)
    looks = [x for x in lines if x.startswith("classDef")]
    assert len(looks) == len(KINDS) + len(theme.STATES)
    palette = theme.PALETTES.get(chosen, theme.LIGHT)
    for look in looks:
        parts = dict(part.split(":") for part in look.split(" ", 2)[2].split(","))
        fill = parts.get("fill", palette.fill("blue"))
        assert contrast(parts.get("color", palette.text), fill) >= 4.5
        assert contrast(parts["stroke"], palette.background) >= 3
    assert (lines[0] == '%%{init: {"theme": "dark"}}%%') == (chosen == "dark")
    assert lines[0].startswith("%%{init") == (chosen != "auto")


def test_left_to_right():
    assert "flowchart LR" in lines_of(Graph("g", PAIR, ()), rankdir="LR")


def test_outlines_tell_what_stands_for_several():
    nodes = (box("a", "tensor"), box("b", "gradient"), box("c", "variable"), box("d", copies=3))
    lines = lines_of(Graph("g", nodes, ()))
    starts = [next(x for x in lines if x.startswith(f"n{i}"))[2:5] for i in range(4)]
    assert [start.split('"')[0] for start in starts] == [">", "[", "([", "[["]


def test_an_unknown_kind_is_a_plain_layer():
    assert "class n0 kind_layer" in lines_of(Graph("g", (box("a", "end"),), ()))


def test_many_arrows_come_with_a_hint():
    edges = tuple(GraphEdge("a", "b") for _ in range(501))
    assert "maxEdges" in to_mermaid(Graph("g", PAIR, edges))
    assert "maxEdges" not in to_mermaid(Graph("g", PAIR, edges[:500]))


def test_mermaid_is_the_same_at_every_call(graph):
    assert to_mermaid(graph) == to_mermaid(graph)
