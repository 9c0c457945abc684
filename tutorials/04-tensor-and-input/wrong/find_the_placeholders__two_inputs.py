"""Walks only two inputs of a merge of three.

en: expected placeholders_of(add5(shared(dense3(dense2(x2))), dense2(x2), x0)) to be ['x0', 'x2'], yours is ['x2']
zh: placeholders_of(add5(shared(dense3(dense2(x2))), dense2(x2), x0)) 应为 ['x0', 'x2']，你的是 ['x2']
"""


def placeholders_of(tensor):
    found, seen, waiting = [], set(), [tensor]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        node = one._keras_history.node
        if node.is_input:
            found.append(one)
        else:
            waiting.extend(node.input_tensors[:2])
    return found
