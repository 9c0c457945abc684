"""The names are in the order of the walk, from the output to the input.

en: calls_needed(dense_3): expected input_1_ib-0 before dense_1_ib-0, which takes from it; yours is ['dense_3_ib-0', 'dense_2_ib-0', 'dense_1_ib-0', 'input_1_ib-0']
zh: calls_needed(dense_3)：dense_1_ib-0 取用 input_1_ib-0，应排在它之后；你的是 ['dense_3_ib-0', 'dense_2_ib-0', 'dense_1_ib-0', 'input_1_ib-0']
"""


def calls_needed(tensor):
    names, waiting = [], [tensor._keras_history.node]
    while waiting:
        node = waiting.pop()
        if node.name not in names:
            names.append(node.name)
            waiting.extend(node.parent_nodes)
    return names
