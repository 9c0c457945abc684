"""Give every node its depth.

The depth of a node is the length of the longest path from it to an output; an output has depth 0.
One more rule of Keras 2: if another call of the node's layer was met before, and deeper, the node
is lifted to that depth. (A call that was met before the deeper one stays where it is.)

`nodes` begins with the output, and every node comes after all nodes that use it. `layer_depths`
holds the greatest depth of each layer so far, `depths` that of each node. Replace each `...`.
"""


def assign_depths(nodes):
    depths, layer_depths = {}, {}
    for node in nodes:
        layer = node.outbound_layer
        depth = ...
        layer_depths[layer] = depth
        depths[node] = depth
        for parent in node.parent_nodes:
            ...
    return depths
