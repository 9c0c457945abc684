"""Walks only two inputs of a merge of three.

en: add5(shared(dense3(dense2(x2))), dense2(x2), x0), shared(dense3(dense2(x2))): expected number 5 to be 'x0_ib-0', yours is 'add5_ib-0'
zh: add5(shared(dense3(dense2(x2))), dense2(x2), x0), shared(dense3(dense2(x2)))：第 5 个应为 'x0_ib-0'，你的是 'add5_ib-0'
"""


def post_order(outputs):
    finished = []

    def visit(node):
        if node in finished:
            return
        for parent in node.parent_nodes[:2]:
            visit(parent)
        finished.append(node)

    for output in outputs:
        visit(output)
    return finished
