def calls_needed(tensor):
    names, done = [], set()
    stack = [tensor._keras_history.node]
    while stack:
        node = stack[-1]
        open_parents = [parent for parent in node.parent_nodes if parent not in done]
        if open_parents:
            stack.extend(open_parents)
            continue
        stack.pop()
        if node not in done:
            done.add(node)
            names.append(node.name)
    return names
