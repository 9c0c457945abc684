"""The node's own dictionary is changed, as in S2:234.

en: expected the mask of run 2 to be 'second', yours is 'first'
zh: 第 2 次运行的掩码应为 'second'，你的是 'first'
"""

second_run_with_by = "first"
second_run_without = "second"


def kwargs_of(node, computed_mask, takes_mask):
    kwargs = node.arguments
    if takes_mask:
        kwargs.setdefault("mask", computed_mask)
    return kwargs
