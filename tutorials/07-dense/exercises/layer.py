"""Your own engine, part 2: Node, Layer, Input and Dense.

The tensors and ops are those of part 1 (`from my_engine.graph import ...`: yours, if it has passed,
otherwise ours). A Layer holds weights, and each call of it makes a Node.

- Node(outbound_layer, input_tensors, output_tensors): append it to the layer's `inbound_nodes`, and
  write into each output tensor where it comes from: _keras_history is
  KerasHistory(layer, node_index, tensor_index), both indices from 0. The node of an InputLayer has
  the same tensor as its input and its output, so `is_input` is true for it, and `parent_nodes` is
  empty. For other nodes, `parent_nodes` are the Nodes that made the input tensors.
- Layer: a layer without a name gets one of its own, such as dense_1, dense_2. add_weight(value,
  name) makes a Tensor that holds the value as float64, named layer/weight, appends it to
  `trainable_weights`, and returns it. get_weights returns copies of the values; set_weights writes
  others.
- layer(inputs), with a tensor or a list of tensors: `build` at the first call only, with the shape
  (for a list, with the list of shapes); then `call`; a Node; and the output is returned.
- Input(shape): makes an InputLayer, and returns its tensor, whose shape begins with None.
- Dense: activation(x . kernel + bias). The kernel is drawn uniformly between -limit and limit, with
  limit = sqrt(6 / (inputs + units)), by np.random.uniform; the bias is zeros.

Fill in the missing parts.
"""

from collections import Counter, namedtuple

import numpy as np
from my_engine.graph import Dot, Relu, Softmax, Tensor

KerasHistory = namedtuple("KerasHistory", "layer node_index tensor_index")
ACTIVATIONS = {None: lambda x: x, "relu": Relu(), "softmax": Softmax()}
numbers = Counter()


class Node:
    def __init__(self, outbound_layer, input_tensors, output_tensors):
        self.outbound_layer = outbound_layer
        self.input_tensors = input_tensors
        self.output_tensors = output_tensors
        self.is_input = ...
        ...

    @property
    def parent_nodes(self):
        return ...


class Layer:
    def __init__(self, name=None):
        self.name = ...
        self.inbound_nodes = []
        self.trainable_weights = []
        self.built = False

    def add_weight(self, value, name):
        return ...

    def get_weights(self):
        return ...

    def set_weights(self, arrays): ...

    def build(self, input_shape):
        pass

    def call(self, inputs):
        raise NotImplementedError

    def __call__(self, inputs):
        return ...


class InputLayer(Layer):
    def __init__(self, shape, name=None):
        super().__init__(name)
        self.built = True
        ...


def Input(shape, name=None):
    return ...


class Dense(Layer):
    def __init__(self, units, activation=None, name=None):
        super().__init__(name)
        self.units = units
        self.activation = ACTIVATIONS[activation]

    def build(self, input_shape):
        self.kernel = ...
        self.bias = ...

    def call(self, inputs):
        return ...
