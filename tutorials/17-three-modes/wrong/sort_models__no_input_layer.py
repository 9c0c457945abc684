"""The InputLayer is forgotten.

en: expected layers_of_graph to be ['x', 'a', 'b', 'c'], yours is ['a', 'b', 'c']: from the tensors, by falling depth
zh: layers_of_graph 应为 ['x', 'a', 'b', 'c']，你的是 ['a', 'b', 'c']：来自张量，按深度下降
"""

layers_of_graph = ["a", "b", "c"]
layers_of_own = ["c", "a", "b"]


def kind_of(*args, **kwargs):
    given = len(args[:2]) + ("inputs" in kwargs) + ("outputs" in kwargs)
    return ["subclassed", "error", "graph"][given]
