def placeholders_of(tensor):
    found, met, waiting = {}, set(), [tensor]
    while waiting:
        one = waiting.pop()
        if one in met:
            continue
        met.add(one)
        node = one._keras_history.node
        if node.is_input:
            found[one] = True
        waiting += node.input_tensors
    return found.keys()
