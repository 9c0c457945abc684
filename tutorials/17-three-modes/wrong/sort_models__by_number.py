"""Any two arguments are taken for inputs and outputs.

en: expected kind_of(name="n") to be 'subclassed', yours is 'error'
zh: kind_of(name="n") 应为 'subclassed'，你的是 'error'
"""

layers_of_graph = ["x", "a", "b", "c"]
layers_of_own = ["c", "a", "b"]


def kind_of(*args, **kwargs):
    given = min(2, len(args) + len(kwargs))
    return ["subclassed", "error", "graph"][given]
