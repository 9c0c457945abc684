"""Convert a `Graph` to networkx, GraphML and node-link JSON, and back.

The result is a MultiDiGraph, which keeps parallel edges. The ids of boxes are the names of nodes.
Nodes have the attributes `label`, `kind`, `group`, `depth` and all of `GraphNode.attrs`. Edges have
`label`, `number` (the position in `Graph.edges`, because networkx sorts edges by source) and all of
`GraphEdge.attrs`. The graph has `name`, all of `Graph.attrs` and `groups`, a JSON text that lists
the frames. All values are text, numbers or bools, which every format supports.
docs/graph_schema.md explains each attribute.
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Mapping
from typing import Any

from kerascope import display
from kerascope.engine.network import Network
from kerascope.engine.node_ids import clean
from kerascope.errors import ConfigError, DtypeError
from kerascope.model_files import opened
from kerascope.printable import printable_json, printable_xml
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.nesting import FreeIds, longest_paths

SCHEMA, VERSION = "kerascope graph", 1
# Names reserved by networkx (also its arguments), by GraphML and by us. An attribute with such a
# name gets the prefix `PREFIX`.
PREFIX = "attrs."
NODE_WORDS = ("id", "label", "kind", "group", "depth", "self", "node_for_adding")
EDGE_WORDS = (
    *("id", "source", "target", "key", "label", "number"),
    *("self", "u_for_edge", "v_for_edge"),
)
GRAPH_WORDS = ("id", "name", "groups", "node_default", "edge_default")


def to_networkx(
    model: Any, level: str = "node", *, expand_nested: bool = False, inputs: Any = None
) -> Any:
    """Return a model as a networkx graph.

    Parameters
    ----------
    model : Network, Sequential, Graph or path
        A built model, a model file, or a neutral graph.
    level : {"node", "layer"}
        One node per call, or one per layer.
    expand_nested : bool
        Include the calls inside nested models; only at the level "node".
    inputs : optional
        Example inputs for a model of another library; see `draw`.

    Returns
    -------
    networkx.MultiDiGraph

    Raises
    ------
    DtypeError, NotBuiltError, ArgumentError
        `model` is not a model, has no graph, or the level does not exist.

    Examples
    --------
    >>> from kerascope.engine.base_layer import Layer
    >>> from kerascope.engine.input_layer import Input
    >>> from kerascope.engine.network import Network
    >>> x = Input(shape=(4,), name="x")
    >>> graph = to_networkx(Network(x, Layer(name="same")(x)))
    >>> list(graph.edges(data="shape"))
    [('x', 'same', '(None, 4)')]
    """
    import networkx

    model = opened(model, opaque=True)
    if not isinstance(model, (Network, Graph)):
        model, _ = display.renderer("drawable", lambda *given: (model, None))(model, inputs)
    graph = graph_of(model, level, expand_nested, where="to_networkx")
    groups = json.dumps([_group_data(group) for group in graph.groups], ensure_ascii=False)
    result = networkx.MultiDiGraph()
    result.graph.update(name=graph.name, **_outward(graph.attrs, GRAPH_WORDS), groups=groups)
    for node in graph.nodes:
        own = {"label": node.label, "kind": node.kind, "group": node.group, "depth": node.depth}
        result.add_node(node.id)
        result.nodes[node.id].update(own | _outward(node.attrs, NODE_WORDS))
    for number, one in enumerate(graph.edges):
        own = {"label": one.label, "number": number}
        key = result.add_edge(one.source, one.target)
        result.edges[one.source, one.target, key].update(own | _outward(one.attrs, EDGE_WORDS))
    return result


def from_networkx(converted: Any) -> Graph:
    """Return the neutral graph of a networkx graph, the inverse of `to_networkx`.

    Parameters
    ----------
    converted : networkx.DiGraph or networkx.MultiDiGraph
        From `to_networkx`, from a file, or your own. A node without `label` is labelled with its
        name, and one without `kind` is a plain layer. If a node has no `depth`, depths are computed
        as longest paths to the ends of the graph.

    Raises
    ------
    DtypeError
        The argument is not a directed graph of networkx, or an attribute is not text, a number or
        a bool.
    ArgumentError
        The graph is inconsistent; see `Graph`.

    Examples
    --------
    >>> import networkx
    >>> graph = from_networkx(networkx.DiGraph([("x", "y"), ("y", "z")]))
    >>> [(box.label, box.depth) for box in graph.nodes]
    [('x', 2), ('y', 1), ('z', 0)]
    """
    if not (hasattr(converted, "is_directed") and converted.is_directed()):
        raise DtypeError(
            f"from_networkx: expected a DiGraph or MultiDiGraph of networkx, "
            f"got {type(converted).__name__}."
        )
    groups = [GraphGroup(**group) for group in json.loads(converted.graph.get("groups", "[]"))]
    edges = sorted(converted.edges(data=True), key=lambda edge: edge[2].get("number", 0))
    depths: dict[Any, int] = {}
    if not all("depth" in data for _, data in converted.nodes(data=True)):
        depths = longest_paths(list(converted.nodes), converted.edges())
    nodes = [
        GraphNode(
            str(name),
            str(data.get("label", name)),
            str(data.get("kind", "layer")),
            str(data.get("group", "")),
            data.get("depth", depths.get(name, 0)),
            _inward(data, NODE_WORDS),
        )
        for name, data in converted.nodes(data=True)
    ]
    return Graph(
        str(converted.graph.get("name", "")),
        tuple(nodes),
        tuple(
            GraphEdge(str(a), str(b), str(data.get("label", "")), _inward(data, EDGE_WORDS))
            for a, b, data in edges
        ),
        tuple(groups),
        _inward(converted.graph, GRAPH_WORDS),
    )


# --- files ----------------------------------------------------------------------------------------


def to_json(graph: Graph) -> str:
    """Return a graph as JSON in networkx's node-link form, with the schema's name and version."""
    import networkx

    data = networkx.node_link_data(to_networkx(graph), edges="edges")
    marked = {"schema": SCHEMA, "version": VERSION, **data}
    return printable_json(json.dumps(marked, ensure_ascii=False, indent=1)) + "\n"


def from_json(text: str) -> Graph:
    """Return the graph that `to_json` wrote.

    Raises
    ------
    ConfigError
        The text is not a graph in this form, or it was written by a later version.
    """
    import networkx

    try:
        data = json.loads(text)
        version = data.get("version", VERSION)
        if isinstance(version, int) and version <= VERSION:
            return from_networkx(networkx.node_link_graph(data, edges="edges"))
    except (AttributeError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ConfigError(
            f"from_json: expected a graph in networkx's node-link form, got {text[:60]!r} "
            f"({type(error).__name__}: {error})."
        ) from error
    raise ConfigError(
        f"from_json: expected version {VERSION} of the schema {SCHEMA!r}, got {version!r}. "
        f"Read it with a later version of kerascope."
    )


def to_graphml(graph: Graph) -> bytes:
    """Return a graph as GraphML, which `networkx.read_graphml`, yEd, Gephi and Cytoscape read.

    Control characters, which XML does not allow, become U+FFFD.
    """
    import networkx

    content = io.BytesIO()
    # Not write_graphml, whose output depends on whether lxml is installed.
    networkx.write_graphml_xml(to_networkx(_cleaned(graph)), content, encoding="utf-8")
    # This also replaces carriage returns, which would be read as line feeds.
    return printable_xml(content.getvalue().decode()).encode()


def from_graphml(content: bytes) -> Graph:
    """Return the graph that `to_graphml` wrote.

    Raises
    ------
    ConfigError
        The content is not GraphML.
    """
    import networkx

    try:
        read = networkx.read_graphml(io.BytesIO(content), edge_key_type=str, force_multigraph=True)
    except (SyntaxError, networkx.NetworkXError) as error:
        raise ConfigError(f"from_graphml: expected GraphML, got {content[:60]!r} ({error}).") from (
            error
        )
    return from_networkx(read)


def _cleaned(graph: Graph) -> Graph:
    """Return a graph without characters that XML does not allow; ids stay distinct."""
    take_box, take_group = FreeIds().take, FreeIds().take
    nodes = {node.id: take_box(node.id) for node in graph.nodes}
    groups = {"": ""} | {group.id: take_group(group.id) for group in graph.groups}
    return Graph(
        clean(graph.name),
        tuple(
            GraphNode(
                *(nodes[node.id], clean(node.label), clean(node.kind), groups[node.group]),
                node.depth,
                _clean_attributes(node.attrs),
            )
            for node in graph.nodes
        ),
        tuple(
            GraphEdge(
                *(nodes[edge.source], nodes[edge.target], clean(edge.label)),
                _clean_attributes(edge.attrs),
            )
            for edge in graph.edges
        ),
        tuple(
            GraphGroup(
                *(groups[one.id], clean(one.label), groups[one.parent]),
                one.depth,
                _clean_attributes(one.attrs),
            )
            for one in graph.groups
        ),
        _clean_attributes(graph.attrs),
    )


# --- attributes -----------------------------------------------------------------------------------


def _clean_attributes(attrs: Mapping[str, Attribute]) -> dict[str, Attribute]:
    return {clean(k): clean(v) if isinstance(v, str) else v for k, v in attrs.items()}


def _outward(attrs: Mapping[str, Attribute], words: tuple[str, ...]) -> dict[str, Attribute]:
    """Return attributes, with a prefix before each name that the export itself uses."""
    return {
        f"{PREFIX}{key}" if key in words or key.startswith(PREFIX) else key: value
        for key, value in attrs.items()
    }


def _inward(data: Mapping[str, Any], words: tuple[str, ...]) -> dict[str, Any]:
    """Return the attributes that `_outward` converted, without prefixes and reserved names."""
    return {key.removeprefix(PREFIX): value for key, value in data.items() if key not in words}


def _group_data(group: GraphGroup) -> dict[str, Any]:
    return {**dataclasses.asdict(group), "attrs": dict(group.attrs)}
