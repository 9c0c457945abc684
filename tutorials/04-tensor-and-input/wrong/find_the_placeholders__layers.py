"""Returns the InputLayers instead of their tensors.

en: expected placeholders_of(dense_3.output) to hold tensors, yours holds InputLayer
zh: placeholders_of(dense_3.output) 中应是张量，你的是 InputLayer
"""


def placeholders_of(tensor):
    node = tensor._keras_history.node
    if node.is_input:
        return [node.outbound_layer]
    return [layer for x in node.input_tensors for layer in placeholders_of(x)]
