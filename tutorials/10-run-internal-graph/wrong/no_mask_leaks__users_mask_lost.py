"""The computed mask replaces the user's mask.

en: expected the mask in node.arguments to be kept, yours was replaced
zh: node.arguments 里的掩码应当保留，你把它换掉了
"""

second_run_with_by = "first"
second_run_without = "second"


def kwargs_of(node, computed_mask, takes_mask):
    kwargs = dict(node.arguments)
    if takes_mask:
        kwargs["mask"] = computed_mask
    return kwargs
