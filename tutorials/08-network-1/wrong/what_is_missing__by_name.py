"""Tensors are compared by name.

en: expected what_is_missing([another a], [y]) to be ['a'], yours is []
zh: what_is_missing([another a], [y]) 应为 ['a']，你的是 []
"""


def what_is_missing(inputs, outputs):
    met, waiting = [], [tensor._keras_history.node for tensor in outputs]
    while waiting:
        node = waiting.pop()
        if node not in met:
            met.append(node)
            waiting.extend(node.parent_nodes)
    sources = [node.output_tensors[0] for node in met if not node.parent_nodes]
    return [tensor for tensor in sources if tensor.name not in [x.name for x in inputs]]
