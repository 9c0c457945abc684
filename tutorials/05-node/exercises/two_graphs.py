"""Draw two graphs of the same model: of its layers, and of its calls.

S and D are layers; y = S(D(S(x))) calls S twice. The documents say that depth "prevents cycles".
It prevents nothing: look at the connections.

`layer_edges(tensor)`: the set of pairs (name of a layer, name of a layer that uses its output).
`node_edges(tensor)`: the same for calls, by node.name: ("s_ib-0", "d_ib-0").

Begin at tensor._keras_history.node. A node's parents are node.parent_nodes, its layer is
node.outbound_layer.
"""


def layer_edges(tensor):
    return ...


def node_edges(tensor):
    return ...
