"""Passes on only the argument of the example.

en: expected kwargs_of(node, 'm', True) of a node with by and shift to be {'by': 2.0, 'shift': 0.5, 'mask': 'm'}, yours is {'by': 2.0, 'mask': 'm'}
zh: node 带有 by 和 shift 时的 kwargs_of(node, 'm', True) 应为 {'by': 2.0, 'shift': 0.5, 'mask': 'm'}，你的是 {'by': 2.0, 'mask': 'm'}
"""

second_run_with_by = "first"
second_run_without = "second"


def kwargs_of(node, computed_mask, takes_mask):
    kwargs = {word: node.arguments[word] for word in ("by", "mask") if word in node.arguments}
    if takes_mask:
        kwargs.setdefault("mask", computed_mask)
    return kwargs
