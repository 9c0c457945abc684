from kerascope.engine.arguments import to_list


def run(self, inputs, masks):
    tensor_map = {}
    for x, y, mask in zip(self.inputs, inputs, masks, strict=True):
        tensor_map[str(id(x))] = (y, mask)

    computed_data = []
    depth_keys = sorted(self.nodes_by_depth, reverse=True)
    for depth in depth_keys:
        nodes = self.nodes_by_depth[depth]
        for node in nodes:
            layer = node.outbound_layer
            if layer in self.input_layers:
                continue
            computed_data.clear()
            for x in node.input_tensors:
                computed_data.append(tensor_map[str(id(x))])
            if len(computed_data) == 1:
                computed_tensor, computed_mask = computed_data[0]
            else:
                computed_tensor, computed_mask = map(list, zip(*computed_data))
            output_tensors = to_list(layer.call(computed_tensor, computed_mask))
            mask = layer.compute_mask(computed_tensor, computed_mask)
            for place, x in enumerate(node.output_tensors):
                own = mask[place] if isinstance(mask, list) else mask
                tensor_map[str(id(x))] = (output_tensors[place], own)
    return [tensor_map[str(id(x))][0] for x in self.outputs]
