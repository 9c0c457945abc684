"""A tensor from the middle among the inputs stops the walk.

en: expected what_is_missing([h], [y]) to be ['a'], yours is []
zh: what_is_missing([h], [y]) 应为 ['a']，你的是 []
"""


def what_is_missing(inputs, outputs):
    met, waiting = [], [tensor._keras_history.node for tensor in outputs]
    while waiting:
        node = waiting.pop()
        if node not in met and node.output_tensors[0] not in inputs:
            met.append(node)
            waiting.extend(node.parent_nodes)
    sources = [node.output_tensors[0] for node in met if not node.parent_nodes]
    return [tensor for tensor in sources if tensor not in inputs]
