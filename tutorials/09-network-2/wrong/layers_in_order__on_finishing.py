"""A layer is added when its node is finished.

en: order_of_meeting, add(b(x), c(a(x))): expected number 1 to be 'add', yours is 'x'
zh: order_of_meeting, add(b(x), c(a(x)))：第 1 个应为 'add'，你的是 'x'
"""


def order_of_meeting(outputs):
    met, visited = [], set()

    def visit(node):
        if node in visited:
            return
        visited.add(node)
        for parent in node.parent_nodes:
            visit(parent)
        if node.outbound_layer not in met:
            met.append(node.outbound_layer)

    for output in outputs:
        visit(output)
    return met


def layers_in_order(depths, met):
    return sorted(met, key=lambda layer: -depths[layer])
