"""Make the neutral `Graph` from recorded calls: a box for each call, an arrow for each value read.

The token of a value identifies the call that made it, so no graph of the library is needed. Arrows
that leave a frame start at the boxes inside it.
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

ON_TAPE = "as a tape tells"  # the library of a graph that was read from a tape
LONGEST_WORDS = 40  # characters of settings in a box; `config` has all


def graph_of_calls(
    name: str,
    calls: Sequence[Call],
    frames: Sequence[Frame] = (),
    *,
    library: str = "",
    values: bool = False,
    outputs: Sequence[Hashable] = (),
) -> Graph:
    """Return the graph of recorded calls.

    Parameters
    ----------
    name : str
        Name of the model.
    calls : sequence of Call
        The calls in the order in which they ran.
    frames : sequence of Frame
        Outer frames before inner ones. Frames without a call are omitted.
    library : str
        Name and version of the model's library, such as "torch 2.13".
    values : bool
        Whether to write the result into each box, if the numbers were kept.
    outputs : sequence of Hashable
        Tokens of the model's outputs. Without tokens, the outputs are the values that no call
        reads.

    Returns
    -------
    Graph
        A graph whose boxes and arrows have the same attributes as those of a kerascope model at
        level "node".

    Examples
    --------
    >>> x, h = Recorded("x", (1, 2), "float32"), Recorded("h", (1, 3), "float32")
    >>> calls = [Call("x", "x", "Input", "input", (), (x,)),
    ...          Call("fc", "fc", "Linear", "dense", (x,), (h,))]
    >>> graph = graph_of_calls("small", calls)
    >>> [(edge.source, edge.target, edge.attrs["shape"]) for edge in graph.edges]
    [('x', 'fc', '(1, 2)')]
    """
    registry = _CallRegistry(calls, frames)
    edges: list[GraphEdge] = []
    nodes: list[GraphNode] = []
    for call in calls:
        nodes.append(registry.box(call))
        for operand, value in enumerate(call.inputs):
            maker = registry.makers.get(value.token)
            if maker is not None:
                source, output = maker
                attrs: dict[str, Attribute] = {
                    "operand": operand,
                    "output": output,
                    "shape": shapes_text([value.shape]),
                    "dtype": value.dtype,
                }
                edges.append(GraphEdge(source, call.id, "", attrs))
        registry.enter(call)
    makers = dict.fromkeys(registry.makers[one][0] for one in outputs if one in registry.makers)
    nodes = _with_outputs(nodes, list(makers) or _ends(nodes, edges))
    parameters = sum(int(node.attrs["parameters"]) for node in nodes)
    number = sum(call.kind not in ("input", "constant") for call in calls)
    has_weights = library != ON_TAPE  # a tape does not contain them
    caption = counted(number, "call")
    caption += f", {counted(parameters, 'parameter')}" if has_weights else ""
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
    """Return the outputs of a call as arrays of numbers, or None if not all of them were kept."""
    arrays = [value.array for value in call.outputs]
    numbers = [array for array in arrays if isinstance(array, np.ndarray)]
    is_drawn = len(numbers) == len(arrays) > 0 and all(a.dtype.kind in "fiub" for a in numbers)
    return numbers if is_drawn else None


class _CallRegistry:
    """Stores which call computed each value, and which call was the first to use each weight."""

    def __init__(self, calls: Sequence[Call], frames: Sequence[Frame] = ()) -> None:
        self.makers: dict[Hashable, tuple[str, int]] = {}
        self._counted: dict[Hashable, str] = {}
        self._frames = {frame.id: frame.name for frame in frames}
        # Calls without weights, such as `add`, are not calls of a shared layer.
        self._numbers = Counter(call.name for call in calls if call.parameters)
        self._seen: Counter[str] = Counter()

    def enter(self, call: Call) -> None:
        """Register a call as the maker of its outputs, except inputs that have a maker already."""
        read = {value.token for value in call.inputs}
        for number, value in enumerate(call.outputs):
            if value.token not in read or value.token not in self.makers:
                self.makers[value.token] = (call.id, number)

    def box(self, call: Call) -> GraphNode:
        """Return the box for a call.

        Pass the calls in the order in which they ran, because the registry counts them.
        """
        number = self._seen[call.name]
        self._seen[call.name] += 1
        weights = list(call.parameters.values())
        new = {w.token: w for w in weights if w.token not in self._counted}
        # Calls that only share a bias, as files may, are not calls of a shared layer.
        first = self._counted[weights[0].token] if weights and not new else ""
        self._counted.update(dict.fromkeys(new, call.id))
        attrs: dict[str, Attribute] = {
            "layer": clean(call.name),
            "class_name": printable(call.op),
            "activation": "",
            "trainable": any(weight.trainable for weight in weights),
            **settings_attributes(call.settings),
            "call": number,
            "calls": max(1, self._numbers[call.name]),
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
        label = clean(_inside(call.name, self._frames.get(call.frame, "")))
        return GraphNode(call.id, label, call.kind, call.frame, 0, attrs, made_at)


def _inside(name: str, frame: str) -> str:
    """Return a name without the prefix of the enclosing frame, unless only a number would remain.

    Examples
    --------
    >>> _inside("block.0.conv", "block.0"), _inside("block.0/add", "block.0"), _inside("x", "")
    ('conv', 'add', 'x')
    >>> _inside("encoder.block.0", "encoder.block")
    'block.0'
    """
    rest = name.removeprefix(frame)
    if not frame or rest[:1] not in ("/", ".") or rest == name:
        return name
    return rest[1:] if not rest[1:].isdecimal() else frame.rpartition(".")[2] + rest


def _size(value: Recorded) -> int:
    return prod(size or 0 for size in value.shape)


def settings_attributes(settings: Mapping[str, Setting]) -> dict[str, Attribute]:
    """Return settings as attributes of a box: one line to show in it, and the complete text.

    Examples
    --------
    >>> settings_attributes({"kernel": "3x3", "": "same", "bias": False})
    {'settings': 'kernel 3x3, same, no bias', 'config': 'kernel=3x3, same, bias=False'}
    """
    if not settings:
        return {}
    words = [_words(name, value) for name, value in settings.items()]
    line = ", ".join(words)
    while len(words) > 1 and len(line) > LONGEST_WORDS:
        words.pop()
        line = ", ".join([*words, "…"])
    whole = [f"{name}={value}" if name else str(value) for name, value in settings.items()]
    return {"settings": printable(line), "config": printable(", ".join(whole))}


def _words(name: str, value: Setting) -> str:
    if isinstance(value, bool) and name:
        return name if value else f"no {name}"
    return f"{name} {value}" if name else str(value)


def _ends(nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> list[str]:
    """Return the ids of the boxes whose outputs no call reads, except inputs and constants."""
    read = {edge.source for edge in edges}
    return [n.id for n in nodes if n.id not in read and n.kind not in ("input", "constant")]


def _with_outputs(nodes: Sequence[GraphNode], outputs: Sequence[str]) -> list[GraphNode]:
    """Return the boxes; those that compute an output of the model get a label that says so."""
    names = {
        one: "output" if len(outputs) == 1 else f"output {number}"
        for number, one in enumerate(outputs)
    }
    return [
        GraphNode(n.id, n.label, n.kind, n.group, n.depth, {**n.attrs, "outputs": names[n.id]},
                  n.made_at)
        if n.id in names else n
        for n in nodes
    ]  # fmt: skip


def _groups(frames: Sequence[Frame], calls: Sequence[Call]) -> list[GraphGroup]:
    """Return the frames of a picture: all frames that contain a call, directly or not."""
    outer = {frame.id: frame.outer for frame in frames}
    names = {"": "", **{frame.id: frame.name for frame in frames}}
    used: set[str] = set()
    for call in calls:
        frame = call.frame
        while frame and frame not in used:
            used.add(frame)
            frame = outer[frame]
    return [
        GraphGroup(
            frame.id, clean(_inside(frame.name, names[frame.outer])), frame.outer, 0,
            {"kind": "scope", "class_name": printable(frame.op)},
        )
        for frame in frames
        if frame.id in used
    ]  # fmt: skip
