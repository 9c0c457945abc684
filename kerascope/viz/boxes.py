"""The text of boxes in every format, and the options of a picture.

SVG, DOT, HTML, Mermaid and the terminal all take a box's text from `box_text`, so a picture has the
same text in every format. From top to bottom: a cell per input (if there are several), the symbol
of the kind and the name, the class with its activation and parameters, the shape of the output,
further details, the number of the call of a shared layer, and a cell per output (if there are
several).

The last section contains tooltips, descriptions for screen readers and the reading order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from textwrap import wrap
from zlib import crc32

from kerascope.printable import printable
from kerascope.viz.graph import Attribute, Graph, GraphGroup, GraphNode
from kerascope.viz.theme import (
    ALL_PALETTES,
    BACKGROUND,
    FONT,
    TRANSPARENT,
    Palette,
    state_of,
    style_of,
)

# More cells would make the box too wide to read.
MOST_PORTS = 12
MOST_EQUAL = 3  # up to this many equal shapes are written one by one
LONGEST_NAME = 40
LONGEST_LINE = 56
MOST_PIECES = 4  # lines that a long line may be broken into


@dataclass(frozen=True)
class PictureOptions:
    """The options of a picture, as `draw` has them.

    Parameters
    ----------
    show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable : bool
        What boxes show, as in Keras's `plot_model`. `show_shapes="both"` adds the input shapes.
    depth_ranks : bool
        Write the depth of each row next to the row.
    rankdir : {"TB", "LR"}
        Direction: top to bottom, or left to right.
    theme : {"auto", "light", "dark", "print"}
        "auto" follows the reader's system in SVG and HTML, and is light in other formats.
    label : callable, optional
        A function from a `GraphNode` to the name on its box. Lines after the first become details.
    show_lines : bool
        Whether the tooltip of a box shows the user's line that created it.
    show_settings : bool
        Whether boxes show the settings of their layers: "3x3, stride 2, same".
    wrap : int or bool
        Number of columns into which a long picture is broken; True for the number that comes
        closest to a page.
    colors : tuple of (str, str)
        Pairs (kind of box, "#RRGGBB"): the colour replaces that of the theme. The kind may also be
        "background", whose colour may also be "transparent".
    font : str
        Font names as in CSS, separated by commas.

    Examples
    --------
    >>> import kerascope as ks
    >>> model = ks.Sequential([ks.layers.Dense(1, input_shape=(2,))])
    >>> options = ks.draw(model, rankdir="LR", colors={"dense": "#FFCC00"}).options
    >>> options.rankdir, options.theme, options.colors
    ('LR', 'auto', (('dense', '#FFCC00'),))
    """

    show_shapes: bool | str = True
    show_dtype: bool = False
    show_layer_names: bool = True
    show_layer_activations: bool = True
    show_trainable: bool = False
    depth_ranks: bool = False
    rankdir: str = "TB"
    theme: str = "auto"
    label: Callable[[GraphNode], str] | None = None
    show_lines: bool = False
    show_settings: bool = True
    wrap: int | bool = False
    colors: tuple[tuple[str, str], ...] = ()
    font: str = FONT

    @property
    def palette(self) -> Palette:
        """The palette of the theme; the light palette if the theme is "auto"."""
        return self.palette_of("light" if self.theme == "auto" else self.theme)

    def palette_of(self, theme: str) -> Palette:
        """Return the palette of a theme, with the user's colours in place of the theme's."""
        palette, own = ALL_PALETTES[theme], dict(self.colors)
        if not own:
            return palette
        background = own.pop(BACKGROUND, TRANSPARENT)
        if background != TRANSPARENT:
            palette = palette.on(background)
        return replace(palette, own=tuple(own.items()))

    @property
    def is_transparent(self) -> bool:
        """Whether the picture has no background colour."""
        return (BACKGROUND, TRANSPARENT) in self.colors

    @property
    def scope(self) -> str:
        """The CSS class that is shared by all pictures with the same colours and font."""
        if not self.colors and self.font == FONT:
            return self.theme
        return f"{self.theme}-{crc32(repr((self.colors, self.font)).encode()):08x}"


@dataclass(frozen=True)
class BoxText:
    """The text of a box, divided by its positions in the box.

    Attributes
    ----------
    sign, title : str
        The symbol that shows the kind of box, and the name in the first line.
    lines : tuple of str
        Lines below the title, in a paler colour.
    marks : tuple of str
        Bold lines: the number of the call, the number of copies, the model output that the box
        computes, and the state.
    inputs, outputs : tuple of str
        Texts of the cells for inputs and outputs; empty if there are fewer than two.
    """

    sign: str
    title: str
    lines: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


def box_text(node: GraphNode, options: PictureOptions) -> BoxText:
    """Return the text of a box.

    Examples
    --------
    >>> attrs = {"class_name": "Dense", "parameters": 15, "output_shapes": "(None, 3)"}
    >>> text = box_text(GraphNode("d", "scores", "dense", attrs=attrs), PictureOptions())
    >>> text.title, text.lines
    ('scores', ('Dense · 15 params', '(None, 3)'))
    """
    title, lines = _title(node, options)
    outputs = _output_cells(node, options)
    is_cut = "title" in node.attrs and title == node.label
    lines += [_class_line(node, options, title)]
    if options.show_settings:
        lines.append(str(node.attrs.get("settings", "")))
    lines.append(_shapes_line(node, options, bool(outputs)))
    if options.show_dtype:
        lines.append(str(node.attrs.get("dtype", "")))
    lines += str(node.attrs.get("detail", "")).split("\n")
    return BoxText(
        sign=style_of(node.kind).sign,
        title=str(node.attrs["title"]) if is_cut else shortened(one_line(title)),
        lines=tuple(_wrapped(lines)),
        marks=tuple(_marks(node)),
        inputs=_input_cells(node),
        outputs=outputs,
    )


def group_text(group: GraphGroup) -> tuple[str, str]:
    """Return the two lines of a frame: the layer's name, and its class, call and state."""
    words = [
        str(group.attrs.get("class_name", "")),
        call_text(group),
        copies_text(group),
        str(group.attrs.get("detail", "")),
        state_text(group),
    ]
    return shortened(one_line(group.label)), one_line(" · ".join(filter(None, words)))


def caption_lines(graph: Graph) -> list[str]:
    """Return the title of a picture, followed by the sentences of its caption."""
    captions = [part for part in str(graph.attrs.get("caption", "")).split(". ") if part]
    return [shortened(one_line(graph.name)), *map(one_line, captions)]


def caption_with(attrs: Mapping[str, Attribute], *sentences: str) -> str:
    """Return the caption from a graph's attributes, followed by further sentences.

    Examples
    --------
    >>> caption_with({"caption": "2 calls"}, "No weight changed", "")
    '2 calls. No weight changed'
    """
    return ". ".join(filter(None, [str(attrs.get("caption", "")), *sentences]))


def call_text(item: GraphNode | GraphGroup) -> str:
    """Return the call of a layer that a box or frame shows: "call 2 of 3"; "" for the only call.

    A box that shows all calls of a layer has the text "called 3 times".
    """
    calls = int(item.attrs.get("calls", 1))
    if calls == 1:
        return ""
    if "call" not in item.attrs:
        return f"called {calls} times"
    text = f"call {int(item.attrs['call']) + 1} of {calls}"
    return text if isinstance(item, GraphGroup) else f"same layer, {text}"


def copies_text(item: GraphNode | GraphGroup) -> str:
    """Return the number of equal blocks that a box or frame represents, "4 copies"; "" for one."""
    copies = int(item.attrs.get("copies", 1))
    if copies == 1:
        return ""
    same = item.attrs.get("same_weights", False)
    return f"same weights, {copies} calls" if same else f"{copies} copies"


def state_text(item: GraphNode | GraphGroup) -> str:
    """Return the state of a box or frame as text, "● done"; "" if no overlay set a state."""
    state = state_of(item.attrs.get("state", ""))
    if state is None:
        return ""
    return f"{state.glyph} {item.attrs.get('note', state.word)}".rstrip()


def has_ports(node: GraphNode, side: str) -> bool:
    """Return whether a box has cells for its inputs, or for its outputs if `side` is "outputs".

    It has cells for at least two and at most `MOST_PORTS` of them.
    """
    return 2 <= port_count(node, side) <= MOST_PORTS


def port_count(node: GraphNode, side: str) -> int:
    """Return the number of inputs of a box if `side` is "inputs", otherwise of its outputs."""
    return int(node.attrs.get("input_count" if side == "inputs" else "output_count", 0))


def one_line(text: str) -> str:
    """Return text with spaces in place of line breaks and tabs; control characters are escaped.

    Examples
    --------
    >>> one_line("two" + chr(10) + "lines")
    'two lines'
    """
    return text if text.isprintable() else printable(re.sub("[\\n\\t]", " ", text))


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name with its middle replaced by "…" if it is longer than `longest`.

    Examples
    --------
    >>> shortened("a" * 30 + "b" * 30)
    'aaaaaaaaaaaaaaaaaaaaaaaa…bbbbbbbbbbbbbbb'
    """
    return name if len(name) <= longest else f"{name[: longest - 16]}…{name[-15:]}"


def disambiguated(graph: Graph) -> Graph:
    """Return a graph whose long names remain different when they are shortened.

    Names are shortened in the middle. A box whose shortened name would equal another box's gets the
    attribute `title`, a shortened name that contains the difference.

    Examples
    --------
    >>> stem = "encoder_with_a_rather_long_name"
    >>> labels = [f"{stem}_{part}_projection_of_block" for part in ("query", "value")]
    >>> graph = Graph("g", tuple(GraphNode(label, label, "dense") for label in labels), ())
    >>> [box.attrs["title"] for box in disambiguated(graph).nodes]
    ['encoder_…_name_query_projection_of_block', 'encoder_…_name_value_projection_of_block']
    """
    labels = [one_line(node.label) for node in graph.nodes]
    if all(len(label) <= LONGEST_NAME for label in labels):
        return graph
    cut: dict[str, set[str]] = {}
    for label in labels:
        cut.setdefault(shortened(label), set()).add(label)
    titles = {
        label: title
        for same in cut.values()
        if len(same) > 1
        for label, title in _distinct_titles(sorted(same)).items()
    }
    named = (
        replace(node, attrs={**node.attrs, "title": titles[label]}) if label in titles else node
        for node, label in zip(graph.nodes, labels, strict=True)
    )
    return replace(graph, nodes=tuple(named))


def _distinct_titles(names: list[str]) -> dict[str, str]:
    """Return titles for long names. Each title differs from the titles of all other names.

    `names` are sorted. A name is shortened so that its title contains the character at which the
    name first differs from the name before it or from the name after it.
    """
    firsts = [_first_difference(*pair) for pair in pairwise(names)]
    pieces = {}
    for name, *places in zip(names, [0, *firsts], [*firsts, 0], strict=True):
        begin = min(max(min(filter(None, places), default=0) - 6, 0), len(name) - 31)
        end = begin + (31 if begin + 31 >= len(name) else 30)
        rest = "" if end >= len(name) else "…"
        pieces[name] = f"{name[:8]}…{name[begin:end]}{rest}" if begin > 8 else shortened(name)
    counts = Counter(pieces.values())
    return {name: piece if counts[piece] == 1 else name for name, piece in pieces.items()}


def _first_difference(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


# --- lines of a box -------------------------------------------------------------------------------


def _title(node: GraphNode, options: PictureOptions) -> tuple[str, list[str]]:
    if options.label is not None:
        first, *rest = str(options.label(node)).split("\n") or [""]
        return first, rest
    class_name = str(node.attrs.get("class_name", node.kind))
    return (node.label if options.show_layer_names else class_name), []


def _shapes_line(node: GraphNode, options: PictureOptions, has_cells: bool) -> str:
    """Return the line of a box with its shapes, except output shapes that have their own cells."""
    output = "" if has_cells else _counted_shapes(node, "output_shapes")
    if options.show_shapes == "both":
        given = _counted_shapes(node, "input_shapes")
        return " \u2192 ".join(filter(None, [given, output]))
    return output if options.show_shapes else ""


def _counted_shapes(node: GraphNode, key: str) -> str:
    """Return shapes as text. More than `MOST_EQUAL` equal ones in a row are "8 x (None, 4)"."""
    shapes = one_line(str(node.attrs.get(key, ""))).split("; ")
    runs = [(shape, len([*same])) for shape, same in groupby(shapes)]
    words = ([f"{n} x {shape}"] if n > MOST_EQUAL else [shape] * n for shape, n in runs)
    return "; ".join(word for run in words for word in run)


def _class_line(node: GraphNode, options: PictureOptions, title: str) -> str:
    class_name = str(node.attrs.get("class_name", ""))
    words = ["" if is_repeated(class_name, node, title) else class_name]
    if options.show_layer_activations:
        words.append(str(node.attrs.get("activation", "")))
    words.append(_parameters_text(node))
    has_weights = node.attrs.get("parameters", 0) or node.attrs.get("shared_with")
    if options.show_trainable and has_weights:
        words.append("trainable" if node.attrs.get("trainable") else "frozen")
    return " · ".join(filter(None, words))


def is_repeated(class_name: str, node: GraphNode, title: str) -> bool:
    """Return whether the title repeats the class name. For ops, case and "_" are ignored."""
    if node.kind != "op":
        return class_name == title
    return class_name.replace("_", "").lower() == title.replace("_", "").lower()


def _parameters_text(node: GraphNode) -> str:
    if node.attrs.get("shared_with"):
        return "same weights"
    parameters = int(node.attrs.get("parameters", 0))
    if not parameters:
        return ""
    return f"{parameters:,} params" if parameters > 1 else "1 param"


def _marks(node: GraphNode) -> list[str]:
    outputs = one_line(str(node.attrs.get("outputs", "")))
    marks = [call_text(node), copies_text(node), f"► {outputs}" if outputs else ""]
    marks.append(state_text(node))
    return _wrapped(marks)


def _input_cells(node: GraphNode) -> tuple[str, ...]:
    if not has_ports(node, "inputs"):
        return ()
    return tuple(str(i) for i in range(port_count(node, "inputs")))


def _output_cells(node: GraphNode, options: PictureOptions) -> tuple[str, ...]:
    if not has_ports(node, "outputs"):
        return ()
    count = port_count(node, "outputs")
    shapes = str(node.attrs.get("output_shapes", "")).split("; ")
    if not options.show_shapes or len(shapes) != count:
        return tuple(str(i) for i in range(count))
    return tuple(f"{i}: {shape}" for i, shape in enumerate(shapes))


def _wrapped(lines: Iterable[str]) -> list[str]:
    """Break long lines into shorter lines. The end of a very long line is left out."""
    return [
        piece
        for line in lines
        if line
        for piece in ([line] if len(line) <= LONGEST_LINE else _pieces(line))
    ]


def _pieces(line: str) -> list[str]:
    pieces = wrap(line, LONGEST_LINE, max_lines=MOST_PIECES, placeholder=" …")
    return pieces or [shortened(line, LONGEST_LINE)]


# --- tooltips and screen readers ------------------------------------------------------------------

MOST_SOURCES = 6


def tooltip(node: GraphNode, options: PictureOptions | None = None) -> str:
    """Return the tooltip of a box: its id, class, depth and shapes, in one line.

    With the option `show_lines`, the tooltip also contains the user's line that created the box.

    Examples
    --------
    >>> attrs = {"class_name": "Dense", "output_shapes": "(None, 3)"}
    >>> tooltip(GraphNode("scores", "scores", "dense", depth=0, attrs=attrs))
    'scores: Dense, depth 0, to (None, 3)'
    """
    class_name = node.attrs.get("class_name", node.kind)
    shapes = f"{node.attrs.get('input_shapes', '')} to {node.attrs.get('output_shapes', '')}"
    words = f"{node.id}: {class_name}, depth {node.depth}, {shapes.removeprefix(' ')}"
    words = words.removesuffix(", to ")
    has_line = options is not None and options.show_lines and node.made_at
    return f"{words}, made at {node.made_at}" if has_line else words


def description_of(node: GraphNode, sources: Sequence[str], text: BoxText | None = None) -> str:
    """Return a box's description for screen readers: its text, and the names of boxes that feed it.

    `text` is the text of the box with the default options. It is computed if it is None.
    """
    text = text or box_text(node, PictureOptions())
    class_name = str(node.attrs.get("class_name", node.kind))
    is_said = class_name in " ".join(text.lines) or is_repeated(class_name, node, text.title)
    first = text.title if is_said else f"{text.title}, {class_name}"
    words = ", ".join([first, *text.lines, *text.marks])
    if not sources:
        return words
    listed = ", ".join(sources[:MOST_SOURCES])
    more = f" and {len(sources) - MOST_SOURCES} more" if len(sources) > MOST_SOURCES else ""
    return f"{words}; from {listed}{more}"


def reading_order(graph: Graph) -> list[GraphNode]:
    """Return the boxes in topological order, for screen readers and the keyboard.

    Boxes on a cycle come last, in the graph's own order.
    """
    number = {node.id: i for i, node in enumerate(graph.nodes)}
    waiting = [0] * len(graph.nodes)
    following: list[list[int]] = [[] for _ in graph.nodes]
    for edge in graph.edges:
        waiting[number[edge.target]] += 1
        following[number[edge.source]].append(number[edge.target])
    ready = [i for i in reversed(range(len(waiting))) if not waiting[i]]
    found: dict[int, None] = {}
    while ready:
        i = ready.pop()
        found[i] = None
        for after in reversed(following[i]):
            waiting[after] -= 1
            if not waiting[after]:
                ready.append(after)
    rest = [i for i in range(len(graph.nodes)) if i not in found]
    return [graph.nodes[i] for i in [*found, *rest]]
