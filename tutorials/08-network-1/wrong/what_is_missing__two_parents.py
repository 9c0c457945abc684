"""Walks only two inputs of a merge of three.

en: expected what_is_missing([], [add5(shared(dense3(dense2(x2))), dense2(x2), x0), shared(dense3(dense2(x2)))]) to be ['x0', 'x2'], yours is ['x2']
zh: what_is_missing([], [add5(shared(dense3(dense2(x2))), dense2(x2), x0), shared(dense3(dense2(x2)))]) 应为 ['x0', 'x2']，你的是 ['x2']
"""


def what_is_missing(inputs, outputs):
    met, waiting = [], [tensor._keras_history.node for tensor in outputs]
    while waiting:
        node = waiting.pop()
        if node not in met:
            met.append(node)
            waiting.extend(node.parent_nodes[:2])
    sources = [node.output_tensors[0] for node in met if not node.parent_nodes]
    return [tensor for tensor in sources if tensor not in inputs]
