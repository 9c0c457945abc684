import io
import json
import re
from pathlib import Path

import networkx
import pytest
from holding import holds_for
from hypothesis import strategies as st
from zoo import THINNED_ZOO, ZOO

from kerascope.errors import ConfigError, DtypeError
from kerascope.viz.collapse.blocks import with_blocks
from kerascope.viz.collapse.collapsed import collapsed
from kerascope.viz.collapse.new_frames import with_scopes
from kerascope.viz.exports.to_networkx import (
    from_graphml,
    from_json,
    from_networkx,
    to_graphml,
    to_json,
    to_networkx,
)
from kerascope.viz.extract.layers import layer_graph
from kerascope.viz.extract.nodes import node_graph
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.kinds import KINDS


@pytest.fixture(params=THINNED_ZOO, name="model")
def model_of_the_zoo(request):
    return ZOO[request.param]()


def same(one, other):
    """Compare everything; JSON and GraphML keep the order of nodes and the keys of edges."""
    return (
        dict(one.nodes(data=True)) == dict(other.nodes(data=True))
        and sorted(one.edges(keys=True, data="operand"))
        == sorted(other.edges(keys=True, data="operand"))
        and [d for *_, d in sorted(one.edges(keys=True, data=True), key=lambda e: e[:3])]
        == [d for *_, d in sorted(other.edges(keys=True, data=True), key=lambda e: e[:3])]
    )


@pytest.mark.parametrize("level", ["node", "layer"])
def test_networkx_has_every_box_and_every_edge(model, level):
    graph = {"node": node_graph, "layer": layer_graph}[level](model)
    converted = to_networkx(model, level=level)
    assert isinstance(converted, networkx.MultiDiGraph)
    assert list(converted) == [box.id for box in graph.nodes]
    assert converted.number_of_edges() == len(graph.edges)
    assert converted.graph["level"] == level


def test_depth_ranks_are_those_of_the_engine(model):
    depths = to_networkx(model).nodes(data="depth")
    assert sorted(depth for _, depth in depths) == sorted(model.graph_map.nodes_depths.values())


def test_every_edge_falls_in_depth(model):
    graph = to_networkx(model)
    assert networkx.is_directed_acyclic_graph(graph)
    assert all(graph.nodes[a]["depth"] > graph.nodes[b]["depth"] for a, b in graph.edges())


def test_node_link_json_round_trips(model):
    graph = node_graph(model, expand_nested=True)
    data = json.loads(to_json(graph))
    again = networkx.node_link_graph(data, edges="edges")
    assert same(again, to_networkx(graph))
    assert again.graph == to_networkx(graph).graph


def test_graphml_round_trips(model):
    graph = node_graph(model, expand_nested=True)
    again = networkx.read_graphml(
        io.BytesIO(to_graphml(graph)), edge_key_type=int, force_multigraph=True
    )
    assert same(again, to_networkx(graph))


def test_graphml_holds_a_name_with_characters_that_xml_forbids():
    model = ZOO["chain"]()
    model.layers[1].name = "bell\x07null\x00"
    again = networkx.read_graphml(io.BytesIO(to_graphml(node_graph(model))))
    assert "bell\ufffdnull\ufffd" in again


def test_the_frames_of_nested_models_are_kept():
    graph = to_networkx(ZOO["siamese"](), expand_nested=True)
    groups = json.loads(graph.graph["groups"])
    assert [group["id"] for group in groups] == ["encoder@0", "encoder@1"]
    assert graph.nodes["encoder@0/wide"]["group"] == "encoder@0"


# --- there and back -------------------------------------------------------------------------------


BACK = {
    "networkx": lambda graph: from_networkx(to_networkx(graph)),
    "json": lambda graph: from_json(to_json(graph)),
    "graphml": lambda graph: from_graphml(to_graphml(graph)),
}


@pytest.fixture(params=BACK, name="there_and_back")
def way_of_there_and_back(request):
    return BACK[request.param]


@pytest.mark.parametrize("level", ["node", "layer"])
def test_every_graph_of_the_zoo_comes_back_equal(model, level, there_and_back):
    graph = graph_of(model, level, expand_nested=level == "node")
    assert there_and_back(graph) == graph


ATTRIBUTES = {
    "text": " lead\r\n\ttrail ",
    "empty": "",
    "whole": 10**30,
    "yes": True,
    "real": 2.0,
    "tiny": 5e-324,
    "infinite": float("inf"),
    "nothing": float("nan"),
}
# Names that the forms use themselves, and one name with several types.
TAKEN = {
    **{"id": 1, "label": "x", "kind": True, "group": 2.5, "depth": "deep", "number": 9, "": "e"},
    **{"source": 1, "target": 2, "key": "k", "u_for_edge": 3, "v_for_edge": 4, "name": "n"},
    **{"groups": 3, "node_default": 1, "edge_default": 2, "attrs.id": 5, "attrs.attrs.id": 6},
    **{"incoming_graph_data": 1, "self": 2, "node_for_adding": 3, "text": 7, "real": "real"},
}


def test_every_type_and_every_name_of_an_attribute_comes_back(there_and_back):
    graph = Graph(
        "all",
        (GraphNode("a", "A", "input", "g", 1, ATTRIBUTES), GraphNode("b", "", "op", "", -2, TAKEN)),
        (
            GraphEdge("b", "a", "", TAKEN),
            GraphEdge("a", "b", "second", ATTRIBUTES),
            GraphEdge("b", "a", "third"),
        ),
        (GraphGroup("g", "G", "", 3, ATTRIBUTES), GraphGroup("h", "H", "g", 0, TAKEN)),
        {**TAKEN, **{f"my {key}": value for key, value in ATTRIBUTES.items()}},
    )
    assert repr(there_and_back(graph)) == repr(graph)  # nan is not equal to itself


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=5)
values = st.one_of(names, st.booleans(), st.integers(), st.floats(allow_nan=False))
attributes = st.dictionaries(st.sampled_from([*TAKEN, *ATTRIBUTES, "other"]), values, max_size=4)


@st.composite
def graphs(draw):
    groups = []
    for group_id in draw(st.lists(names.filter(bool), max_size=4, unique=True)):
        parent = draw(st.sampled_from(["", *(group.id for group in groups)]))
        groups.append(GraphGroup(group_id, draw(names), parent, draw(st.integers(0, 9))))
    ids = draw(st.lists(names, min_size=1, max_size=8, unique=True))
    nodes = [
        GraphNode(
            *(one, draw(names), draw(st.sampled_from(KINDS))),
            draw(st.sampled_from(["", *(group.id for group in groups)])),
            draw(st.integers(0, 9)),
            draw(attributes),
        )
        for one in ids
    ]
    ends = draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=12))
    edges = [GraphEdge(*pair, draw(names), draw(attributes)) for pair in ends]
    return Graph(draw(names), tuple(nodes), tuple(edges), tuple(groups), draw(attributes))


@holds_for(graphs(), few=15, many=60)
def test_random_graphs_come_back_equal(graph):
    clean = to_graphml(graph)
    assert to_graphml(from_graphml(clean)) == clean
    assert from_graphml(clean) == from_networkx(to_networkx(from_graphml(clean)))
    assert from_networkx(to_networkx(graph)) == graph
    assert from_json(to_json(graph)) == graph


def test_ids_that_differ_in_removed_characters_stay_apart():
    boxes = (GraphNode("a\x00", "", "op"), GraphNode("a\x01", "", "op", "f\x02"))
    frames = (GraphGroup("f\x01", "one"), GraphGroup("f\x02", "two", "f\x01"))
    again = from_graphml(to_graphml(Graph("g", boxes, (GraphEdge("a\x01", "a\x00"),), frames)))
    assert [box.id for box in again.nodes] == ["a\ufffd", "a\ufffd~2"]
    assert [(edge.source, edge.target) for edge in again.edges] == [("a\ufffd~2", "a\ufffd")]
    assert (again.nodes[1].group, again.groups[1].parent) == ("f\ufffd~2", "f\ufffd")


def test_a_graph_of_ones_own_gets_depths():
    graph = from_networkx(networkx.DiGraph([(1, 2), (2, 3), (1, 3)]))
    assert [(box.id, box.label, box.kind, box.depth) for box in graph.nodes] == [
        *(("1", "1", "layer", 2), ("2", "2", "layer", 1), ("3", "3", "layer", 0)),
    ]
    circle = from_networkx(networkx.DiGraph([(1, 2), (2, 1)]))
    assert [box.depth for box in circle.nodes] == [1, 0]


def test_what_is_no_graph_is_refused():
    with pytest.raises(DtypeError, match="expected a DiGraph or MultiDiGraph .*, got Graph"):
        from_networkx(networkx.Graph([(1, 2)]))
    with pytest.raises(DtypeError, match="got list"):
        from_networkx([])
    for text in ("nonsense", "[1, 2]", "{}", '{"nodes": 3}'):
        with pytest.raises(ConfigError, match="from_json: expected a graph"):
            from_json(text)
    with pytest.raises(ConfigError, match="expected version 1 .*, got 2. Read it with a later"):
        from_json('{"version": 2}')
    for content in (b"nonsense", b"<graph/>"):
        with pytest.raises(ConfigError, match="from_graphml: expected GraphML"):
            from_graphml(content)


# --- the schema that is written down --------------------------------------------------------------


def documented(section):
    """Return {name: type} of the tables in a section of the document."""
    path = Path(__file__).resolve().parents[2] / "docs" / "graph_schema.md"
    text = path.read_text(encoding="utf-8").split(f"\n## {section}")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    return {name: row[1] for row in rows for name in re.findall("`(.*?)`", row[0])}


def attributes_without_a_row(graph):
    """Return the attributes of a graph that the document does not list with their types."""
    words = {str: "text", int: "int", bool: "bool", float: "float"}
    boxes, arrows = documented("Boxes"), documented("Arrows")
    frames, whole = {**boxes, **documented("Frames")}, documented("The whole")
    found = [(boxes, node.attrs) for node in graph.nodes] + [(whole, graph.attrs)]
    found += [(arrows, edge.attrs) for edge in graph.edges]
    found += [(frames, group.attrs) for group in graph.groups]
    return [
        (key, value)
        for table, attrs in found
        for key, value in attrs.items()
        if table.get(key) != words[type(value)]
    ]


def test_the_schema_lists_every_attribute_of_the_zoo_with_its_type(model):
    nodes = graph_of(model, "node", expand_nested=True)
    assert attributes_without_a_row(nodes) == []
    assert attributes_without_a_row(graph_of(model, "layer")) == []
    framed = with_scopes(with_blocks(nodes))
    assert attributes_without_a_row(framed) == []
    assert attributes_without_a_row(collapsed(framed, [one.id for one in framed.groups])) == []


@pytest.mark.parametrize("level", ["op", "gradient", "training"])
@pytest.mark.parametrize("name", ["diamond", "between_calls", "siamese"])
def test_the_schema_lists_every_attribute_of_the_other_levels(name, level):
    model = ZOO[name]()
    model.compile("rmsprop", "mse")
    assert attributes_without_a_row(graph_of(model, level)) == []


def test_an_attribute_that_is_not_written_down_is_found():
    graph = Graph("g", (GraphNode("a", "a", "op", attrs={"odd": 1, "call": "text"}),), ())
    assert attributes_without_a_row(graph) == [("odd", 1), ("call", "text")]


def test_the_schema_lists_every_key_of_the_files(model):
    data = json.loads(to_json(graph_of(model, "node", expand_nested=True)))
    assert (data["schema"], data["version"]) == ("kerascope graph", 1)
    assert all(set(node) <= set(documented("Boxes")) for node in data["nodes"])
    assert all(set(edge) <= set(documented("Arrows")) for edge in data["edges"])
    assert set(data["graph"]) <= set(documented("The whole"))
