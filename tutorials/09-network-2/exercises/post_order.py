"""Write the post-order.

Keras 2's walk appends a node to its list when the node is finished: after all nodes whose outputs
it needs. Keras calls the list nodes_in_decreasing_depth, but the depths in it do not fall.

Write `post_order(outputs)`: outputs is a list of nodes. Begin with the first, take the parents of a
node (node.parent_nodes) in their order, and return the list of all nodes in the order in which they
are finished, each once.
"""


def post_order(outputs):
    return ...
