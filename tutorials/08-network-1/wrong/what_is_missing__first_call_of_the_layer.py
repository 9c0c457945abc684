"""Takes the layer's first node instead of the tensor's own node.

en: expected what_is_missing([], [shared(b)]) to be ['b'], yours is ['a']: shared was called on a, then on b; tensor._keras_history.node is the call that made a tensor
zh: what_is_missing([], [shared(b)]) 应为 ['b']，你的是 ['a']：shared 先对 a 调用，再对 b 调用；tensor._keras_history.node 才是产生该张量的那次调用
"""


def what_is_missing(inputs, outputs):
    met, waiting = [], [tensor._keras_history.layer.inbound_nodes[0] for tensor in outputs]
    while waiting:
        node = waiting.pop()
        if node not in met:
            met.append(node)
            waiting.extend(node.parent_nodes)
    sources = [node.output_tensors[0] for node in met if not node.parent_nodes]
    return [tensor for tensor in sources if tensor not in inputs]
