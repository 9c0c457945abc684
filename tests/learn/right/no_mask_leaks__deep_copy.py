import copy

second_run_with_by, second_run_without = "first", "second"


def kwargs_of(node, computed_mask, takes_mask):
    kwargs = copy.deepcopy(node.arguments)
    if takes_mask and "mask" not in kwargs:
        kwargs["mask"] = computed_mask
    return kwargs
