"""From a `Graph` to networkx, and from there to GraphML and node-link JSON.

The MultiDiGraph keeps parallel edges. Node names are the boxes' ids; a node's attributes are
`label`, `kind`, `group`, `depth` and all of `GraphNode.attrs` (listed in `layer_facts.py`), an
edge's are `label` and all of `GraphEdge.attrs`, the graph's are `name`, all of `Graph.attrs` and
`groups`, a JSON text that lists the frames. All of them are plain text, numbers or bools, so every
format can hold them.
"""

from __future__ import annotations

import dataclasses
import io
import json
from typing import Any

from kerascope.viz.extract import graph_of
from kerascope.viz.graph import Graph


def to_networkx(model: Any, level: str = "node", *, expand_nested: bool = False) -> Any:
    """Return a model as a networkx graph.

    Parameters
    ----------
    model : Network, Sequential or Graph
        A built model, or a neutral graph.
    level : {"node", "layer"}
        One node per call, or one per layer.
    expand_nested : bool
        Show the calls inside nested models; at level "node" only.

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

    graph = graph_of(model, level, expand_nested, where="to_networkx")
    groups = json.dumps([_group_data(group) for group in graph.groups], ensure_ascii=False)
    result = networkx.MultiDiGraph(name=graph.name, **graph.attrs, groups=groups)
    for node in graph.nodes:
        own = {"label": node.label, "kind": node.kind, "group": node.group, "depth": node.depth}
        result.add_node(node.id, **own, **node.attrs)
    for edge in graph.edges:
        result.add_edge(edge.source, edge.target, label=edge.label, **edge.attrs)
    return result


def to_json(graph: Graph) -> str:
    """Return a graph as JSON in networkx's node-link form."""
    import networkx

    data = networkx.node_link_data(to_networkx(graph), edges="edges")
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def to_graphml(graph: Graph) -> bytes:
    """Return a graph as GraphML, which `networkx.read_graphml`, yEd, Gephi and Cytoscape read."""
    import networkx

    content = io.BytesIO()
    networkx.write_graphml(to_networkx(graph), content, encoding="utf-8", named_key_ids=True)
    return content.getvalue()


def _group_data(group: Any) -> dict[str, Any]:
    return {**dataclasses.asdict(group), "attrs": dict(group.attrs)}
