layers_of_graph = ["x", "a", "b", "c"]
layers_of_own = ["c", "a", "b"]


def kind_of(*args, **kwargs):
    given = len(args[:2]) + ("inputs" in kwargs) + ("outputs" in kwargs)
    return ["subclassed", "error", "graph"][given]
