"""Assumes that inputs or outputs alone make a graph network.

en: expected kind_of(x) to be 'error', yours is 'graph'
zh: kind_of(x) 应为 'error'，你的是 'graph'
"""

layers_of_graph = ["x", "a", "b", "c"]
layers_of_own = ["c", "a", "b"]


def kind_of(*args, **kwargs):
    given = len(args[:2]) + ("inputs" in kwargs) + ("outputs" in kwargs)
    return ["subclassed", "graph", "graph"][given]
