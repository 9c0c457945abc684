"""Lists nodes row by row from the output, then reverses them, so a comes before its input x.

en: calls_needed(add): expected x_ib-0 before a_ib-0, which takes from it; yours is ['a_ib-0', 'b_ib-0', 'x_ib-0', 'add_ib-0']
zh: calls_needed(add)：a_ib-0 取用 x_ib-0，应排在它之后；你的是 ['a_ib-0', 'b_ib-0', 'x_ib-0', 'add_ib-0']
"""


def calls_needed(tensor):
    row, met = [tensor._keras_history.node], []
    while row:
        met += [node for node in row if node not in met]
        row = [parent for node in row for parent in node.parent_nodes if parent not in met]
    return [node.name for node in reversed(met)]
