"""The layers are sorted by rising depth.

en: layers_in_order, add(b(x), c(a(x))): expected number 1 to be 'x', yours is 'add'
zh: layers_in_order, add(b(x), c(a(x)))：第 1 个应为 'x'，你的是 'add'
"""


def order_of_meeting(outputs):
    met, visited = [], set()

    def visit(node):
        if node in visited:
            return
        visited.add(node)
        if node.outbound_layer not in met:
            met.append(node.outbound_layer)
        for parent in node.parent_nodes:
            visit(parent)

    for output in outputs:
        visit(output)
    return met


def layers_in_order(depths, met):
    return sorted(met, key=lambda layer: depths[layer])
