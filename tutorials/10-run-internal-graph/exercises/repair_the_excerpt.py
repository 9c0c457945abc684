"""Repair the loop that S4:325 prints.

    run(self, inputs, masks)

must call every layer of the network `self` once more and return the list of the network's outputs.
It contains the document's loop and, before it, one added line that makes the list `computed_data`.
It does not work: `computed_data` is never emptied, and no output is stored in `tensor_map`.

Repair it so that it runs any network whose layers' `call` takes (inputs, mask):

- a layer with one input tensor is called on the tensor, one with several on the list of them, and
  likewise with their masks;
- each output is stored together with its mask, which the layer computes:
  layer.compute_mask(tensors, masks);
- the result is the list of the tensors (without masks) that are stored for self.outputs.
"""

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
            for x in node.input_tensors:
                if str(id(x)) in tensor_map:
                    computed_data.append(tensor_map[str(id(x))])
            computed_tensor, computed_mask = computed_data[0]
            output_tensors = to_list(layer.call(computed_tensor, computed_mask))
    return ...
