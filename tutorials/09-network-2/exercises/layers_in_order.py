"""Sort the layers.

model.layers is sorted by falling depth; layers of the same depth are in the order in which the walk
met them. The walk meets a layer when it first comes to one of its nodes, before it visits the
node's parents.

Write `order_of_meeting(outputs)`: outputs is a list of nodes; return the layers in the order in
which the walk meets them. Then write `layers_in_order(depths, met)`: depths is a dict from layer to
depth, met the list that order_of_meeting returns.
"""


def order_of_meeting(outputs):
    return ...


def layers_in_order(depths, met):
    return ...
