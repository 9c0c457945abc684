"""Keep the mask of one run out of the next.

S2:234 fills the arguments of a call like this:

    if node.arguments:
        kwargs = node.arguments
    else:
        kwargs = {}
    if 'mask' not in kwargs:
        kwargs['mask'] = computed_mask

One node is run twice; the first run's mask is called 'first', the second's 'second'. Predict which
mask the second run uses, if node.arguments is {'by': 2.0}, and if it is {}.

Then write `kwargs_of(node, computed_mask, takes_mask)`: the keyword arguments for one call of
node's layer. A layer that takes no mask gets none. A mask that the user passed when the layer was
called, in node.arguments, is kept. And if the result is changed later, the node stays as it was.
"""

second_run_with_by = ...
second_run_without = ...


def kwargs_of(node, computed_mask, takes_mask):
    return ...
