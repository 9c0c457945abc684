"""A graph as the parts of a figure, and the arrows between them.

As in a paper, activations, dropout, batch normalization, padding and flattening have no box of
their own: they belong to the layer before them. A `Part` lists all boxes of the graph that it
contains, so no layer is lost.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from kerascope.backend.state import image_data_format
from kerascope.viz.graph import Graph, GraphNode
from kerascope.viz.nesting import longest_paths
from kerascope.viz.sheet import Data, data_of

if TYPE_CHECKING:
    from kerascope.viz.figure.living import Portrait

Shape = tuple[int | None, ...]

QUIET_KINDS = ("activation", "noise")
WITH_ACTIVATION = ("convolution", "upsampling", "dense", "recurrent", "normalization")
TIMES = "\u00d7"


@dataclass(frozen=True)
class Part:
    """One part of a figure, and the boxes of the graph that belong to it.

    Attributes
    ----------
    node : GraphNode
        The part's own box, which determines its name and kind.
    shape : Shape or None
        The shape of the part's first output, without the batch axis; None if unknown.
    members : tuple of str
        Ids of all boxes of the part, beginning with its own box (`node`).
    activation : str
        The name of the activation after the layer; "" if there is none.
    count : int
        The number of layers in the part, including the layers inside closed frames.
    sources_count : int
        The number of parts whose outputs are inputs of this part.
    classes : tuple of str
        Classes of the part's boxes.
    is_channels_first : bool
        Whether the first axis of the part's output is its channels.
    portrait : Portrait or None
        In a living figure, the images of the part's output.
    """

    node: GraphNode
    shape: Shape | None
    members: tuple[str, ...]
    activation: str = ""
    count: int = 1
    sources_count: int = 0
    classes: tuple[str, ...] = ()
    is_channels_first: bool = False
    portrait: Portrait | None = field(default=None, compare=False)

    @property
    def kind(self) -> str:
        """The kind of the part's box, or "upsampling" if the part makes images larger."""
        return figure_kind(self.node)

    @property
    def sides(self) -> tuple[int, ...]:
        """The sides of the part's output, an image or a sequence; () for a vector."""
        return self._sides_and_channels[0]

    @property
    def channels(self) -> int:
        """The number of channels of the part's output, or of units if it is a vector."""
        return self._sides_and_channels[1]

    @property
    def _sides_and_channels(self) -> tuple[tuple[int, ...], int]:
        if self.is_channels_first and len(self.shape or ()) == 3:
            first, *sides = (side or 1 for side in self.shape or ())
            return tuple(sides), first
        return sides_of(self.shape)

    @property
    def data(self) -> Data:
        """The data attributes of the mark that shows the part."""
        return data_of(self.members, shape_text(self.shape))

    @property
    def shared(self) -> str:
        """A text if the part shares weights with another part, such as "shared A"; otherwise ""."""
        return str(self.node.attrs.get("shared", ""))

    @property
    def settings(self) -> list[str]:
        """The settings of the layer, such as "3x3" and "stride 2"."""
        return [one for one in str(self.node.attrs.get("settings", "")).split(", ") if one]

    @property
    def window(self) -> str:
        """The window of a convolution or a pooling, such as "3\u00d73"; "" if unknown."""
        if self.kind not in _WITH_WINDOW:
            return ""
        found = next((s for s in self.settings if re.fullmatch(r"\d+(x\d+)*", s)), "")
        return found.replace("x", TIMES) or _window_of_a_module(self.node)


def members_of(parts: Iterable[Part]) -> tuple[str, ...]:
    """Return the ids of all boxes of the graph that belong to the given parts."""
    return tuple(member for part in parts for member in part.members)


def _window_of_a_module(node: GraphNode) -> str:
    """Return the window of a PyTorch module, or "": "kernel_size 3" of a Conv2d is 3\u00d73."""
    settings = str(node.attrs.get("settings", ""))
    found = re.search(r"\bkernel_size (\d+)|\bkernel_size \(([\d, ]+)\)", settings)
    axes = re.search(r"([123])d$", class_of(node))
    if not found or not axes:
        return ""
    return TIMES.join(found[2].split(", ") if found[2] else [found[1]] * int(axes[1]))


_WITH_WINDOW = ("convolution", "pooling", "upsampling")


@dataclass(frozen=True)
class Reading:
    """A model as the parts of a figure, with the sources and targets of each part.

    Attributes
    ----------
    graph : Graph
    parts : dict of str to Part
        By the ids of their boxes, in topological order.
    sources, targets : dict of str to tuple of str
        For each part, the ids of the parts that feed it, and of the parts that it feeds, each once.
    samples : int
        The number of samples of the input whose numbers a living figure shows.
    """

    graph: Graph
    parts: dict[str, Part]
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    samples: int = 0

    @property
    def is_living(self) -> bool:
        """Whether the figure shows the numbers of an input."""
        return any(part.portrait for part in self.parts.values())

    @property
    def chain(self) -> list[Part] | None:
        """The parts in order, or None if the model branches or joins."""
        straight = all(len(ends) <= 1 for ends in (*self.sources.values(), *self.targets.values()))
        roots = [one for one, sources in self.sources.items() if not sources]
        return [*self.parts.values()] if straight and len(roots) == 1 else None

    @property
    def is_shared(self) -> bool:
        """Whether any two parts share weights, as calls of one layer do."""
        return any(part.shared for part in self.parts.values())

    @property
    def kinds(self) -> set[str]:
        """The set of the kinds of all parts."""
        return {part.kind for part in self.parts.values()}

    def depths(self, ones: Sequence[str]) -> dict[str, int]:
        """Return, for each part in `ones`, the length of the longest path to it inside `ones`."""
        inside = {*ones}
        return longest_paths(
            ones, [(one, s) for one in ones for s in self.sources[one] if s in inside]
        )

    def longest_path(self, ones: Sequence[str]) -> list[Part]:
        """Return the longest path through the parts `ones` that ends at the last of them."""
        depths = self.depths(ones)
        path = [ones[-1]]
        while depth := depths[path[-1]]:
            before = [one for one in self.sources[path[-1]] if depths.get(one, depth) < depth]
            path.append(max(before, key=depths.__getitem__))
        return [self.parts[one] for one in reversed(path)]


def read(graph: Graph, is_quiet: Callable[[GraphNode, Part, bool], bool]) -> Reading:
    """Return a graph as the parts of a figure.

    Parameters
    ----------
    graph : Graph
    is_quiet : callable
        A function that returns whether a box belongs to the part before it. It is called for boxes
        with one source and without shared weights. Its arguments are the box, the part before it,
        and whether the box is the only target of its source. After a merge, a box counts as the
        only target if most merges of this class have a single target. Otherwise the last
        normalization of a model would belong to the merge of the last block only.
    """
    sources: dict[str, dict[str, None]] = {node.id: {} for node in graph.nodes}
    for edge in graph.edges:
        if edge.source != edge.target:
            sources[edge.target][edge.source] = None
    taken = Counter(source for ends in sources.values() for source in ends)
    merges = {node.id: class_of(node) for node in graph.nodes if node.kind == "merge"}
    usual = Counter[str]()
    for one, name in merges.items():
        usual[name] += {0: 0, 1: 1}.get(taken[one], -1)
    first = channels_first(graph)
    parts: dict[str, Part] = {}
    home: dict[str, str] = {}
    for node in in_order(graph.nodes, sources):
        feeding = dict.fromkeys(home[source] for source in sources[node.id])
        before = next(iter(feeding), "")
        source = next(iter(sources[node.id]), "")
        alone = taken[source] == 1 and (source not in merges or usual[merges[source]] > 0)
        is_own = len(feeding) != 1 or bool(node.attrs.get("shared"))
        if not is_own and is_quiet(node, parts[before], alone):
            home[node.id] = before
            parts[before] = _joined(parts[before], node)
        else:
            home[node.id] = node.id
            activation = str(node.attrs.get("activation", ""))
            hidden = max(1, int(node.attrs.get("members", 0)))
            facts = (shape_of(node), (node.id,), activation, hidden, len(feeding))
            parts[node.id] = Part(node, *facts, (class_of(node),), first[node.id])
    incoming: dict[str, dict[str, None]] = {one: {} for one in parts}
    outgoing: dict[str, dict[str, None]] = {one: {} for one in parts}
    for target, ends in sources.items():
        for source in ends:
            if home[source] != home[target]:
                incoming[home[target]][home[source]] = None
    for target, ends in incoming.items():
        for source in ends:
            outgoing[source][target] = None
    both = [{one: tuple(ends) for one, ends in sides.items()} for sides in (incoming, outgoing)]
    return Reading(graph, parts, both[0], both[1])


def _joined(part: Part, node: GraphNode) -> Part:
    """Return a part after adding a box to it, such as the activation after a layer."""
    activation = part.activation
    if node.kind == "activation":
        activation = str(node.attrs.get("activation", "")) or _word(node)
    hidden = max(1, int(node.attrs.get("members", 0)))
    members = (*part.members, node.id)
    classes = (*part.classes, class_of(node))
    count = part.count + hidden
    return replace(part, members=members, activation=activation, count=count, classes=classes)


def _word(node: GraphNode) -> str:
    """Return the name of an activation class as words: "LeakyReLU" is "leaky relu"."""
    return spaced(str(node.attrs.get("class_name", "")).split(": ")[-1]).lower()


def spaced(name: str) -> str:
    """Return the name of a class as words.

    Examples
    --------
    >>> spaced("GlobalAveragePooling2D"), spaced("LSTM"), spaced("LeakyReLU")
    ('global average pooling', 'LSTM', 'leaky relu')
    """
    plain = re.sub(r"[123]D$", "", name)
    if plain.isupper():
        return plain
    whole = re.sub(r"(Re|Si|Ge)LU", lambda unit: unit[0].capitalize(), plain)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", whole).replace("_", " ").lower()


def in_order(nodes: Iterable[GraphNode], sources: dict[str, dict[str, None]]) -> list[GraphNode]:
    """Return boxes in topological order; independent boxes keep their order in `nodes`."""
    waiting = [*nodes]
    done: dict[str, GraphNode] = {}
    while waiting:
        later = []
        for node in waiting:
            if sources[node.id].keys() <= done.keys():
                done[node.id] = node
            else:
                later.append(node)
        if len(later) == len(waiting):  # a cycle: a layer reads its own output
            first = later.pop(0)
            done[first.id] = first
        waiting = later
    return [*done.values()]


# --- facts about a box ----------------------------------------------------------------------------


def shape_of(node: GraphNode) -> Shape | None:
    """Return the shape of the first output of a box without the batch.

    Examples
    --------
    >>> shape_of(GraphNode("a", "a", "dense", attrs={"output_shapes": "(None, 2, 3); (None, 4)"}))
    (2, 3)
    """
    return _first_shape(str(node.attrs.get("output_shapes", "")))


@cache
def _first_shape(shapes: str) -> Shape | None:
    first = shapes.split(" or ")[0].split("; ")[0]
    return tuple(ast.literal_eval(first))[1:] if first.startswith("(") else None


def shape_text(shape: Shape | None) -> str:
    """Return a shape as text, in the notation of figures.

    Examples
    --------
    >>> shape_text((28, 28, 6)), shape_text((None, 512))
    ('28\u00d728\u00d76', '?\u00d7512')
    """
    return TIMES.join("?" if side is None else str(side) for side in shape or ())


def class_of(node: GraphNode) -> str:
    """Return the class of a layer, or the name of an operation between layers."""
    return str(node.attrs.get("class_name", ""))


def is_addition(node: GraphNode) -> bool:
    """Return whether a box adds its inputs, as a layer or as an operation between layers."""
    return class_of(node).removeprefix("Operation: ").lower() == "add"


def figure_kind(node: GraphNode) -> str:
    """Return the kind of a box, or "upsampling" if it makes images larger."""
    name = class_of(node)
    if name.startswith("UpSampling") or (name.startswith("Conv") and "Transpose" in name):
        return "upsampling"
    return node.kind


def has_own_name(node: GraphNode) -> bool:
    """Return whether the name of a layer was chosen by the user, not generated.

    Examples
    --------
    >>> has_own_name(GraphNode("C1", "C1", "convolution", attrs={"class_name": "Conv2D"}))
    True
    """
    automatic = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", class_of(node)).lower()
    plain = re.sub(r"[^a-z0-9]", "", automatic)
    stem = re.sub(r"_\d+$", "", node.label)
    if stem.isdigit():  # the index of a module in a Sequential of PyTorch
        return False
    return re.sub(r"[^a-z0-9]", "", stem.lower()) not in (plain, plain.removesuffix("layer"))


def is_flattening(node: GraphNode) -> bool:
    """Return whether a box only reshapes, pads or crops its input."""
    name = class_of(node)
    known = ("Flatten", "ZeroPadding", "Cropping", "Masking", "Identity", "CenterCrop")
    return name.startswith(known)


def is_quiet_in_images(node: GraphNode, before: Part | None = None, alone: bool = True) -> bool:
    """Return whether the forms "volumes" and "neurons" add a box to the part before it."""
    if node.kind in (*QUIET_KINDS, "normalization"):
        return True
    return node.kind == "shaping" and is_flattening(node)


def is_quiet_in_u(node: GraphNode, before: Part, alone: bool) -> bool:
    """Return whether the form "u" adds a box to the part before it.

    Croppings are separate parts, because the arrow of a copied tensor may show them.
    """
    return is_quiet_in_images(node) and "Crop" not in class_of(node)


def is_quiet_in_blocks(node: GraphNode, before: Part, alone: bool) -> bool:
    """Return whether the forms "blocks" and "columns" add a box to the part before it.

    They never do so if the part before it has other targets as well (`alone` is False).
    """
    if not alone:
        return False
    if node.kind == "normalization":
        fits = before.kind == "merge" or class_of(node).startswith("BatchNorm")
        return fits and not any("Norm" in name for name in before.classes)
    if node.kind == "activation":  # elsewhere, as in attention, the layer is a separate step
        has_one = bool(before.activation)
        return not has_one and (before.kind in WITH_ACTIVATION or is_addition(before.node))
    return node.kind in QUIET_KINDS or (node.kind == "shaping" and is_flattening(node))


# --- images ---------------------------------------------------------------------------------------


def sides_of(shape: Shape | None) -> tuple[tuple[int, ...], int]:
    """Return the sides of an image or a sequence, and its channels; a vector has no sides.

    Images with channels first are recognized by their equal sides.

    Examples
    --------
    >>> sides_of((28, 28, 6)), sides_of((6, 28, 28)), sides_of((120,))
    (((28, 28), 6), ((28, 28), 6), ((), 120))
    """
    known = tuple(side or 1 for side in shape or (1,))
    if len(known) == 3 and known[1] == known[2] and known[0] != known[1]:
        return known[1:], known[0]
    return known[:-1], known[-1]


CHANNELS_FIRST = ("torch", "onnx")  # libraries whose images have the channels first
WITH_CHANNELS = ("convolution", "pooling", "upsampling")


def channels_first(graph: Graph) -> dict[str, bool]:
    """Return, for each box of a graph, whether the channels are the first axis of its output.

    Convolutions and poolings of PyTorch and ONNX have the channels first. Other boxes of these
    libraries have them first unless the shape shows that they are last: (28, 28, 6). In a model of
    kerascope, the settings of its convolutions and poolings decide.
    """
    library = str(graph.attrs.get("library", ""))
    is_foreign = library.startswith(CHANNELS_FIRST)
    own = {
        node.id: is_foreign or _has_channels_first(node)
        for node in graph.nodes
        if node.kind in WITH_CHANNELS
    }
    found = {}
    for node in graph.nodes:
        shape = shape_of(node) or ()
        guess = (is_foreign and node.kind != "dense") or any(own.values())
        if len(shape) == 3:
            guess = guess and not (shape[0] == shape[1] != shape[2])
        found[node.id] = own.get(node.id, guess and len(shape) == 3)
    return found


def _has_channels_first(node: GraphNode) -> bool:
    settings = f"{node.attrs.get('config', '')}, {node.attrs.get('settings', '')}"
    is_usual = image_data_format() == "channels_first" and "channels_last" not in settings
    return is_usual or "channels_first" in settings
