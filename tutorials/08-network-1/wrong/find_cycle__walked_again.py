"""A finished node is visited again.

en: a tower of 13 nodes, each taken twice: expected parent_nodes to be read less than 512 times, yours reads it 8,191 times; a finished node does not lead to a cycle
zh: 13 个结点的塔，每个被取用两次：parent_nodes 的读取应少于 512 次，你的读了 8,191 次；已完成的结点背后没有环
"""


def find_cycle(node):
    path = []

    def visit(one):
        if one in path:
            return set(path[path.index(one) :])
        path.append(one)
        for parent in one.parent_nodes:
            if cycle := visit(parent):
                return cycle
        path.pop()
        return set()

    return visit(node)
