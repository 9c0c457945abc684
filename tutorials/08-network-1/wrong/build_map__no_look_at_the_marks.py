"""The marks are made and nobody looks at them: every way is walked.

en: a row of 9 blocks has 145 marks; expected parent_nodes to be read at most 580 times, yours reads it 49,206 times
zh: 9 个块有 145 个记号；parent_nodes 至多应读取 580 次，你的读了 49,206 次
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
