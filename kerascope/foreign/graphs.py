"""From recorded calls to the neutral `Graph`: one box a call, one arrow a value that it reads.

Which call a value comes from is told by its token alone, so whatever ran is drawn: no graph of the
library is needed. Arrows that leave a frame come from the boxes inside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import prod
from pathlib import PurePath

import numpy as np

from kerascope.engine.node_ids import clean
from kerascope.foreign.records import Call, Frame, Recorded, Setting
from kerascope.printable import printable
from kerascope.trace.records import counted
from kerascope.viz.extract.layers import shapes_text
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.overlays.values import with_values

LONGEST_WORDS = 40  # signs of settings in a box; the whole stands in `config`


def graph_of_calls(
    name: str,
    calls: Sequence[Call],
    frames: Sequence[Frame] = (),
    *,
    library: str = "",
    values: bool = False,
) -> Graph:
    """Return the graph of what ran.

    Parameters
    ----------
    name : str
        The model's.
    calls : sequence of Call
        In the order in which they ran.
    frames : sequence of Frame
        Outer ones before inner ones. One without a call inside is left out.
    library : str
        Whose model it is: "torch 2.13".
    values : bool
        Write into each box what it gave, where the numbers were kept.

    Returns
    -------
    Graph
        Boxes and arrows have the attributes of those of a model at level "node".

    Examples
    --------
    >>> x, h = Recorded("x", (1, 2), "float32"), Recorded("h", (1, 3), "float32")
    >>> calls = [Call("x", "x", "Input", "input", (), (x,)),
    ...          Call("fc", "fc", "Linear", "dense", (x,), (h,))]
    >>> graph = graph_of_calls("small", calls)
    >>> [(edge.source, edge.target, edge.attrs["shape"]) for edge in graph.edges]
    [('x', 'fc', '(1, 2)')]
    """
    book = _Book(calls)
    edges: list[GraphEdge] = []
    nodes: list[GraphNode] = []
    for call in calls:
        nodes.append(book.box(call))
        for operand, value in enumerate(call.inputs):
            maker = book.makers.get(value.token)
            if maker is not None:
                source, output = maker
                attrs: dict[str, Attribute] = {
                    "operand": operand,
                    "output": output,
                    "shape": shapes_text([value.shape]),
                    "dtype": value.dtype,
                }
                edges.append(GraphEdge(source, call.id, "", attrs))
        book.enter(call)
    nodes = _with_outputs(nodes, edges)
    parameters = sum(int(node.attrs["parameters"]) for node in nodes)
    number = sum(call.kind not in ("input", "constant") for call in calls)
    caption = f"{counted(number, 'call')}, {counted(parameters, 'parameter')}"
    graph = Graph.from_edges(
        clean(name),
        nodes,
        edges,
        _groups(frames, calls),
        {"level": "node", "parameters": parameters, "caption": caption, "library": library},
    )
    arrays = {call.id: found for call in calls if (found := numbers_given(call)) is not None}
    return with_values(graph, arrays) if values and arrays else graph


def numbers_given(call: Call) -> list[np.ndarray] | None:
    """Return the numbers that a call gave, where all were kept."""
    arrays = [value.array for value in call.outputs]
    numbers = [array for array in arrays if isinstance(array, np.ndarray)]
    is_drawn = len(numbers) == len(arrays) > 0 and all(a.dtype.kind in "fiub" for a in numbers)
    return numbers if is_drawn else None


class _Book:
    """Who made which value, and whose weights are whose."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self.makers: dict[Hashable, tuple[str, int]] = {}
        self._counted: dict[Hashable, str] = {}
        self._numbers = Counter(call.name for call in calls)
        self._seen: Counter[str] = Counter()

    def enter(self, call: Call) -> None:
        """Take note of what a call has given; what it passes on unchanged stays another's."""
        read = {value.token for value in call.inputs}
        for number, value in enumerate(call.outputs):
            if value.token not in read or value.token not in self.makers:
                self.makers[value.token] = (call.id, number)

    def box(self, call: Call) -> GraphNode:
        """Return the box of a call."""
        number = self._seen[call.name]
        self._seen[call.name] += 1
        weights = list(call.parameters.values())
        new = {w.token: w for w in weights if w.token not in self._counted}
        # A bias alone that two share, as writers of files let them, are not the same weights.
        first = self._counted[weights[0].token] if weights and not new else ""
        self._counted.update(dict.fromkeys(new, call.id))
        attrs: dict[str, Attribute] = {
            "layer": clean(call.name),
            "class_name": printable(call.op),
            "activation": "",
            "trainable": any(weight.trainable for weight in weights),
            **settings_attributes(call.settings),
            "call": number,
            "calls": self._numbers[call.name],
            "input_count": len(call.inputs),
            "output_count": len(call.outputs),
            "input_shapes": shapes_text(value.shape for value in call.inputs),
            "output_shapes": shapes_text(value.shape for value in call.outputs),
            "dtype": call.outputs[0].dtype if call.outputs else "",
            "outputs": "",
            "parameters": sum(_size(value) for value in new.values()),
            "shared_with": "" if first == call.id else first,
        }
        made_at = ""
        if call.line is not None:
            file, line, _ = call.line
            made_at = f"{PurePath(file).name}:{line}"
        label = clean(call.name)
        return GraphNode(call.id, label, call.kind, call.frame, 0, attrs, made_at)


def _size(value: Recorded) -> int:
    return prod(size or 0 for size in value.shape)


def settings_attributes(settings: Mapping[str, Setting]) -> dict[str, Attribute]:
    """Return the attributes that say how something is set: a line for the box, and all of it.

    Examples
    --------
    >>> settings_attributes({"kernel": "3x3", "stride": 2, "": "same"})
    {'settings': 'kernel 3x3, stride 2, same', 'config': 'kernel=3x3, stride=2, same'}
    """
    if not settings:
        return {}
    words = [f"{name} {value}" if name else str(value) for name, value in settings.items()]
    line = ", ".join(words)
    while len(words) > 1 and len(line) > LONGEST_WORDS:
        words.pop()
        line = ", ".join([*words, "…"])
    whole = [f"{name}={value}" if name else str(value) for name, value in settings.items()]
    return {"settings": printable(line), "config": printable(", ".join(whole))}


def _with_outputs(nodes: list[GraphNode], edges: list[GraphEdge]) -> list[GraphNode]:
    """Mark what nothing reads as an output of the whole."""
    read = {edge.source for edge in edges}
    ends = [n for n in nodes if n.id not in read and n.kind not in ("input", "constant")]
    names = {
        node.id: "output" if len(ends) == 1 else f"output {number}"
        for number, node in enumerate(ends)
    }
    return [
        GraphNode(n.id, n.label, n.kind, n.group, n.depth, {**n.attrs, "outputs": names[n.id]},
                  n.made_at)
        if n.id in names else n
        for n in nodes
    ]  # fmt: skip


def _groups(frames: Sequence[Frame], calls: Sequence[Call]) -> list[GraphGroup]:
    """Return the frames that hold a call."""
    outer = {frame.id: frame.outer for frame in frames}
    used: set[str] = set()
    for call in calls:
        frame = call.frame
        while frame and frame not in used:
            used.add(frame)
            frame = outer[frame]
    return [
        GraphGroup(
            frame.id, clean(frame.name.rpartition(".")[2]), frame.outer, 0,
            {"kind": "scope", "class_name": printable(frame.op)},
        )
        for frame in frames
        if frame.id in used
    ]  # fmt: skip
