layers_of_graph = ("x", "a", "b", "c")
layers_of_own = ("c", "a", "b")


def kind(inputs=None, outputs=None, name=None):
    if inputs is None and outputs is None:
        return "subclassed"
    if inputs is None or outputs is None:
        return "error"
    return "graph"


def kind_of(*args, **kwargs):
    return kind(*args, **kwargs)
