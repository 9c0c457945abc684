def find_cycle(node):
    in_progress, finished = [], set()

    def visit(node):
        if node in in_progress:
            return set(in_progress[in_progress.index(node) :])
        if node in finished:
            return set()
        in_progress.append(node)
        for parent in node.parent_nodes:
            cycle = visit(parent)
            if cycle:
                return cycle
        finished.add(in_progress.pop())
        return set()

    return visit(node)
