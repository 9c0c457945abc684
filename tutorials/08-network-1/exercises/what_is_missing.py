"""Find what is disconnected.

`Model(inputs, outputs)` fails with "Graph disconnected" if an output needs a tensor that no input
feeds. Find this out before, and find all such tensors, not only the first.

Write `what_is_missing(inputs, outputs)`: both are lists of tensors. Return the list of all tensors
made by Input(...) that the outputs depend on and that are not among the inputs, each once.

A node without parents belongs to an Input: node.output_tensors[0] is the tensor. As in Keras,
the walk goes all the way back: a tensor from the middle among the inputs does not stop it.
"""


def what_is_missing(inputs, outputs):
    return ...
