"""Assumes that a subclassed network knows how its layers are connected.

en: expected layers_of_own to be ['c', 'a', 'b'], yours is ['a', 'b', 'c']: from the attributes, as they were set
zh: layers_of_own 应为 ['c', 'a', 'b']，你的是 ['a', 'b', 'c']：来自属性，按赋值的先后
"""

layers_of_graph = ["x", "a", "b", "c"]
layers_of_own = ["a", "b", "c"]


def kind_of(*args, **kwargs):
    given = len(args[:2]) + ("inputs" in kwargs) + ("outputs" in kwargs)
    return ["subclassed", "error", "graph"][given]
