"""An input that two outputs need is returned twice.

en: expected what_is_missing([a], [first, second]) to be ['b', 'c'], yours is ['b', 'c', 'c']
zh: what_is_missing([a], [first, second]) 应为 ['b', 'c']，你的是 ['b', 'c', 'c']
"""


def what_is_missing(inputs, outputs):
    found, waiting = [], [tensor._keras_history.node for tensor in outputs]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.parent_nodes)
        if not node.parent_nodes and node.output_tensors[0] not in inputs:
            found.append(node.output_tensors[0])
    return found
