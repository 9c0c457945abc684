"""The weights of a shared layer are listed for each call.

en: expected the number of trainable_weights of dense5(shared(add3(add2(shared(x2), add0(x2, x0)), x2))) to be 4, yours is 6
zh: dense5(shared(add3(add2(shared(x2), add0(x2, x0)), x2))) 的 trainable_weights 个数应为 4，你的是 6
"""

from my_engine.graph_map import map_graph
from my_engine.layer import Layer


class Network(Layer):
    def __init__(self, inputs, outputs, name=None):
        super().__init__(name)
        self.built = True
        self.inputs = inputs if isinstance(inputs, list) else [inputs]
        self.outputs = outputs if isinstance(outputs, list) else [outputs]
        self.graph_map = map_graph(self.inputs, self.outputs)
        self.nodes_by_depth = self.graph_map.nodes_by_depth
        self.layers = self.graph_map.layers
        self.trainable_weights = [
            w
            for nodes in self.nodes_by_depth.values()
            for node in nodes
            for w in node.outbound_layer.trainable_weights
        ]

    def call(self, inputs):
        return self.run_internal_graph(inputs if isinstance(inputs, list) else [inputs])[0]

    def run_internal_graph(self, inputs):
        """Call each layer again, the deepest node first, and return the new outputs."""
        tensor_map = dict(zip(self.inputs, inputs, strict=True))
        for nodes in self.nodes_by_depth.values():
            for node in nodes:
                if node.is_input:
                    continue
                computed = [tensor_map[x] for x in node.input_tensors]
                output = node.outbound_layer.call(computed if len(computed) > 1 else computed[0])
                tensor_map[node.output_tensors[0]] = output
        return [tensor_map[x] for x in self.outputs]
