from graphlib import TopologicalSorter


def calls_needed(tensor):
    takes, waiting = {}, [tensor._keras_history.node]
    while waiting:
        node = waiting.pop()
        if node.name not in takes:
            takes[node.name] = {parent.name for parent in node.parent_nodes}
            waiting += node.parent_nodes
    return list(TopologicalSorter(takes).static_order())
