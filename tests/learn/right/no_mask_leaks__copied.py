import copy

second_run_with_by = ["first", "second"][0]
second_run_without = ["first", "second"][1]


def kwargs_of(node, computed_mask, takes_mask):
    kwargs = copy.copy(node.arguments)
    if takes_mask and "mask" not in kwargs:
        kwargs["mask"] = computed_mask
    return kwargs
