second_run_with_by = "first"
second_run_without = "second"


def kwargs_of(node, computed_mask, takes_mask):
    kwargs = dict(node.arguments)
    if takes_mask:
        kwargs.setdefault("mask", computed_mask)
    return kwargs
