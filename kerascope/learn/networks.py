"""Random test cases for checkers: networks, cycles, formulas, and towers of shared nodes.

A checker with one example accepts an answer that fits only this example. These networks have
several inputs and outputs, shared layers, unused inputs, tensors used by several calls, merges of
a tensor with itself, and merges of three tensors. The same seed gives the same network everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from kerascope import backend as K
from kerascope.backend import Tensor, Variable
from kerascope.engine.graph_map import map_graph
from kerascope.engine.node import Node
from kerascope.layers import Add, Dense, Input
from kerascope.utils.generic_utils import unpack_singleton


class Network(NamedTuple):
    """A random network as a test case, with its outputs written as calls, for messages.

    Attributes
    ----------
    inputs : list of Tensor
        The inputs that the outputs depend on, in the order of their creation.
    outputs : list of Tensor
    words : str
        The outputs written as calls: "add4(shared(x0), dense2(x1))".
    """

    inputs: list[Tensor]
    outputs: list[Tensor]
    words: str


def drawn_networks(number: int = 8, outputs: int = 1) -> list[Network]:
    """Return `number` simple random networks, followed by as many from `mixed_networks`.

    Each call returns equal networks.
    """
    first = [_drawn(random.Random(seed), outputs) for seed in range(number)]
    return first + mixed_networks(number, outputs)


def mixed_networks(
    number: int = 8,
    outputs: int = 1,
    layer: Callable[[str], Any] = lambda name: Dense(4, name=name),
    merge: Callable[[str], Any] = lambda name: Add(name=name),
) -> list[Network]:
    """Return random networks with two shared layers. An output can be an input of other layers.

    Parameters
    ----------
    number : int
        How many networks.
    outputs : int
        How many outputs each network has, in random order.
    layer, merge : callable
        Return a new layer with the given name. The layer from `layer` is called on a tensor with
        4 features, the layer from `merge` on a list of two or three such tensors.
    """
    return [_mixed(random.Random(100 + n), outputs, layer, merge) for n in range(number)]


def _mixed(
    rng: random.Random, outputs: int, layer: Callable[[str], Any], merge: Callable[[str], Any]
) -> Network:
    inputs = [Input(shape=(4,), name=f"x{n}") for n in range(3)]
    shared = {name: layer(name) for name in "st"}
    words = {tensor: tensor.name for tensor in inputs}
    for number, kind in enumerate(rng.sample(["s", "s", "t", "t", "merge", "merge", "own"], 7)):
        known = list(words)
        if kind == "merge":
            name, made = f"m{number}", merge(f"m{number}")
            taken = [known[-1], *rng.choices(known, k=rng.choice((1, 1, 2)))]
            rng.shuffle(taken)
        else:
            name = kind if kind in shared else f"d{number}"
            made, taken = shared.get(name) or layer(name), [rng.choice([known[-1], *known[-2:]])]
        result = made(taken if len(taken) > 1 else taken[0])
        words[result] = f"{name}({', '.join(words[tensor] for tensor in taken)})"
    *others, last = list(words)[len(inputs) :]
    ends = [last, *rng.sample(others, outputs - 1)]
    rng.shuffle(ends)
    needed = [x for x in inputs if any(_depends(end, x) for end in ends)]
    return Network(needed, ends, ", ".join(words[end] for end in ends))


def _drawn(rng: random.Random, outputs: int) -> Network:
    inputs = [Input(shape=(4,), name=f"x{n}") for n in range(3)]
    shared = Dense(4, name="shared")
    words = {tensor: tensor.name for tensor in inputs}
    for number in range(6):
        kind = "shared" if number in (1, 4) else rng.choice(("dense", "add", "add"))
        known = list(words)
        if kind == "add":
            name = f"add{number}"
            one, other = rng.choice(known[-2:]), rng.choice(known)
            taken = [one, other] if number < 5 else [one, other, rng.choice(known)]
            made = Add(name=name)(taken)
            words[made] = f"{name}({', '.join(words[tensor] for tensor in taken)})"
        else:
            name = "shared" if kind == "shared" else f"dense{number}"
            one = rng.choice(known[-3:])
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


def nodes_behind(tensors: list[Tensor]) -> list[Node]:
    """Return all nodes that the tensors depend on, in breadth-first order from the tensors."""
    waiting = [tensor._keras_history.node for tensor in tensors]
    found: list[Node] = []
    for node in waiting:
        if node not in found:
            found.append(node)
            waiting.extend(node.parent_nodes)
    return found


def mirrored(
    network: Network, make_input: Callable[[Any], Any], make_layer: Callable[[Any], Any]
) -> dict[Tensor, Any]:
    """Rebuild a network with the classes of another engine.

    Parameters
    ----------
    network : Network
    make_input : callable
        Returns a new input tensor for an InputLayer of the network.
    make_layer : callable
        Returns a new layer for any other layer of the network. It is called on the mirrored inputs.

    Returns
    -------
    dict
        For each tensor of the network, its counterpart.
    """
    copies: dict[Tensor, Any] = {}
    layers: dict[Any, Any] = {}
    for node in map_graph(network.inputs, network.outputs).nodes_in_decreasing_depth:
        if node.is_input:
            made = make_input(node.layer)
        else:
            if node.layer not in layers:
                layers[node.layer] = make_layer(node.layer)
            made = layers[node.layer](unpack_singleton([copies[x] for x in node.input_tensors]))
        copies[node.output_tensors[0]] = made
    return copies


def close_a_cycle(network: Network, seed: int) -> list[Node]:
    """Change one input of a node so that the network has exactly one cycle.

    Return the nodes of the cycle.
    """
    rng = random.Random(seed)
    calls = [node for node in nodes_behind(network.outputs) if not node.is_input]
    ways = [way for node in calls for way in _ways_back(node, [])]
    ends = [(way[0], way[-1]) for way in ways]
    chosen = [way for way in ways if ends.count((way[0], way[-1])) == 1]
    length = rng.choice((1, 2, 3))
    way = rng.choice([one for one in chosen if len(one) == length] or chosen)
    tensors = way[-1].input_tensors
    tensors[rng.randrange(len(tensors))] = way[0].output_tensors[0]
    return way


def _ways_back(node: Node, before: list[Node]) -> list[list[Node]]:
    """Return every path from a node through its parents and ancestors, without input nodes.

    A path can end at any node, also at the first. `before` is put in front of each path.
    """
    way = [*before, node]
    parents = dict.fromkeys(one for one in node.parent_nodes if not one.is_input)
    return [way, *(further for one in parents for further in _ways_back(one, way))]


def drawn_formulas(number: int = 6) -> list[tuple[str, Tensor, list[Variable]]]:
    """Return `number` random formulas, each as (text, scalar tensor, its variables)."""
    return [_formula(random.Random(seed)) for seed in range(number)]


def _formula(rng: random.Random) -> tuple[str, Tensor, list[Variable]]:
    numbers = [[round(rng.uniform(-2, 2), 2) for _ in range(3)] for _ in range(2)]
    variables = [K.variable(row, "float64", f"v{n}") for n, row in enumerate(numbers)]
    known: dict[Tensor, str] = {variable: f"v{n}" for n, variable in enumerate(variables)}
    for _ in range(5):
        one, other = rng.choices(list(known)[-3:], k=2)
        function = rng.choice((K.sin, K.tanh, None, None))
        if function is not None:
            known[function(one)] = f"{function.__name__}({known[one]})"
        elif rng.random() < 0.7:
            known[one * other] = f"({known[one]} * {known[other]})"
        else:
            known[one - other] = f"({known[one]} - {known[other]})"
    last = list(known)[-1]
    return f"sum({known[last]} ** 2)", K.sum(last * last), variables


class CountedNode:
    """A node that records each read of its `parent_nodes`, so that visits can be counted.

    Parameters
    ----------
    name : str
    parents : list of CountedNode
    asked : list of str
        The shared record: each read appends the name of the node.
    """

    def __init__(self, name: str, parents: list[CountedNode], asked: list[str]) -> None:
        self.name = name
        self.outbound_layer: Any = type("Layer", (), {"name": name})()
        self.layer = self.outbound_layer
        self._parents = parents
        self._asked = asked

    @property
    def parent_nodes(self) -> list[CountedNode]:
        """The nodes whose outputs are inputs of this node. Each read is recorded in the list."""
        self._asked.append(self.name)
        return self._parents


def tower(levels: int) -> tuple[CountedNode, list[str]]:
    """Return the top node of a tower of nodes, and the list that records the visits.

    Each read of a node's `parent_nodes` appends the node's name to the list. Each node uses the
    node below it twice, so there are `levels + 1` nodes and 2 ** levels paths. A walk that visits
    a node more than once takes exponential time.
    """
    asked: list[str] = []
    node = CountedNode("level_0", [], asked)
    for level in range(1, levels + 1):
        node = CountedNode(f"level_{level}", [node, node], asked)
    return node, asked
