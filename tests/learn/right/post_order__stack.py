def post_order(outputs):
    finished, done = [], set()
    for output in outputs:
        stack = [(output, iter(output.parent_nodes))]
        entered = {output}
        if output in done:
            continue
        while stack:
            node, parents = stack[-1]
            parent = next(parents, None)
            if parent is None:
                stack.pop()
                done.add(node)
                finished.append(node)
            elif parent not in done and parent not in entered:
                entered.add(parent)
                stack.append((parent, iter(parent.parent_nodes)))
    return finished
