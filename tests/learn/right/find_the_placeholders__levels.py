def placeholders_of(tensor):
    level, inputs, seen = {tensor}, set(), set()
    while level:
        seen |= level
        inputs |= {x for x in level if x._keras_history.node.is_input}
        level = {
            x
            for one in level - inputs
            for x in one._keras_history.node.input_tensors
            if x not in seen
        }
    return inputs
