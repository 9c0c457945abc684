"""Find a cycle.

In Keras 2 each node is in one of three states: not met yet, in progress, or finished. A node is in
progress while the walk visits its parents. If the walk comes to a node in progress, it has gone
round in a circle.

Write `find_cycle(node)`: walk back from the node through parent_nodes and return the set of the
nodes that form a cycle, an empty set if there is none. Nodes that only lead to a cycle do not
belong to it. There is at most one cycle.
"""


def find_cycle(node):
    return ...
