def what_is_missing(inputs, outputs):
    seen = dict.fromkeys(outputs)
    waiting = list(seen)
    while waiting:
        layer, node_index, _ = waiting.pop()._keras_history
        node = layer.inbound_nodes[node_index]
        for x in node.input_tensors:
            if x not in seen:
                seen[x] = None
                waiting.append(x)
    given = set(inputs)
    return [x for x in seen if x._keras_history.node.is_input and x not in given]
