"""Walk back from an output to the inputs.

The documents walk from dense_3 back to input_1, one layer after another. List the Nodes behind
any tensor, in an order in which they can be computed.

`calls_needed(tensor)`: the names of all Nodes that `tensor` depends on, with the one that made it.
Each name is in the list once, after all Nodes that it takes its inputs from. So an Input comes
first and the Node that made `tensor` comes last. For S(D(S(x))):

    ["x_ib-0", "s_ib-0", "d_ib-0", "s_ib-1"]

Begin at tensor._keras_history.node; a node's parents are node.parent_nodes, its name is node.name.
"""


def calls_needed(tensor):
    return ...
