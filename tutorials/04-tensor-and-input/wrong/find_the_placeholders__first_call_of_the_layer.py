"""Takes the layer's first node instead of the tensor's own node.

en: expected placeholders_of(shared(b)) to be ['b'], yours is ['a']: shared was called on a, then on b; tensor._keras_history.node is the call that made a tensor
zh: placeholders_of(shared(b)) 应为 ['b']，你的是 ['a']：shared 先对 a 调用，再对 b 调用；tensor._keras_history.node 才是产生该张量的那次调用
"""


def placeholders_of(tensor):
    node = tensor._keras_history.layer.inbound_nodes[0]
    if node.is_input:
        return [tensor]
    found = []
    for one in node.input_tensors:
        found += [x for x in placeholders_of(one) if x not in found]
    return found
