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
            waiting.extend(node.input_tensors)
    return found
