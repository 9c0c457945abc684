layers_of_graph = ["x"] + [name for name in "abc"]
layers_of_own = ["c"] + [name for name in "ab"]


def kind_of(*args, **kwargs):
    count = len(args) + len([name for name in kwargs if name in ("inputs", "outputs")])
    if count == 0:
        return "subclassed"
    elif count == 1:
        return "error"
    else:
        return "graph"
