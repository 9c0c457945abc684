nodes_before, nodes_after = range(0, 3, 2)
history_of_a, history_of_b = [0, 0], [1, 0]
kernel, recurrent_kernel, bias = 256 * 4 * 32, 32 * 4 * 32, 4 * 32
parameters = kernel + recurrent_kernel + bias


def second_output(layer):
    first, second, *others = layer.inbound_nodes
    return second.output_tensors[0]
