"""Your own engine, part 4: a Network, which runs its graph again on other inputs.

A Network is a Layer, so it can be called and put into another network. Its weights are those of its
layers, in the order of `layers`; each weight once.

- The arguments `inputs` and `outputs` are a tensor or a list; the attributes are lists.
- run_internal_graph(inputs): a list with one new tensor for each of self.inputs. Go through
  `nodes_by_depth` from the deepest to 0, and compute the output of each node from the computed
  inputs, by the `call` of its layer. (Not by `layer(...)`: that would make new Nodes.) The node of
  an Input computes nothing. A layer with several inputs gets a list, otherwise a tensor. Return the
  list of the new outputs.
- call(inputs): a tensor or a list; returns the tensor of the first output.

Fill in the missing parts.
"""

from my_engine.graph_map import map_graph
from my_engine.layer import Layer


class Network(Layer):
    def __init__(self, inputs, outputs, name=None):
        super().__init__(name)
        self.built = True
        self.inputs = ...
        self.outputs = ...
        self.graph_map = map_graph(self.inputs, self.outputs)
        self.nodes_by_depth = self.graph_map.nodes_by_depth
        self.layers = self.graph_map.layers
        self.trainable_weights = ...

    def call(self, inputs):
        return ...

    def run_internal_graph(self, inputs):
        tensor_map = dict(zip(self.inputs, inputs, strict=True))
        ...
        return ...
