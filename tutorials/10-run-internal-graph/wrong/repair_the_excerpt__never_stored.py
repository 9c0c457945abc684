"""The outputs are thrown away.

en: expected second to be called on one tensor, yours was called on a list of 0
zh: second 应以一个张量来调用，你用的是含 0 项的列表
"""

from kerascope.engine.arguments import to_list


def run(self, inputs, masks):
    tensor_map = {}
    for x, y, mask in zip(self.inputs, inputs, masks, strict=True):
        tensor_map[str(id(x))] = (y, mask)

    depth_keys = sorted(self.nodes_by_depth, reverse=True)
    for depth in depth_keys:
        nodes = self.nodes_by_depth[depth]
        for node in nodes:
            layer = node.outbound_layer
            computed_data = []
            for x in node.input_tensors:
                if str(id(x)) in tensor_map:
                    computed_data.append(tensor_map[str(id(x))])
            tensors = [y for y, _ in computed_data]
            masks = [mask for _, mask in computed_data]
            if len(computed_data) == 1:
                tensors, masks = tensors[0], masks[0]
            output_tensors = to_list(layer.call(tensors, masks))
    return [tensor_map[str(id(x))][0] for x in self.outputs]
