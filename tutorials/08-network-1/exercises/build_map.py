"""Write build_map with seen_nodes.

The walk begins at the node of an output and goes back through node.parent_nodes. At each node it
leaves a mark: (node, depth). The output lies at depth 0, the parents of a node one deeper than the
node. Where the mark of a parent stands in seen_nodes already, the walk does not go again.

Write `build_map(node, seen_nodes, depth)`, which adds the marks to the set seen_nodes, and
`marks_of(outputs)`, which returns the set of all marks of a list of output nodes. Each call of
marks_of begins with an empty set; beware of a set as a default.
"""


def build_map(node, seen_nodes, depth=0): ...


def marks_of(outputs):
    return ...
