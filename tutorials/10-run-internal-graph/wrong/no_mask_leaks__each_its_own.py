"""Assumes that each run uses its own mask.

en: expected second_run_with_by to be 'first', yours is 'second': the first run has changed node.arguments
zh: second_run_with_by 应为 'first'，你的是 'second'：第一次已经写进了 node.arguments
"""

second_run_with_by = "second"
second_run_without = "second"


def kwargs_of(node, computed_mask, takes_mask):
    kwargs = dict(node.arguments)
    if takes_mask:
        kwargs.setdefault("mask", computed_mask)
    return kwargs
