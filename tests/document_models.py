"""The networks that the source documents speak of, for the tests that are named after them."""

from typing import NamedTuple

from kerascope.backend.graph import Tensor
from kerascope.engine.graph_map import GraphMap
from kerascope.engine.node import Node
from kerascope.layers import Add, Dense, Input, add
from kerascope.models import Model

EXAMPLE = """
from keras.layers import Input, Dense
from keras.models import Model
import numpy as np

data = np.random.normal(size=(50, 20))
labels = np.random.randint(0, 2, (50))

inputs = Input(shape=(20,))
x = Dense(64, activation='relu')(inputs)
x = Dense(64, activation='relu')(x)
predictions = Dense(1, activation='softmax')(x)

model = Model(input=inputs, output=predictions)
model.compile(optimizer='rmsprop',
              loss='binary_crossentropy',
              metrics=['accuracy'])
model.fit(data, labels)  # starts training
"""


def example(activation: str = "sigmoid") -> Model:
    """S4's network 20-64-64-1, not compiled."""
    inputs = Input(shape=(20,))
    x = Dense(64, activation="relu")(inputs)
    x = Dense(64, activation="relu")(x)
    return Model(inputs, Dense(1, activation=activation)(x))


def compiled_example(activation: str = "sigmoid", loss: str = "binary_crossentropy") -> Model:
    model = example(activation)
    model.compile("rmsprop", loss, metrics=["accuracy"])
    return model


class Ends(NamedTuple):
    """Where a graph begins and ends."""

    inputs: list[Tensor]
    outputs: list[Tensor]


def diamond(order: str = "CB") -> Ends:
    """add(C(A(x)), B(x)): two ways from x to the sum, of two layers and of one."""
    x = Input(shape=(4,), name="x")
    ends = {"B": Dense(4, name="B")(x), "C": Dense(4, name="C")(Dense(4, name="A")(x))}
    return Ends([x], [Add(name="add")([ends[name] for name in order])])


def residual_blocks(number: int, layers: int, shared: bool = False) -> Ends:
    """h = add(h, f(h)) again and again; f is some Dense layers, new ones or always the same."""
    x = h = Input(shape=(4,))
    same = Dense(4)
    for _ in range(number):
        f = h
        for _ in range(layers):
            f = (same if shared else Dense(4))(f)
        h = add([h, f])
    return Ends([x], [h])


def depths(graph_map: GraphMap) -> dict[str, int]:
    """The depth of each node by the node's key."""
    return {node.name: depth for node, depth in graph_map.nodes_depths.items()}


def close_a_cycle(first: Node, last: Node) -> None:
    """Feed the first of two connected nodes with the output of the last, which no call can do."""
    first.input_tensors[0] = last.output_tensors[0]
