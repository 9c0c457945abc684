layers_of_graph = list("xabc")
layers_of_own = list("cab")


def kind_of(*args, **kwargs):
    names = {"inputs", "outputs"}
    given = {"inputs", "outputs"} & {*("inputs", "outputs")[: len(args)], *kwargs}
    if given == names:
        return "graph"
    return "error" if given else "subclassed"
