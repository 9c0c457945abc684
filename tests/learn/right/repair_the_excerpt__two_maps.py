from kerascope.engine.arguments import to_list


def single(parts):
    return parts[0] if len(parts) == 1 else parts


def run(self, inputs, masks):
    arrays = dict(zip(self.inputs, inputs))
    known_masks = dict(zip(self.inputs, masks))
    nodes = [n for depth in sorted(self.nodes_by_depth)[::-1] for n in self.nodes_by_depth[depth]]
    for node in nodes:
        if not node.parent_nodes:
            continue
        tensors = single([arrays[x] for x in node.input_tensors])
        given = single([known_masks[x] for x in node.input_tensors])
        outputs = to_list(node.outbound_layer.call(tensors, given))
        arrays.update(zip(node.output_tensors, outputs))
        made = node.outbound_layer.compute_mask(tensors, given)
        made = made if isinstance(made, list) else [made] * len(outputs)
        known_masks.update(zip(node.output_tensors, made))
    return list(map(arrays.__getitem__, self.outputs))
