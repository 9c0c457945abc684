second_run_with_by, second_run_without = "first", "second"


def kwargs_of(node, computed_mask, takes_mask):
    mask = {"mask": computed_mask} if takes_mask else {}
    return {**mask, **node.arguments}
