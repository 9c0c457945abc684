"""An input that is reached on two paths is listed twice.

en: expected placeholders_of(beside.output) to be ['x'], yours is ['x', 'x']
zh: placeholders_of(beside.output) 应为 ['x']，你的是 ['x', 'x']
"""


def placeholders_of(tensor):
    found, seen, waiting = [], set(), [tensor]
    while waiting:
        one = waiting.pop()
        node = one._keras_history.node
        if node.is_input:
            found.append(one)
        elif one not in seen:
            seen.add(one)
            waiting.extend(node.input_tensors)
    return found
