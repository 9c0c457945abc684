"""Find a cycle.

Keras 2 asks of each node in which state it is: not met yet, in progress, or finished. A node is in
progress while the walk is behind it, among its parents. Whoever comes to a node in progress has
gone round in a circle.

Write `find_cycle(node)`: walk back from the node through parent_nodes and return the set of the
nodes that form a cycle, an empty set if there is none. Nodes that only lead to a cycle do not
belong to it. There is at most one cycle.
"""


def find_cycle(node):
    return ...
