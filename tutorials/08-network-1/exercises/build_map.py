"""Write build_map with seen_nodes.

The walk begins at the node of an output and goes back through node.parent_nodes. At each node it
adds a mark: (node, depth). The output has depth 0, the parents of a node are one deeper than the
node. If the mark of a parent is in seen_nodes already, the walk does not go there again.

Write `build_map(node, seen_nodes, depth)`, which adds the marks to the set seen_nodes, and
`marks_of(outputs)`, which returns the set of all marks of a list of output nodes. Each call of
marks_of starts with an empty set; do not use a set as a default.
"""


def build_map(node, seen_nodes, depth=0): ...


def marks_of(outputs):
    return ...
