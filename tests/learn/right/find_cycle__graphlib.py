from graphlib import CycleError, TopologicalSorter


def find_cycle(node):
    takes, waiting = {}, [node]
    while waiting:
        one = waiting.pop()
        if one not in takes:
            takes[one] = one.parent_nodes
            waiting += takes[one]
    try:
        TopologicalSorter(takes).prepare()
    except CycleError as error:
        return set(error.args[1])
    return set()
