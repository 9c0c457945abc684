"""Networks for the checkers of graph walks: drawn by lot, and towers that nobody may walk twice.

Exercises that show one network let an answer pass that fits this one alone. These have layers that
are called twice, inputs that nothing uses, tensors that several calls take, merges of a tensor
with itself and of three; the same seed gives the same network everywhere.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from kerascope.backend.graph import Tensor
from kerascope.layers import Add, Dense, Input


class Network(NamedTuple):
    """A network and what a message calls it.

    Attributes
    ----------
    inputs : list of Tensor
        Those that the outputs depend on, in the order in which they were made.
    outputs : list of Tensor
    words : str
        The outputs as calls: "add4(shared(x0), dense2(x1))".
    """

    inputs: list[Tensor]
    outputs: list[Tensor]
    words: str


def drawn_networks(number: int = 8, outputs: int = 1) -> list[Network]:
    """Return networks drawn by lot, the same ones each time."""
    return [_drawn(random.Random(seed), outputs) for seed in range(number)]


def _drawn(lots: random.Random, outputs: int) -> Network:
    inputs = [Input(shape=(4,), name=f"x{n}") for n in range(3)]
    shared = Dense(4, name="shared")
    words = {tensor: tensor.name for tensor in inputs}
    for number in range(6):
        kind = "shared" if number in (1, 4) else lots.choice(("dense", "add", "add"))
        known = list(words)
        if kind == "add":
            name = f"add{number}"
            one, other = lots.choice(known[-2:]), lots.choice(known)
            taken = [one, other] if number < 5 else [one, other, lots.choice(known)]
            made = Add(name=name)(taken)
            words[made] = f"{name}({', '.join(words[tensor] for tensor in taken)})"
        else:
            name = "shared" if kind == "shared" else f"dense{number}"
            one = lots.choice(known[-3:])
            made = (shared if kind == "shared" else Dense(4, name=name))(one)
            words[made] = f"{name}({words[one]})"
    ends = list(words)[-outputs:][::-1]
    reached = {tensor for end in ends for tensor in inputs if _depends(end, tensor)}
    return Network(
        [tensor for tensor in inputs if tensor in reached],
        ends,
        ", ".join(words[end] for end in ends),
    )


def _depends(tensor: Tensor, on: Tensor) -> bool:
    waiting, seen = [tensor], set()
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            node = one._keras_history.node
            waiting.extend([] if node.is_input else node.input_tensors)
    return on in seen


class CountedNode:
    """A node that counts how often the nodes of its graph are asked for their parents.

    Parameters
    ----------
    name : str
    parents : list of CountedNode
    asked : list of str
        Where each question is written down, by the name of the node.
    """

    def __init__(self, name: str, parents: list[CountedNode], asked: list[str]) -> None:
        self.name = name
        self.outbound_layer: Any = type("Layer", (), {"name": name})()
        self.layer = self.outbound_layer
        self._parents = parents
        self._asked = asked

    @property
    def parent_nodes(self) -> list[CountedNode]:
        """The nodes whose outputs it takes."""
        self._asked.append(self.name)
        return self._parents


def tower(levels: int) -> tuple[CountedNode, list[str]]:
    """Return the top of a tower, and the list of the questions that its nodes will be asked.

    Each node takes the one below it twice: there are `levels + 1` nodes and 2 ** levels ways down.
    """
    asked: list[str] = []
    node = CountedNode("level_0", [], asked)
    for level in range(1, levels + 1):
        node = CountedNode(f"level_{level}", [node, node], asked)
    return node, asked
