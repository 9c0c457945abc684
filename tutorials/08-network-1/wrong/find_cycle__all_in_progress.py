"""Returns all nodes in progress, also those that only lead to the cycle.

en: expected the cycle in c(b(a(b(a(... to be ['a_ib-0', 'b_ib-0'], yours is ['a_ib-0', 'b_ib-0', 'c_ib-0']
zh: c(b(a(b(a(... 中的环应为 ['a_ib-0', 'b_ib-0']，你的是 ['a_ib-0', 'b_ib-0', 'c_ib-0']
"""


def find_cycle(node):
    in_progress, finished = [], set()

    def visit(node):
        if node in in_progress:
            return set(in_progress)
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
