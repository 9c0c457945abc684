"""Draw a graph in characters, for the terminal.

Boxes of the same depth form a row; rows run from top to bottom. Lines branch (`┬ ├`) and cross
(`┼`). Boxes have borders if they fit. Otherwise each box is one line, with less text the narrower
the terminal; names are shortened last. If a row is still too wide (thirty branches, say), the
drawing becomes a list: one line per box, with the numbers of the boxes that feed it. A list shows
the whole graph at any width.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from rich.cells import cell_len
from rich.text import Text

from kerascope.viz.boxes import PictureOptions, caption_lines, group_text, reading_order
from kerascope.viz.exports.text_canvas import (
    COMPACT,
    DOWN,
    FRAMED,
    UP,
    BesideArrow,
    Block,
    BoxLines,
    Density,
    TextCanvas,
    draw_beside,
    draw_box,
    fitted,
    lines_of_box,
    plain,
)
from kerascope.viz.exports.text_ladder import ladder_lines
from kerascope.viz.graph import Graph, GraphGroup
from kerascope.viz.layout.ladder import is_ladder
from kerascope.viz.layout.levels import BOX, ENTRY, EXIT, FRAME, TITLE, Level, Route, levels_of
from kerascope.viz.layout.order import order_rows
from kerascope.viz.layout.places import Shape, place_level
from kerascope.viz.nesting import BACKWARD_ROLES

MOST_ROWS = 12  # rows of framed boxes; more would not fit on a screen
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
        Maximum length of a line in cells, at least 20.
    ascii_only : bool
        Use ASCII characters only.

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
    """Return a graph drawn in coloured characters as a `rich` text, whose lines never wrap."""
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
    if is_ladder(graph):
        ladder = ladder_lines(graph, options, width, ascii_only)
        return head + (ladder or list_lines(graph, options, width, ascii_only))
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
    for density in FRAMED if rows <= MOST_ROWS else COMPACT:
        words = {n.id: lines_of_box(n, options, density, ascii_only) for n in graph.nodes}
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
    words: dict[str, BoxLines],
    density: Density,
    ascii_only: bool,
) -> Block:
    """Return the drawing of a graph with ordered rows, and the positions of its boxes."""
    groups = {group.id: group for group in graph.groups}
    blocks: dict[str, Block] = {}
    for name, level in levels.items():
        block = draw_level(graph, level, words, blocks, density.boxed, ascii_only)
        blocks[name] = _framed(block, groups[name], ascii_only) if name else block
    return blocks[""]


def _framed(inner: Block, group: GraphGroup, ascii_only: bool) -> Block:
    """Return the drawn contents of a frame with a border, which has the name in its top line."""
    words = [plain(text, ascii_only) for text in group_text(group) if text]
    width = max(inner.width + 4, min(cell_len(words[0]) + 6, 30), 9)
    width += (1 - width) % 4  # the middle must be an even column
    bar, side, corners = ("=", ":", "####") if ascii_only else ("┄", "┆", "┌┐└┘")
    canvas = TextCanvas()
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
    """Return the texts in the upper border of a frame and their columns.

    They are placed between the arrows that enter the frame. Details that do not fit there are left
    out. A name that does not fit is shortened, or left out if there are fewer than 3 cells for it.
    """
    gaps = [(end - begin - 3, begin + 1) for begin, end in pairwise([1, *doors, width - 2])]
    whole = ", ".join(words)
    for gap, x in gaps:
        if cell_len(whole) <= gap:
            return [(f" {whole} ", x)]
    widest = max(range(len(gaps)), key=lambda number: (min(gaps[number][0], 40), -number))
    fits = [number for number, (gap, _) in enumerate(gaps) if cell_len(words[0]) <= gap]
    chosen = fits[0] if fits else widest
    gap, x = gaps[chosen]
    if gap < 3:
        return []
    found = [(f" {fitted(words[0], gap, words[0].isascii())} ", x)]
    for rest in (words[-1], words[-1].replace(" - ", " · ").split(" · ")[-1]):
        for gap, x in gaps[chosen + 1 :]:
            if rest != words[0] and cell_len(rest) <= gap:
                return [*found, (f" {rest} ", x)]
    return found


def _least_width(levels: dict[str, Level], words: dict[str, BoxLines], boxed: bool) -> int:
    """Return a lower bound of the width of the drawing."""
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
    """Return the lines of a drawing with the depth of each row at the left."""
    depths = {y: depth for depth, y in block.depths}
    return [
        [(str(depths.get(y, "")).rjust(strip - 1) + " ", "dim"), *line]
        for y, line in enumerate(lines)
    ]


# --- a numbered list, for graphs that are too wide to be drawn ------------------------------------

Line = list[tuple[str, str]]  # characters with their styles


def list_lines(graph: Graph, options: PictureOptions, width: int, ascii_only: bool) -> list[Line]:
    """Return a numbered list of the boxes. After each box are the numbers of boxes that feed it.

    Boxes after `←` feed it data, those after `⇠` gradients or updates (`<-` and `<~` in ASCII). A
    long list of numbers continues on further lines.
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
        words = lines_of_box(node, options, Density(False), ascii_only)
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


# --- one level on a canvas: its boxes, its opened frames, and the lines between the rows ----------
#
# Lines run only in even columns, so two lines are never adjacent. The order of the items and the
# routes of the lines come from `layout`, as for the SVG.


POINTS = {True: 6.5, False: 9.0}  # layout units per character, with and without frames


def draw_level(
    graph: Graph,
    level: Level,
    words: Mapping[str, BoxLines],
    blocks: Mapping[str, Block],
    boxed: bool,
    ascii_only: bool,
) -> Block:
    """Draw a frame level on a new canvas.

    Parameters
    ----------
    graph : Graph
    level : Level
        The frame level, with ordered rows.
    words : dict of str to BoxLines
        The text of each box, by id.
    blocks : dict of str to Block
        The drawn frames in this frame level, by id.
    boxed, ascii_only : bool
        Whether boxes have borders, and whether only ASCII characters are used.
    """
    drawing = _Level(graph, level, words, blocks, boxed, ascii_only)
    drawing.place()
    drawing.pin()
    drawing.collect_nets()
    return drawing.drawn()


@dataclass
class _Level:
    """The drawing of one frame level, step by step: columns of items, lines, then the canvas."""

    graph: Graph
    level: Level
    words: Mapping[str, BoxLines]
    blocks: Mapping[str, Block]
    boxed: bool
    ascii_only: bool

    def __post_init__(self) -> None:
        level, self.canvas = self.level, TextCanvas()
        self.leaving = Counter(route.stops[0] for route in level.routes)
        self.arriving = Counter(route.stops[-1] for route in level.routes)
        self.leaves: dict[tuple[int, object], int] = {}  # (item, port) -> column
        self.arrives: dict[int, int] = {}  # number of a route -> column
        # gap 0 is above the first row
        self.gaps: list[dict[object, Net]] = [{} for _ in range(len(level.rows) + 1)]
        self.heads: list[tuple[int, int, bool, int]] = []  # item, column, upward, arrow
        self.passing: list[list[tuple[int, bool]]] = [[] for _ in level.rows]

    # --- across ---

    def place(self) -> None:
        """Compute the middle column of each item."""
        level, points = self.level, POINTS[self.boxed]
        self.widths = [self._width(item) for item in range(len(level.kinds))]
        self.heights = [self._height(item) for item in range(len(level.kinds))]
        if not level.kinds:
            self.middle: list[int] = []
            return
        shapes = [self._shape(item, points) for item in range(len(level.kinds))]
        middle = place_level(level, shapes).middle
        self.middle = [2 * round(place / points / 2) for place in middle]
        for row in level.rows:
            edge = None
            for item in row:
                if level.kinds[item] == TITLE:
                    continue
                half = self.widths[item] // 2
                if edge is not None and self.middle[item] - half < edge:
                    self.middle[item] = (edge + half + 1) // 2 * 2
                line_like = level.kinds[item] not in (BOX, FRAME)
                edge = self.middle[item] + half + (2 if line_like else 3)
        left = min(m - w // 2 for m, w in zip(self.middle, self.widths, strict=True))
        shift = (-left + 1) // 2 * 2
        self.middle = [place + shift for place in self.middle]
        ends = zip(self.middle, self.widths, strict=True)
        self.right = max(m + w // 2 + 1 for m, w in ends)

    def _width(self, item: int) -> int:
        kind, name = self.level.kinds[item], self.level.names[item]
        if kind == FRAME:
            return self.blocks[name].width + (1 - self.blocks[name].width) % 4
        if kind != BOX:
            return 1
        ports = max(self.arriving[item], self.leaving[item])
        least = self.words[name].width + (4 if self.boxed else 0)
        return max(least, 2 * ports + 3) | 1

    def _height(self, item: int) -> int:
        kind, name = self.level.kinds[item], self.level.names[item]
        if kind == FRAME:
            return self.blocks[name].height
        if kind != BOX:
            return 0
        return len(self.words[name].lines) + (2 if self.boxed else 0)

    def _shape(self, item: int, points: float) -> Shape:
        kind, name = self.level.kinds[item], self.level.names[item]
        doors = {}
        if kind == FRAME:
            half = self.widths[item] // 2
            doors = {key: (x - half) * points for key, x in self.blocks[name].doors.items()}
        across = 0.0 if kind == TITLE else self.widths[item] * points
        return Shape(across, 1.0, doors)

    # --- where lines touch items ---

    def pin(self) -> None:
        """Compute the columns at which lines leave their first items and reach their last items."""
        above: dict[int, list[tuple[float, int, int]]] = {}
        below: dict[int, dict[object, tuple[float, int]]] = {}
        for number, route in enumerate(self.level.routes):
            if route.beside:
                continue
            first, last = route.stops[0], route.stops[-1]
            near = self.middle[route.stops[-2]] if route.lane < 0 else self.right
            above.setdefault(last, []).append((route.head, near, number))
            near = self.middle[route.stops[1]] if route.lane < 0 else self.right
            below.setdefault(first, {}).setdefault(self.port(number), (route.tail, near))
        for item, arrivals in above.items():
            numbers = [number for *_, number in sorted(arrivals)]
            edges = [self.level.routes[number].edge for number in numbers]
            columns = self._columns(item, ENTRY, edges)
            self.arrives.update(zip(numbers, columns, strict=True))
        for item, ports in below.items():
            keys = sorted(ports, key=lambda key: (ports[key], str(key)))
            edges = [key if isinstance(key, int) else -1 for key in keys]
            for column, key in zip(self._columns(item, EXIT, edges), keys, strict=True):
                self.leaves[item, key] = column

    def port(self, number: int) -> object:
        """Return the key of a route's line, equal for routes that leave an item as one line."""
        route = self.level.routes[number]
        if self.level.kinds[route.stops[0]] == FRAME:
            return route.edge
        if route.turned:
            return route.edge
        return f"port {route.tail} {self.is_broken(route)}"

    def is_broken(self, route: Route) -> bool:
        """Return whether a route is dashed, because its arrow is a gradient or an update."""
        return self.graph.edges[route.edge].attrs.get("role") in BACKWARD_ROLES

    def _columns(self, item: int, door: str, edges: list[int]) -> list[int]:
        """Return the columns of lines at an item: at a frame's doors, or around a box's middle."""
        if self.level.kinds[item] == FRAME:
            block, left = self.blocks[self.level.names[item]], self.left(item)
            return [left + block.doors[door, edge] for edge in edges]
        count = len(edges)
        step = max(2, (self.widths[item] - 3) // max(count, 1) // 2 * 2)
        reach = (count - 1) * step
        first = self.middle[item] - reach // 2 // 2 * 2
        return [first + step * number for number in range(count)]

    def left(self, item: int) -> int:
        """Return the leftmost column of an item. For a frame, this column is even."""
        return self.middle[item] - self.widths[item] // 2

    # --- between the rows ---

    def collect_nets(self) -> None:
        """Store, for each gap between rows, the columns that each line connects."""
        level = self.level
        for number, route in enumerate(level.routes):
            if route.beside:
                continue
            first, last = route.stops[0], route.stops[-1]
            port, broken = self.port(number), self.is_broken(route)
            start, end = self.leaves[first, port], self.arrives[number]
            row, last_row = level.row_of[first], level.row_of[last]
            if route.turned and level.kinds[first] == BOX:
                self.heads.append((first, start, True, route.edge))
            if not route.turned and level.kinds[last] == BOX:
                self.heads.append((last, end, False, route.edge))
            source = (first, port)
            if route.lane >= 0:
                self._along_lane(number, source, (start, end), (row, last_row), broken)
                continue
            for step in range(row + 1, last_row + 1):
                upper, lower = route.stops[step - row - 1], route.stops[step - row]
                top = start if upper == first else self.middle[upper]
                bottom = end if lower == last else self.middle[lower]
                key = source if upper == first else ("bend", upper)
                self._connect(step, key, top, bottom, broken)
                if lower != last:
                    self.passing[step].append((self.middle[lower], broken))

    def _connect(self, gap: int, key: object, top: int, bottom: int, broken: bool) -> None:
        net = self.gaps[gap].setdefault(key, Net((gap, key), broken=broken))
        if top not in net.tops:
            net.tops.append(top)
        if bottom not in net.bottoms:
            net.bottoms.append(bottom)

    def _along_lane(
        self,
        number: int,
        source: object,
        ends: tuple[int, int],
        rows: tuple[int, int],
        broken: bool,
    ) -> None:
        """Route a line through a lane to the right of the rows, down or up."""
        column = (self.right + 3) // 2 * 2 + 2 * self.level.routes[number].lane
        (start, end), (row, last_row) = ends, rows
        key = ("lane", number)
        if last_row > row + 1:
            self._connect(row + 1, source, start, column, broken)
            self._connect(last_row, key, column, end, broken)
            between = range(row + 1, last_row)
            gaps = range(row + 2, last_row)
        else:
            net = self.gaps[row + 1].setdefault(source, Net((row + 1, source), broken=broken))
            net.tops += [x for x in (start, column) if x not in net.tops]
            self.gaps[last_row][key] = Net((last_row, key), [], [column, end], broken)
            between = range(last_row, row + 1)
            gaps = range(last_row + 1, row + 1)
        for passed in between:
            self.passing[passed].append((column, broken))
        for gap in gaps:
            self._connect(gap, key, column, column, broken)

    # --- on the canvas ---

    def drawn(self) -> Block:
        """Draw all gaps and rows from top to bottom."""
        level, y = self.level, 0
        block = Block(self.canvas, 0, 0)
        tops = []
        for gap in range(len(level.rows) + 1):
            y = self._draw_gap(gap, y)
            if gap == len(level.rows):
                break
            height = max((self.heights[item] for item in level.rows[gap]), default=0)
            tops.append(y)
            depth = level.depths[gap]
            if depth is not None:
                block.depths.append((depth, y + (1 if self.boxed and height > 2 else 0)))
            self._draw_row(gap, y, height, block)
            y += height
        for item, kind in enumerate(level.kinds):
            if kind in (ENTRY, EXIT):
                block.doors[kind, level.edges[item]] = self.middle[item]
        self._draw_heads(block)
        reach = [left + width - 1 for left, _, width, _ in block.spots.values()]
        block.width = 1 + max([*reach, *(x for x, _ in self.canvas.cells)], default=0)
        block.height = y
        return block

    def _draw_gap(self, gap: int, y: int) -> int:
        """Draw the lines in the gap between two rows, and return the y at its end."""
        rows = self.level.rows
        nets, tracks = assign_tracks(list(self.gaps[gap].values()))
        upward = gap > 0 and any(up and item in rows[gap - 1] for item, _, up, _ in self.heads)
        downward = gap < len(rows) and any(
            not up and item in rows[gap] for item, _, up, _ in self.heads
        )
        height = upward + tracks + downward
        if not self.boxed and 0 < gap < len(rows) and not height and self._has_items(gap):
            height = 1
        first, end = y + upward, y + height
        for net in nets:
            track = first + net.track
            if net.track < 0:
                self._straight(net.line, net.span[0], y, end, net.broken)
                continue
            begin = y if net.after is None else first + net.after.track
            for column in net.tops:
                self.canvas.vertical(net.line, column, begin, track, net.broken)
                if net.after is None:
                    self.canvas.join(net.line, column, begin, UP, net.broken)
            follower = any(other.after is net for other in nets)
            for column in net.bottoms:
                if not follower:
                    self.canvas.vertical(net.line, column, track, end - 1, net.broken)
                    self.canvas.join(net.line, column, end - 1, DOWN, net.broken)
            self.canvas.horizontal(net.line, track, *net.span, net.broken)
        return end

    def _has_items(self, gap: int) -> bool:
        """Return whether boxes or frames are in both of the rows around a gap."""
        kinds = self.level.kinds
        return all(
            any(kinds[item] in (BOX, FRAME) for item in self.level.rows[row])
            for row in (gap - 1, gap)
        )

    def _draw_row(self, row: int, y: int, height: int, block: Block) -> None:
        level = self.level
        for column, broken in self.passing[row]:
            for line in range(y, y + height):
                self.canvas.join(("row", row, column), column, line, UP | DOWN, broken)
        self._join_items(row, y, height)
        for item in level.rows[row]:
            kind, name = level.kinds[item], level.names[item]
            if kind not in (BOX, FRAME):
                continue
            left, top = self.left(item), y + (height - self.heights[item]) // 2
            if kind == FRAME:
                inner = self.blocks[name]
                self.canvas.paste(inner.canvas, left, top)
                for box, (x, line, wide, deep) in inner.spots.items():
                    block.spots[box] = (x + left, line + top, wide, deep)
                continue
            block.spots[name] = (left, top, self.widths[item], self.heights[item])
            draw_box(self.canvas, self.words[name], block.spots[name], self.boxed, self.ascii_only)
            if self.boxed:
                self._mark_ports(item, top, top + self.heights[item] - 1)
        for route in level.routes:
            if route.beside and level.row_of[route.stops[0]] == row:
                ends = [block.spots[level.names[item]] for item in route.stops]
                arrow = BesideArrow(route.turned, self.is_broken(route), self.ascii_only)
                draw_beside(self.canvas, ends[0], ends[-1], arrow)

    def _join_items(self, row: int, y: int, height: int) -> None:
        """Extend lines up and down to boxes and frames that are less high than their row."""
        for number, route in enumerate(self.level.routes):
            if route.beside:
                continue
            first, last = route.stops[0], route.stops[-1]
            broken = self.is_broken(route)
            if self.level.row_of[last] == row:
                top = y + (height - self.heights[last]) // 2
                self._straight(("in", number), self.arrives[number], y, top, broken)
            if self.level.row_of[first] == row:
                bottom = y + (height - self.heights[first]) // 2 + self.heights[first]
                column = self.leaves[first, self.port(number)]
                self._straight(("out", first, column), column, bottom, y + height, broken)

    def _straight(self, line: object, x: int, top: int, bottom: int, broken: bool) -> None:
        for y in range(top, bottom):
            self.canvas.join(line, x, y, UP | DOWN, broken)

    def _mark_ports(self, item: int, top: int, bottom: int) -> None:
        """Write indices of inputs and outputs, or symbols of line ends, on a box's border."""
        words = self.words[self.level.names[item]]
        for number, route in enumerate(self.level.routes):
            attrs = self.graph.edges[route.edge].attrs
            if route.beside or self.is_broken(route):
                continue
            if route.stops[-1] == item and words.inputs > 1 and int(attrs.get("operand", 10)) < 10:
                self.canvas.write(self.arrives[number], top, str(attrs["operand"]), "bold")
            if route.stops[0] == item:
                mark = "+" if self.ascii_only else "┬"
                if words.outputs > 1 and int(attrs.get("output", 10)) < 10:
                    mark = str(attrs["output"])
                self.canvas.write(self.leaves[item, self.port(number)], bottom, mark, "dim")

    def _draw_heads(self, block: Block) -> None:
        """Draw the arrow heads at their boxes, with the labels of the arrows."""
        down, up = ("v", "^") if self.ascii_only else ("▼", "▲")
        for item, column, is_upward, edge in self.heads:
            _, top, _, height = block.spots[self.level.names[item]]
            y = top + height if is_upward else top - 1
            self.canvas.write(column, y, up if is_upward else down)
            label = plain(self.graph.edges[edge].label, self.ascii_only)
            needed = cell_len(label) + 1
            if label and label.isprintable() and self.canvas.is_free(column + 1, y, needed):
                self.canvas.write(column + 1, y, label, "dim")


# --- tracks of the lines between two rows (channel routing) ---------------------------------------
#
# A net is a set of columns above and below a gap that one line connects. Each net that does not run
# straight down gets a track, a row of characters for its horizontal part. Two nets may share a
# track if they do not overlap. If one net arrives from above in the same column in which another
# leaves below, the first must have the higher track. If these constraints form a cycle, one net
# changes its column on the way and takes two tracks.


@dataclass(slots=True, eq=False)
class Net:
    """A net: columns that one line connects in the gap between two rows of boxes.

    A line draws one arrow, or several arrows from the same output.

    Attributes
    ----------
    line : hashable
        Identifies the line. A crossing of two nets of one line is not visible.
    tops, bottoms : list of int
        Columns at the upper and at the lower end of the gap. They are even, so no two lines touch.
    broken : bool
        Whether the line is dashed.
    track : int
        The index of the net's track; -1 if the net runs straight down.
    after : Net, optional
        The first part of the net, if this net is the second part of a net that was split in two.
        The first part must have a higher track.
    """

    line: Hashable
    tops: list[int] = field(default_factory=list)
    bottoms: list[int] = field(default_factory=list)
    broken: bool = False
    track: int = -1
    after: Net | None = None

    @property
    def span(self) -> tuple[int, int]:
        """The leftmost and the rightmost column that the net connects."""
        columns = self.tops + self.bottoms
        return min(columns), max(columns)


def assign_tracks(nets: list[Net]) -> tuple[list[Net], int]:
    """Assign a track (a row of characters) to the horizontal part of every net in a gap.

    A net is the set of columns that one line of the picture, `net.line`, connects in a gap between
    two rows of boxes. A net that runs straight down gets no track.

    Returns
    -------
    list of Net
        All nets; a net with two tracks was split into two.
    int
        The number of tracks.

    Examples
    --------
    >>> crossing = [Net("a", [0], [4]), Net("b", [4], [0]), Net("c", [8], [8])]
    >>> nets, count = assign_tracks(crossing)
    >>> [net.line for net in nets], count
    (['c', 'a', 'b', 'a'], 3)
    """
    done = [net for net in nets if net.span[0] == net.span[1]]
    waiting = [net for net in nets if net.span[0] != net.span[1]]
    track = 0
    while waiting:
        above: dict[int, list[Net]] = {}
        for net in waiting:
            for column in net.tops:
                above.setdefault(column, []).append(net)
        ready = [net for net in waiting if _is_ready(net, above, waiting)]
        if not ready:
            waiting = _cut(waiting, done)
            continue
        end = None
        for net in sorted(ready, key=lambda net: net.span):
            if end is None or net.span[0] > end:
                net.track, end = track, net.span[1]
                done.append(net)
        waiting = [net for net in waiting if net.track < 0]
        track += 1
    return done, track


def _is_ready(net: Net, above: dict[int, list[Net]], waiting: list[Net]) -> bool:
    """Return whether a net, the part of a line in a gap between rows, can get its track now.

    It can if all nets that must be above it have their tracks.
    """
    if net.after is not None and net.after in waiting:
        return False
    return not any(
        other is not net and other is not net.after and other.after is not net
        for column in net.bottoms
        for other in above.get(column, ())
    )


def _cut(waiting: list[Net], done: list[Net]) -> list[Net]:
    """Split the first `Net` without a track in two, which meet in a column that no other uses."""
    net = next(one for one in waiting if one.after is None)
    used = {column for one in [*done, *waiting] for column in one.tops + one.bottoms}
    left, right = net.span
    free = next(
        column
        for distance in range(0, 2 * len(used) + right - left + 4, 2)
        for column in (left + distance, left - distance)
        if column >= 0 and column not in used
    )
    first = Net(net.line, net.tops, [free], net.broken)
    second = Net(net.line, [free], net.bottoms, net.broken, after=first)
    for one in waiting:
        if one.after is net:  # the net itself is a part of a net that was cut
            one.after = second
    return [first, second, *(one for one in waiting if one is not net)]
