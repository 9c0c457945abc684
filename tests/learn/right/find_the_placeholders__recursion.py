def placeholders_of(tensor):
    found, seen = [], []

    def walk(one):
        if any(one is other for other in seen):
            return
        seen.append(one)
        node = one._keras_history.node
        if node.is_input:
            found.append(one)
        else:
            for x in node.input_tensors:
                walk(x)

    walk(tensor)
    return found
