"""The second call of a layer is not visited, so the layers before it are missing.

en: order_of_meeting, add(s(e(x)), s(d(x))): expected number 5 to be 'd', yours has none
zh: order_of_meeting, add(s(e(x)), s(d(x)))：第 5 个应为 'd'，你的没有
"""


def order_of_meeting(outputs):
    met = []

    def visit(node):
        if node.outbound_layer in met:
            return
        met.append(node.outbound_layer)
        for parent in node.parent_nodes:
            visit(parent)

    for output in outputs:
        visit(output)
    return met


def layers_in_order(depths, met):
    return sorted(met, key=lambda layer: -depths[layer])
