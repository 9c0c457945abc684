"""A node is appended once for each path that leads to it.

en: add(b(x), c(a(x))): expected number 3 to be 'a_ib-0', yours is 'x_ib-0'
zh: add(b(x), c(a(x)))：第 3 个应为 'a_ib-0'，你的是 'x_ib-0'
"""


def post_order(outputs):
    finished = []

    def visit(node):
        for parent in node.parent_nodes:
            visit(parent)
        finished.append(node)

    for output in outputs:
        visit(output)
    return finished
