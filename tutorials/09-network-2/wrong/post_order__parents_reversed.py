"""The last parent is visited first.

en: add(b(x), c(a(x))): expected number 2 to be 'b_ib-0', yours is 'a_ib-0'
zh: add(b(x), c(a(x)))：第 2 个应为 'b_ib-0'，你的是 'a_ib-0'
"""


def post_order(outputs):
    finished = []

    def visit(node):
        if node in finished:
            return
        for parent in reversed(node.parent_nodes):
            visit(parent)
        finished.append(node)

    for output in outputs:
        visit(output)
    return finished
