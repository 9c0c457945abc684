from kerascope.engine.arguments import to_list


def run(self, inputs, masks):
    tensor_map = {x: pair for x, *pair in zip(self.inputs, inputs, masks, strict=True)}
    for depth in sorted(self.nodes_by_depth, reverse=True):
        for node in self.nodes_by_depth[depth]:
            if node.is_input:
                continue
            layer = node.outbound_layer
            tensors = [tensor_map[x][0] for x in node.input_tensors]
            given = [tensor_map[x][1] for x in node.input_tensors]
            if len(tensors) == 1:
                (tensors,), (given,) = tensors, given
            outputs = to_list(layer.call(tensors, given))
            output_masks = layer.compute_mask(tensors, given)
            if not isinstance(output_masks, list):
                output_masks = [output_masks] * len(outputs)
            for x, y, mask in zip(node.output_tensors, outputs, output_masks):
                tensor_map[x] = [y, mask]
    return [tensor_map[x][0] for x in self.outputs]
