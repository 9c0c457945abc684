"""layer(...) is called instead of layer.call(...).

en: expected Nodes of the layer after the run to be 1, yours is 2: `layer(...)` makes a Node, layer.call(...) does not
zh: 运行之后该层的 Node 数应为 1，你的是 2：`layer(...)` 会造 Node，layer.call(...) 不会
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
        self.trainable_weights = [w for layer in self.layers for w in layer.trainable_weights]

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
                output = node.outbound_layer(computed if len(computed) > 1 else computed[0])
                tensor_map[node.output_tensors[0]] = output
        return [tensor_map[x] for x in self.outputs]
