"""Your own engine, part 3: the map of a graph.

map_graph(inputs, outputs) returns a GraphMap: which Nodes the output tensors need, and the depth of
each. You have written both halves in this chapter: the post-order of the nodes, and the depths.
Take your own answers and let them work on the Nodes of your engine.

- order_nodes(histories): the history of each output is (layer, node_index, tensor_index). Return
  all nodes that the outputs need in post-order, as in `post_order`: once each, and each one after
  its `parent_nodes`. The depths of shared layers depend on this order. A node that needs itself is
  a cycle: raise a ValueError.
- assign_depths(nodes): two dicts, the depths of the nodes and the depths of the layers. The depth
  of a node is the length of the longest path from it to an output, and at least the depth of its
  layer's calls before it; a layer is as deep as its deepest node.
- map_graph: raise a ValueError that contains the name of the layer, if the outputs need an Input
  that is not among `inputs`. `layers` has each layer once, and `nodes_by_depth` is a dict from a
  depth to the list of its nodes; both begin with the deepest.

Fill in the missing parts.
"""

from collections import namedtuple

GraphMap = namedtuple("GraphMap", "nodes_depths nodes_by_depth layers")


def map_graph(inputs, outputs):
    nodes = order_nodes([x._keras_history for x in outputs])
    nodes_depths, layers_depths = assign_depths(nodes)
    nodes_by_depth = ...
    layers = ...
    return GraphMap(nodes_depths, nodes_by_depth, layers)


def order_nodes(histories):
    return ...


def assign_depths(nodes):
    nodes_depths, layers_depths = {}, {}
    ...
    return nodes_depths, layers_depths
