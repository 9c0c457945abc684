"""A node that is met twice is taken for a cycle, even if it is finished.

en: expected the cycle in add(c(a(x)), b(a(x))) to be [], yours is ['a_ib-0', 'b_ib-0', 'x_ib-0']
zh: add(c(a(x)), b(a(x))) 中的环应为 []，你的是 ['a_ib-0', 'b_ib-0', 'x_ib-0']
"""


def find_cycle(node):
    in_progress = []

    def visit(node):
        if node in in_progress:
            return set(in_progress[in_progress.index(node) :])
        in_progress.append(node)
        for parent in node.parent_nodes:
            cycle = visit(parent)
            if cycle:
                return cycle
        return set()

    return visit(node)
