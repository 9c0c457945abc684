"""Fill the loop of run_internal_graph.

`tensor_map` holds the arrays that have been computed so far. Its keys are tensors of the model,
node.input_tensors and node.output_tensors; its values are arrays. The loop goes by falling depth,
so that all inputs of a node are there when its turn comes.

For each node: take the arrays of its inputs, call its layer on them (on the array itself if there
is one, on the list if there are several), and store the output under node.output_tensors[0]. An
input node is not called: its array is in tensor_map already.
"""


def run_internal_graph(model, arrays, tensor_map):
    for tensor, array in zip(model.inputs, arrays, strict=True):
        tensor_map[tensor] = array
    for depth in ...:
        for node in model.nodes_by_depth[depth]:
            if node.is_input:
                continue
            ...
    return [tensor_map[tensor] for tensor in model.outputs]
