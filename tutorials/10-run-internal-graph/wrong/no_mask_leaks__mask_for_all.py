"""Every layer gets a mask.

en: expected kwargs_of(node, 'm', False) to be {'by': 2.0}, yours is {'by': 2.0, 'mask': 'm'}
zh: kwargs_of(node, 'm', False) 应为 {'by': 2.0}，你的是 {'by': 2.0, 'mask': 'm'}
"""

second_run_with_by = "first"
second_run_without = "second"


def kwargs_of(node, computed_mask, takes_mask):
    kwargs = dict(node.arguments)
    kwargs.setdefault("mask", computed_mask)
    return kwargs
