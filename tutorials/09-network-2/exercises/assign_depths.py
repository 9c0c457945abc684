"""Give every node its depth.

The depth of a node is the longest way from it to an output; an output lies at 0. One more rule of
Keras 2: all calls of one layer lie at one depth, the greatest of those calls that were met so far.
A node whose layer was met deeper before is lifted to that depth.

`nodes` begins with the output, and every node comes after all nodes that use it. `layer_depths`
holds the greatest depth of each layer so far, `depths` that of each node. Fill the places.
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
