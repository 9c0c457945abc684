"""Assumes that the mask also leaks without arguments.

en: expected second_run_without to be 'second', yours is 'first': an empty dictionary counts as false
zh: second_run_without 应为 'second'，你的是 'first'：空字典算作假
"""

second_run_with_by = "first"
second_run_without = "first"


def kwargs_of(node, computed_mask, takes_mask):
    kwargs = dict(node.arguments)
    if takes_mask:
        kwargs.setdefault("mask", computed_mask)
    return kwargs
