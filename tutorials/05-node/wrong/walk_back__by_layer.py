"""A layer that was visited is not visited again, so the first call of S is lost.

en: expected calls_needed(S(D(S(x)))) to hold x_ib-0 once, yours holds it 0 times: ['d_ib-0', 's_ib-1']
zh: calls_needed(S(D(S(x)))) 中 x_ib-0 应出现 1 次，你的出现了 0 次：['d_ib-0', 's_ib-1']
"""


def calls_needed(tensor):
    names, visited = [], set()

    def visit(node):
        if node.outbound_layer in visited:
            return
        visited.add(node.outbound_layer)
        for parent in node.parent_nodes:
            visit(parent)
        names.append(node.name)

    visit(tensor._keras_history.node)
    return names
