"""The set is a default, so every call finds the marks of the calls before.

en: add(c(a(x)), b(x)): expected no mark for (depth, layer) = [(0, 'b')], yours has it
zh: add(c(a(x)), b(x))：不应有记号（深度，层）= [(0, 'b')]，你的有
"""


def build_map(node, seen_nodes, depth=0):
    seen_nodes.add((node, depth))
    for parent in node.parent_nodes:
        if (parent, depth + 1) not in seen_nodes:
            build_map(parent, seen_nodes, depth + 1)


def marks_of(outputs, seen_nodes=set()):  # noqa: B006
    for output in outputs:
        build_map(output, seen_nodes)
    return seen_nodes
