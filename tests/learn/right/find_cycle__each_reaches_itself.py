def reach(node):
    seen, waiting = set(), list(node.parent_nodes)
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting.extend(one.parent_nodes)
    return seen


def find_cycle(node):
    return {one for one in {node} | reach(node) if one in reach(one)}
