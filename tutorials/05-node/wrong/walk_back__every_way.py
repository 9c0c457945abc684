"""Follows every path to its end, so a Node is listed once for each path that leads to it.

en: expected calls_needed(add) to hold x_ib-0 once, yours holds it 2 times: ['x_ib-0', 'x_ib-0', 'a_ib-0', 'b_ib-0', 'add_ib-0']
zh: calls_needed(add) 中 x_ib-0 应出现 1 次，你的出现了 2 次：['x_ib-0', 'x_ib-0', 'a_ib-0', 'b_ib-0', 'add_ib-0']
"""


def calls_needed(tensor):
    def needed(node):
        return [name for parent in node.parent_nodes for name in needed(parent)] + [node.name]

    return needed(tensor._keras_history.node)
