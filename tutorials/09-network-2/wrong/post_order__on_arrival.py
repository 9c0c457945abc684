"""A node is appended on arrival, and the list is reversed.

en: add(b(x), c(a(x))): expected number 1 to be 'x_ib-0', yours is 'a_ib-0'
zh: add(b(x), c(a(x)))：第 1 个应为 'x_ib-0'，你的是 'a_ib-0'
"""


def post_order(outputs):
    finished = []

    def visit(node):
        if node in finished:
            return
        finished.append(node)
        for parent in node.parent_nodes:
            visit(parent)

    for output in outputs:
        visit(output)
    return finished[::-1]
