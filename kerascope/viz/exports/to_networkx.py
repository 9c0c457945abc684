"""From a `Graph` to networkx, GraphML and node-link JSON, and back.

The MultiDiGraph keeps parallel edges. Node names are the boxes' ids; a node's attributes are
`label`, `kind`, `group`, `depth` and all of `GraphNode.attrs`, an edge's are `label`, `number` (its
place in `Graph.edges`: networkx sorts edges by their sources) and all of `GraphEdge.attrs`, the
graph's are `name`, all of `Graph.attrs` and `groups`, a JSON text that lists the frames. All of
them are plain text, numbers or bools, so every format can hold them. docs/graph_schema.md lists
them with their meaning.
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
# Names that networkx (also as names of its arguments), GraphML or we use already; an attribute that
# is called so gets `PREFIX` in front.
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
        A built model, the file of one, or a neutral graph.
    level : {"node", "layer"}
        One node per call, or one per layer.
    expand_nested : bool
        Show the calls inside nested models; at level "node" only.
    inputs : optional
        What a model of another library is called on; see `draw`.

    Returns
    -------
    networkx.MultiDiGraph

    Raises
    ------
    DtypeError, NotBuiltError, ArgumentError
        `model` is no model, has no graph, or the level does not exist.

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
    """Return the neutral graph of a networkx graph; undoes `to_networkx`.

    Parameters
    ----------
    converted : networkx.DiGraph or networkx.MultiDiGraph
        From `to_networkx`, from a file, or your own: a node without `label` is called by its name,
        one without `kind` is a plain layer, and without `depth` each lies as deep as its
        longest path to an end.

    Raises
    ------
    DtypeError
        It is no directed graph of networkx, or an attribute is neither text, number nor bool.
    ArgumentError
        It does not hang together; see `Graph`.

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
        It is no such text, or of a later version.
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
        f"Read it with a later kerascope."
    )


def to_graphml(graph: Graph) -> bytes:
    """Return a graph as GraphML, which `networkx.read_graphml`, yEd, Gephi and Cytoscape read.

    What no XML file can hold is replaced: control characters become U+FFFD.
    """
    import networkx

    content = io.BytesIO()
    # Not write_graphml, which writes by lxml or by Python, whichever is there.
    networkx.write_graphml_xml(to_networkx(_cleaned(graph)), content, encoding="utf-8")
    # A carriage return too: Python writes it as it is, and it would be read as a line feed.
    return printable_xml(content.getvalue().decode()).encode()


def from_graphml(content: bytes) -> Graph:
    """Return the graph that `to_graphml` wrote.

    Raises
    ------
    ConfigError
        It is no GraphML.
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
    """Return a graph without characters that no XML file can hold; ids stay distinct."""
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
    """Return attributes under names that are free."""
    return {
        f"{PREFIX}{key}" if key in words or key.startswith(PREFIX) else key: value
        for key, value in attrs.items()
    }


def _inward(data: Mapping[str, Any], words: tuple[str, ...]) -> dict[str, Any]:
    """Undo `_outward`, and leave out what is no attribute."""
    return {key.removeprefix(PREFIX): value for key, value in data.items() if key not in words}


def _group_data(group: GraphGroup) -> dict[str, Any]:
    return {**dataclasses.asdict(group), "attrs": dict(group.attrs)}
