"""The parent is always the first call of the layer.

en: expected parent_nodes[0] to be the Node that made input 0, yours is a Node
zh: parent_nodes[0] 应是造出第 0 个输入的 Node，你的是 Node 对象
"""

from collections import Counter, namedtuple

import numpy as np
from my_engine.graph import Dot, Relu, Softmax, Tensor

KerasHistory = namedtuple("KerasHistory", "layer node_index tensor_index")
ACTIVATIONS = {None: lambda x: x, "relu": Relu(), "softmax": Softmax()}
numbers = Counter()  # of the layers of each kind, for their names


class Node:
    """One call of one layer."""

    def __init__(self, outbound_layer, input_tensors, output_tensors):
        self.outbound_layer = outbound_layer
        self.input_tensors = input_tensors
        self.output_tensors = output_tensors
        self.is_input = input_tensors == output_tensors
        node_index = len(outbound_layer.inbound_nodes)
        outbound_layer.inbound_nodes.append(self)
        for tensor_index, tensor in enumerate(output_tensors):
            tensor._keras_history = KerasHistory(outbound_layer, node_index, tensor_index)

    @property
    def parent_nodes(self):
        histories = [] if self.is_input else [x._keras_history for x in self.input_tensors]
        return [h.layer.inbound_nodes[0] for h in histories]


class Layer:
    """A part of a network: `build` makes its weights, `call` its output."""

    def __init__(self, name=None):
        kind = type(self).__name__.lower()
        numbers[kind] += 1
        self.name = name or f"{kind}_{numbers[kind]}"
        self.inbound_nodes = []
        self.trainable_weights = []
        self.built = False

    def add_weight(self, value, name):
        value = np.asarray(value, dtype="float64")
        weight = Tensor(value.shape, name=f"{self.name}/{name}", value=value)
        self.trainable_weights.append(weight)
        return weight

    def get_weights(self):
        return [weight.value.copy() for weight in self.trainable_weights]

    def set_weights(self, arrays):
        for weight, array in zip(self.trainable_weights, arrays, strict=True):
            weight.value = np.array(array, dtype="float64")

    def build(self, input_shape):
        """Make the weights; a layer without weights has nothing to do."""

    def call(self, inputs):
        raise NotImplementedError

    def __call__(self, inputs):
        is_list = isinstance(inputs, list)
        if not self.built:
            self.build([x.shape for x in inputs] if is_list else inputs.shape)
            self.built = True
        output = self.call(inputs)
        Node(self, inputs if is_list else [inputs], [output])
        return output


class InputLayer(Layer):
    """The beginning of a network: its only Node has the tensor as its input and its output."""

    def __init__(self, shape, name=None):
        super().__init__(name)
        self.built = True
        tensor = Tensor((None, *shape), name=self.name)
        Node(self, [tensor], [tensor])


def Input(shape, name=None):
    return InputLayer(shape, name).inbound_nodes[0].output_tensors[0]


class Dense(Layer):
    """activation(x . kernel + bias)."""

    def __init__(self, units, activation=None, name=None):
        super().__init__(name)
        self.units = units
        self.activation = ACTIVATIONS[activation]

    def build(self, input_shape):
        size = input_shape[-1]
        limit = np.sqrt(6 / (size + self.units))
        kernel = np.random.uniform(-limit, limit, (size, self.units))
        self.kernel = self.add_weight(kernel, "kernel")
        self.bias = self.add_weight(np.zeros(self.units), "bias")

    def call(self, inputs):
        return self.activation(Dot()(inputs, self.kernel) + self.bias)
