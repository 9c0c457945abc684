import io
import json

import networkx
import pytest
from zoo import ZOO

from kerascope.viz.extract_layers import layer_graph, node_graph
from kerascope.viz.to_networkx import to_graphml, to_json, to_networkx


@pytest.fixture(params=ZOO, name="model")
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
