def printed(arguments):
    for computed_mask in ("first", "second"):
        kwargs = arguments if arguments else {}
        if "mask" not in kwargs:
            kwargs["mask"] = computed_mask
    return kwargs["mask"]


second_run_with_by = printed({"by": 2.0})
second_run_without = printed({})


def kwargs_of(node, computed_mask, takes_mask):
    kwargs = {name: value for name, value in node.arguments.items()}
    if not takes_mask:
        return kwargs
    try:
        kwargs["mask"]
    except KeyError:
        kwargs["mask"] = computed_mask
    return kwargs
