"""The marks are made but never checked, so every path is walked.

en: a tower of 12 blocks has 13 marks; expected parent_nodes to be read at most 52 times, yours reads it 8,191 times
zh: 12 层的塔有 13 个记号；parent_nodes 至多应读取 52 次，你的读了 8,191 次
"""


def build_map(node, seen_nodes, depth=0):
    seen_nodes.add((node, depth))
    for parent in node.parent_nodes:
        build_map(parent, seen_nodes, depth + 1)


def marks_of(outputs):
    seen_nodes = set()
    for output in outputs:
        build_map(output, seen_nodes)
    return seen_nodes
