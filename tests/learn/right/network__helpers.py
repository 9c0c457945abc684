"""A Network: a graph of layers that can be run again on other inputs, so it is a layer too."""

from my_engine.graph_map import map_graph
from my_engine.layer import Layer


def as_list(x):
    return list(x) if isinstance(x, list | tuple) else [x]


class Network(Layer):
    def __init__(self, inputs, outputs, name=None):
        super().__init__(name)
        self.built = True
        self.inputs = as_list(inputs)
        self.outputs = as_list(outputs)
        self.graph_map = map_graph(self.inputs, self.outputs)
        self.nodes_by_depth = self.graph_map.nodes_by_depth
        self.layers = self.graph_map.layers
        self.trainable_weights = [w for layer in self.layers for w in layer.trainable_weights]

    def call(self, inputs):
        return self.run_internal_graph(as_list(inputs))[0]

    def run_internal_graph(self, inputs):
        """Call each layer again, the deepest node first, and return the new outputs."""
        tensor_map = dict(zip(self.inputs, inputs, strict=True))
        calls = [node for nodes in self.nodes_by_depth.values() for node in nodes]
        for node in calls:
            self.rerun(node, tensor_map)
        return list(map(tensor_map.get, self.outputs))

    def rerun(self, node, tensor_map):
        if node.is_input:
            return
        first, *others = map(tensor_map.get, node.input_tensors)
        layer = node.outbound_layer
        tensor_map[node.output_tensors[0]] = layer.call([first, *others] if others else first)
