"""From a graph to characters: a drawing for the terminal.

Depth ranks are rows, from above to below; lines branch (`┬ ├`), and where two cross there is a `┼`.
Boxes have frames if there is room; else each is one line, with fewer words the narrower it gets,
the names last. If a row is too wide even so (thirty branches, say), the drawing becomes a list: one
box per line with the numbers of the boxes that it takes its inputs from. Nothing is hidden that
way, and a list can be read at any width, where half a row would show half the truth.
"""

from __future__ import annotations

from itertools import pairwise

from rich.cells import cell_len
from rich.text import Text

from kerascope.viz.boxes import PictureOptions, caption_lines, group_text, reading_order
from kerascope.viz.exports.text_canvas import (
    COMPACT,
    DOWN,
    ROOMY,
    UP,
    Canvas,
    Density,
    Words,
    fitted,
    plain,
    words_of,
)
from kerascope.viz.exports.text_level import Block, draw_level
from kerascope.viz.graph import Graph, GraphGroup
from kerascope.viz.layout.levels import BOX, Level, levels_of
from kerascope.viz.layout.order import order_rows
from kerascope.viz.nesting import BACKWARD_ROLES

MOST_ROWS = 12  # of boxes on several lines; more would not fit a screen
LEAST_WIDTH = 20


def to_text(
    graph: Graph,
    options: PictureOptions | None = None,
    *,
    width: int = 80,
    ascii_only: bool = False,
) -> str:
    """Return a graph drawn in characters.

    Parameters
    ----------
    graph : Graph
    options : PictureOptions, optional
    width : int
        Cells; no line is longer. Less than 20 count as 20.
    ascii_only : bool
        Use no character beyond ASCII.

    Examples
    --------
    >>> from kerascope.viz.graph import GraphEdge, GraphNode
    >>> boxes = (GraphNode("a", "a", "input", depth=1), GraphNode("b", "b", "dense"))
    >>> print(to_text(Graph("pair", boxes, (GraphEdge("a", "b"),))))
    pair
    <BLANKLINE>
    ╭─────╮
    │ ▼ a │
    ╰──┬──╯
       ▼
    ╭─────╮
    │ ■ b │
    ╰─────╯
    """
    lines = _lines(graph, options or PictureOptions(), width, ascii_only)
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


def text_drawing(
    graph: Graph,
    options: PictureOptions | None = None,
    *,
    width: int = 80,
    ascii_only: bool = False,
) -> Text:
    """Return the same with colours, for `rich`; it never wraps."""
    lines = _lines(graph, options or PictureOptions(), width, ascii_only)
    drawing = Text(no_wrap=True, overflow="crop", end="\n")
    for number, line in enumerate(lines):
        drawing.append("\n" if number else "")
        for text, style in line:
            drawing.append(text, style or None)
    return drawing


def _lines(graph: Graph, options: PictureOptions, width: int, ascii_only: bool) -> list[Line]:
    width = max(width, LEAST_WIDTH)
    caption = fitted(plain(" · ".join(caption_lines(graph)), ascii_only), width, ascii_only)
    head: list[Line] = [[(caption, "bold")], []] if caption else []
    strip = 1 + max((len(str(n.depth)) for n in graph.nodes), default=0)
    strip = strip if options.depth_ranks else 0
    levels = levels_of(graph)
    for level in levels.values():
        order_rows(level)
    rows = sum(
        any(level.kinds[item] == BOX for item in row)
        for level in levels.values()
        for row in level.rows
    )
    for density in ROOMY if rows <= MOST_ROWS else COMPACT:
        words = {n.id: words_of(n, options, density, ascii_only) for n in graph.nodes}
        if _least_width(levels, words, density.boxed) > width - strip:
            continue
        block = block_of(graph, levels, words, density, ascii_only)
        lines = block.canvas.lines(ascii_only)
        if max(map(len, lines), default=0) <= width - strip and all(
            _cells(line) <= width - strip for line in lines
        ):
            return head + (_ranked(lines, block, strip) if strip else lines)
    return head + list_lines(graph, options, width, ascii_only)


def block_of(
    graph: Graph,
    levels: dict[str, Level],
    words: dict[str, Words],
    density: Density,
    ascii_only: bool,
) -> Block:
    """Return the drawing of a graph whose rows are in order, and where its boxes are."""
    groups = {group.id: group for group in graph.groups}
    blocks: dict[str, Block] = {}
    for name, level in levels.items():
        block = draw_level(graph, level, words, blocks, density.boxed, ascii_only)
        blocks[name] = _framed(block, groups[name], ascii_only) if name else block
    return blocks[""]


def _framed(inner: Block, group: GraphGroup, ascii_only: bool) -> Block:
    """Return a level with a frame around it, its name in the upper line."""
    words = [plain(text, ascii_only) for text in group_text(group) if text]
    width = max(inner.width + 4, min(cell_len(words[0]) + 6, 30), 9)
    width += (1 - width) % 4  # its middle lies in an even column
    bar, side, corners = ("=", ":", "####") if ascii_only else ("┄", "┆", "┌┐└┘")
    canvas = Canvas()
    canvas.write(0, 0, corners[0] + bar * (width - 2) + corners[1], "dim")
    for y in range(1, inner.height + 1):
        canvas.write(0, y, side, "dim")
        canvas.write(width - 1, y, side, "dim")
    bottom = inner.height + 1
    canvas.write(0, bottom, corners[2] + bar * (width - 2) + corners[3], "dim")
    shift = (width - inner.width) // 2 // 2 * 2
    canvas.paste(inner.canvas, shift, 1)
    doors = {key: x + shift for key, x in inner.doors.items()}
    entries = sorted(x for (kind, _), x in doors.items() if kind == "entry")
    for text, x in _titles(words, entries, width):
        canvas.write(x, 0, text, "bold")
    for (kind, edge), x in doors.items():
        y = 0 if kind == "entry" else bottom
        del canvas.cells[x, y]
        canvas.join(("door", edge), x, y, UP | DOWN)
    spots = {name: (x + shift, y + 1, w, h) for name, (x, y, w, h) in inner.spots.items()}
    return Block(canvas, width, bottom + 1, doors, spots)


def _titles(words: list[str], doors: list[int], width: int) -> list[tuple[str, int]]:
    """Return as much of a frame's words as fits between its doors, and where each part begins."""
    rooms = [(end - begin - 3, begin + 1) for begin, end in pairwise([1, *doors, width - 2])]
    whole = ", ".join(words)
    for room, x in rooms:
        if cell_len(whole) <= room:
            return [(f" {whole} ", x)]
    widest = max(range(len(rooms)), key=lambda number: (min(rooms[number][0], 40), -number))
    fits = [number for number, (room, _) in enumerate(rooms) if cell_len(words[0]) <= room]
    chosen = fits[0] if fits else widest
    room, x = rooms[chosen]
    if room < 3:
        return []
    found = [(f" {fitted(words[0], room, words[0].isascii())} ", x)]
    for rest in (words[-1], words[-1].replace(" - ", " · ").split(" · ")[-1]):
        for room, x in rooms[chosen + 1 :]:
            if rest != words[0] and cell_len(rest) <= room:
                return [*found, (f" {rest} ", x)]
    return found


def _least_width(levels: dict[str, Level], words: dict[str, Words], boxed: bool) -> int:
    """Return a width below which no drawing can be."""
    air = 5 if boxed else 1
    return max(
        (
            sum(words[level.names[i]].width + air for i in row if level.kinds[i] == BOX) - 1
            for level in levels.values()
            for row in level.rows
        ),
        default=0,
    )


def _cells(line: Line) -> int:
    return sum(cell_len(text) for text, _ in line)


def _ranked(lines: list[Line], block: Block, strip: int) -> list[Line]:
    """Return the lines with the depth of each row at its left."""
    depths = {y: depth for depth, y in block.depths}
    return [
        [(str(depths.get(y, "")).rjust(strip - 1) + " ", "dim"), *line]
        for y, line in enumerate(lines)
    ]


# --- a numbered list, for what is too wide to be drawn --------------------------------------------

Line = list[tuple[str, str]]  # characters with their styles


def list_lines(graph: Graph, options: PictureOptions, width: int, ascii_only: bool) -> list[Line]:
    """Return one line for each box, and as many as needed for where its inputs come from.

    Data comes from the numbers after `←`, gradients and updates from those after `⇠` (`<-` and `<~`
    in ASCII).
    """
    order = reading_order(graph)
    number = {node.id: i for i, node in enumerate(order, start=1)}
    groups = {group.id: group for group in graph.groups}
    sources: dict[tuple[str, bool], list[int]] = {}
    for edge in graph.edges:
        is_back = edge.attrs.get("role") in BACKWARD_ROLES
        sources.setdefault((edge.target, is_back), []).append(number[edge.source])
    digits = len(str(len(order)))
    signs = (("<-", False), ("<~", True)) if ascii_only else (("←", False), ("⇠", True))
    lines: list[Line] = []
    for node in order:
        words = words_of(node, options, Density(False), ascii_only)
        text, style = words.lines[0]
        if node.group:
            frame = plain(group_text(groups[node.group])[0], ascii_only)
            text = f"{text} in {frame}"
        head = f"{number[node.id]:>{digits}} "
        rows = [head + fitted(text, width - len(head), ascii_only)]
        for sign, is_back in signs:
            listed = sources.get((node.id, is_back), [])
            for place, source in enumerate(listed):
                more = "," if place + 1 < len(listed) else ""
                part = f"{source}{more}" if place else f"{sign} {source}{more}"
                if cell_len(rows[-1]) + 1 + len(part) > width:
                    rows.append(" " * digits)
                rows[-1] += " " + part
        lines += [[(row, style if place == 0 else "dim")] for place, row in enumerate(rows)]
    return lines
