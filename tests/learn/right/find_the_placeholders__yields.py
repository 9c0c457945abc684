def placeholders_of(tensor, seen=None):
    seen = set() if seen is None else seen
    if tensor in seen:
        return
    seen.add(tensor)
    node = tensor._keras_history.node
    if node.is_input:
        yield tensor
    for one in node.input_tensors:
        yield from placeholders_of(one, seen)
