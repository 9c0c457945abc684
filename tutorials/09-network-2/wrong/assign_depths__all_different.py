"""Gives each layer a depth of its own, as S0 claims.

en: expected the depth of b_ib-0 in add(b(a), c(a)) to be 1, yours is 2
zh: add(b(a), c(a)) 中 b_ib-0 的深度应为 1，你的是 2
"""


def assign_depths(nodes):
    return {node: number for number, node in enumerate(nodes)}
