"""Random models for `compare`: images, sequences and vectors, with branches that join again.

The same seed builds the same model; the order in which branches are made, and all names, may be
others, as in a port.
"""

import numpy as np

import kerascope as ks
from kerascope.layers import (
    GRU,
    LSTM,
    Activation,
    Add,
    AveragePooling2D,
    BatchNormalization,
    Concatenate,
    Conv1D,
    Conv2D,
    Dense,
    DepthwiseConv2D,
    Dropout,
    Flatten,
    GlobalAveragePooling2D,
    LayerNormalization,
    MaxPooling2D,
    Multiply,
    Reshape,
)

ACTIVATIONS = ("relu", "tanh", "linear", "sigmoid", "elu")


class Builder:
    """Builds the model of a seed; `turned` makes the second branch of each fork first."""

    def __init__(self, seed, prefix="layer", turned=False):
        self.random = np.random.default_rng(seed)
        self.prefix, self.turned, self.count = prefix, turned, 0

    def name(self):
        self.count += 1
        return f"{self.prefix}_{self.count}"

    def choice(self, options):
        return options[int(self.random.integers(len(options)))]

    def build(self):
        kind = self.choice(("images", "vectors", "sequence"))
        shape = {"images": (8, 8, 3), "vectors": (6,), "sequence": (5, 4)}[kind]
        x = ks.Input(shape, name=self.name())
        step = {"images": self.image, "vectors": self.vector, "sequence": self.sequence}[kind]
        h = x
        for _ in range(int(self.random.integers(2, 5))):
            h = self.fork(h, step) if self.random.random() < 0.4 else step(h)
        if kind == "images":
            pool = self.choice((Flatten, GlobalAveragePooling2D))
            h = pool(name=self.name())(h)
        elif kind == "sequence":
            h = self.choice((LSTM, GRU))(4, name=self.name())(h)
        return ks.Model(x, Dense(3, activation="softmax", name=self.name())(h))

    def fork(self, h, step):
        """Let two branches leave one tensor and join again."""
        ways = self.choice(("dense", "skip"))
        units = h.shape[-1]
        states = []

        def branch(number):
            inner = Dense(units, activation=states[number], name=self.name())(h)
            return Dense(units, name=self.name())(inner) if number else inner

        states = [self.choice(ACTIVATIONS), self.choice(ACTIVATIONS)]
        join = self.choice((Add, Multiply, Concatenate))
        if ways == "skip":
            return join(name=self.name())([h, branch(1)])
        order = (1, 0) if self.turned else (0, 1)
        made = {number: branch(number) for number in order}
        return join(name=self.name())([made[0], made[1]])

    def image(self, h):
        kind, name = int(self.random.integers(6)), self.name()
        act = self.choice(ACTIVATIONS)
        padding = self.choice(("same", "valid")) if h.shape[1] > 3 else "same"
        if kind == 0:
            return Conv2D(4, 3, padding=padding, activation=act, name=name)(h)
        if kind == 1:
            return DepthwiseConv2D(2, padding=padding, activation=act, name=name)(h)
        if kind == 2:
            return BatchNormalization(name=name)(h)
        if kind == 3:
            return MaxPooling2D(2, strides=1, padding=padding, name=name)(h)
        if kind == 4:
            return AveragePooling2D(2, strides=1, name=name)(h) if h.shape[1] > 3 else h
        return Dropout(0.5, name=name)(Activation(act, name=self.name())(h))

    def vector(self, h):
        kind, name = int(self.random.integers(3)), self.name()
        if kind == 0:
            return LayerNormalization(name=name)(h)
        return Dense(6, activation=self.choice(ACTIVATIONS), name=name)(h)

    def sequence(self, h):
        kind, name = int(self.random.integers(4)), self.name()
        if kind == 0:
            return LSTM(4, return_sequences=True, name=name)(h)
        if kind == 1:
            return Conv1D(4, 3, padding="same", activation=self.choice(ACTIVATIONS), name=name)(h)
        if kind == 2:
            return Reshape(tuple(h.shape[1:]), name=name)(LayerNormalization(name=self.name())(h))
        return Dense(4, activation=self.choice(ACTIVATIONS), name=name)(h)


def fill(model, seed):
    """Give a model random weights; variances are above zero."""
    random = np.random.default_rng(seed)
    for layer in model.layers:
        arrays = []
        for weight, array in zip(layer.weights, layer.get_weights(), strict=True):
            new = random.normal(size=array.shape)
            arrays.append(np.abs(new) + 0.5 if "variance" in weight.name else new)
        layer.set_weights(arrays)
    return model


def pair(seed, turned=False):
    """Return a model and a port of it: the same layers and weights under other names."""
    mine = fill(Builder(seed).build(), seed)
    port = Builder(seed, "port", turned).build()
    if turned:
        copy_turned(mine, port)
    else:
        port.set_weights(mine.get_weights())
    return mine, port


def copy_turned(mine, port):
    """Copy weights where the layers were made in another order: by walking both graphs at once."""
    waiting = [(mine.outputs[0], port.outputs[0])]
    while waiting:
        one, other = (tensor._keras_history.node for tensor in waiting.pop())
        other.outbound_layer.set_weights(one.outbound_layer.get_weights())
        if not one.is_input:
            waiting += zip(one.input_tensors, other.input_tensors, strict=True)


def plant(port, seed):
    """Change one weight of a layer of the port; return the layer's name."""
    random = np.random.default_rng(seed)
    layers = [layer for layer in port.layers if layer.weights]
    layer = layers[int(random.integers(len(layers)))]
    arrays = [array.copy() for array in layer.get_weights()]
    array = arrays[int(random.integers(len(arrays)))]
    array.flat[int(random.integers(array.size))] += 1.5
    layer.set_weights(arrays)
    return layer.name
