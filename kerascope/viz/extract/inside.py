"""What is inside a layer around other layers, where no Node says it.

A wrapper calls its layers on tensors without a history, so no graph records these calls. Their
boxes are made from the layers: `TimeDistributed` has one part, `Bidirectional` its two directions
between the sequence that both read and the merge of what they give, `RNN` one part for every cell.
LSTM, GRU and SimpleRNN make their own cell, which is no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.layers.recurrent import RNN
from kerascope.layers.recurrent_cells import size_of_output, sizes_of_states
from kerascope.layers.wrappers import Bidirectional, TimeDistributed, Wrapper
from kerascope.viz.extract.layer_facts import CallFacts, parts_of_wrapper

_MERGES = {"concat": "Concatenate", "sum": "Add", "mul": "Multiply", "ave": "Average"}

Shapes = Sequence[Shape | None]


class Part(NamedTuple):
    """One box or frame inside.

    Attributes
    ----------
    name, class_name, kind : str
        `kind` is "" for the kind of the layer.
    layer : object or None
        A layer, or a cell of any class; None for work of the wrapper itself.
    facts : CallFacts
    depth : int
        Longest path to what leaves the wrapper.
    """

    name: str
    class_name: str
    kind: str
    layer: Any
    facts: CallFacts
    depth: int = 0


class Place(NamedTuple):
    """Input or output `number` of part number `part`."""

    part: int
    number: int


class Link(NamedTuple):
    """An arrow between two parts, and the shape of the tensor."""

    source: Place
    target: Place
    shape: Shape | None


class Inside(NamedTuple):
    """The parts, the arrows between them, and where the call's own inputs and outputs belong."""

    parts: list[Part]
    links: list[Link]
    inputs: list[Place]
    outputs: list[Place]


def inside_of(layer: Layer, facts: CallFacts) -> Inside | None:
    """Return what one call of a layer holds inside; None if the layer is no wrapper."""
    if isinstance(layer, Bidirectional):
        return _both_directions(layer, facts)
    if isinstance(layer, RNN):
        return _cells(layer, facts) if parts_of_wrapper(layer) else None
    if isinstance(layer, Wrapper) and len(layer.wrapped) == 1:
        return _one_layer(layer, facts)
    return None


# --- one layer ------------------------------------------------------------------------------------


def _one_layer(layer: Wrapper, facts: CallFacts) -> Inside:
    inputs: Shapes = [None] * len(facts.inputs)
    outputs: Shapes = [None] * len(facts.outputs)
    if isinstance(layer, TimeDistributed):
        inputs, outputs = [[_step(shape) for shape in s] for s in (facts.inputs, facts.outputs)]
    elif type(layer).call is Wrapper.call:
        inputs, outputs = facts.inputs, facts.outputs
    part = _part(layer.wrapped[0], inputs, outputs, facts.dtype)
    return Inside(
        [part], [], [Place(0, i) for i in range(len(inputs))], _places(0, 0, len(outputs))
    )


def _step(shape: Shape | None) -> Shape | None:
    """Return the shape of all time steps as one batch."""
    if shape is None or len(shape) < 2:
        return None
    batch = None if shape[0] is None or shape[1] is None else shape[0] * shape[1]
    return (batch, *shape[2:])


# --- both directions ------------------------------------------------------------------------------


def _both_directions(layer: Bidirectional, facts: CallFacts) -> Inside:
    """Sequence, forward, backward, and the merge unless both outputs leave by themselves."""
    sequence = facts.inputs[0]
    directions: list[Any] = layer.wrapped
    number = [len(inner.states) for inner in directions]
    states = _given_states(sum(number), layer._num_constants, facts)
    shared = [0, *range(1 + len(states), len(facts.inputs))]  # the sequence, and constants
    shapes: Shapes = [facts.inputs[i] for i in shared]
    parts = [Part("sequence", "both directions", "shaping", None, _through(shapes, facts), 2)]
    links = []
    for i, inner in enumerate(directions):
        own = [facts.inputs[s] for s in (states[: number[0]], states[number[0] :])[i]]
        ins: Shapes = [shapes[0], *own, *shapes[1:]]
        parts.append(_part(inner, ins, _shapes_from(inner, sequence), facts.dtype, 1))
        links.append(Link(Place(0, 0), Place(i + 1, 0), sequence))
        for k, shape in enumerate(shapes[1:]):
            links.append(Link(Place(0, k + 1), Place(i + 1, len(own) + k + 1), shape))
    inputs = [Place(0, 0)]
    for i, count in enumerate(number):
        inputs += _places(i + 1, 1, count) if states else []
    inputs += _places(0, 1, len(shared) - 1)
    outputs = [Place(1, 0), Place(2, 0)]
    if layer.merge_mode is not None:
        both: Shapes = [part.facts.outputs[0] for part in parts[1:]]
        merged = CallFacts(both, facts.outputs[:1], facts.dtype)
        parts.append(Part("merge", _MERGES[layer.merge_mode], "merge", None, merged))
        links += [Link(Place(i + 1, 0), Place(3, i), shape) for i, shape in enumerate(both)]
        outputs = [Place(3, 0)]
    if layer.return_state:
        outputs += _places(1, 1, number[0]) + _places(2, 1, number[1])
    return Inside(parts, links, inputs, outputs)


def _given_states(number: int, constants: int, facts: CallFacts) -> range:
    """Return which inputs of the call are first states."""
    given = len(facts.inputs) - 1 - constants
    return range(1, 1 + number) if given == number else range(1, 1)


def _through(shapes: Shapes, facts: CallFacts) -> CallFacts:
    return CallFacts(shapes, shapes, facts.dtype)


def _shapes_from(layer: Any, sequence: Shape | None) -> Shapes:
    """Return the output shapes of a recurrent layer, if it is one of ours and can say them."""
    if sequence is None or not isinstance(layer, RNN):
        return [None] * (1 + len(layer.states) * bool(layer.return_state))
    shapes = layer.compute_output_shape(sequence)
    return [tuple(shape) for shape in (shapes if isinstance(shapes, list) else [shapes])]


# --- cells ----------------------------------------------------------------------------------------


def _cells(layer: RNN, facts: CallFacts) -> Inside:
    """One part for every cell; the states are listed from the last cell to the first."""
    cells = parts_of_wrapper(layer)
    sizes = [sizes_of_states(cell) for cell in cells]
    number = sum(map(len, sizes))
    has_states = bool(_given_states(number, layer._num_constants, facts))
    constants = facts.inputs[1 + number * has_states :]
    sequence, batch = facts.inputs[0], (facts.inputs[0] or (None,))[0]
    step = None if sequence is None else (batch, *sequence[2:])
    parts, links = [], []
    for i, cell in enumerate(cells):
        states: Shapes = [(batch, *size) for size in sizes[i]]
        output = (batch, *size_of_output(cell))
        takes = [step, *(states if has_states else []), *(constants if i == 0 else [])]
        gives = [output, *(states if layer.return_state else [])]
        parts.append(_part(cell, takes, gives, facts.dtype, len(cells) - 1 - i))
        if i:
            links.append(Link(Place(i - 1, 0), Place(i, 0), step))
        step = output
    of_states = [
        place for i in reversed(range(len(cells))) for place in _places(i, 1, len(sizes[i]))
    ]
    inputs = [Place(0, 0), *(of_states if has_states else [])]
    inputs += _places(0, 1 + len(sizes[0]) * has_states, len(constants))
    outputs = [Place(len(cells) - 1, 0), *(of_states if layer.return_state else [])]
    return Inside(parts, links, inputs, outputs)


# --- parts ----------------------------------------------------------------------------------------


def _part(layer: Any, inputs: Shapes, outputs: Shapes, dtype: str, depth: int = 0) -> Part:
    facts = CallFacts(inputs, outputs, dtype)
    class_name = type(layer).__name__
    kind = "" if isinstance(layer, Layer) else "recurrent"  # a cell may be any object
    name = getattr(layer, "name", "") or class_name
    return Part(name, class_name, kind, layer, facts, depth)


def _places(part: int, first: int, number: int) -> list[Place]:
    return [Place(part, first + i) for i in range(number)]
