"""The form "u": an encoder that goes down, a decoder that comes up, and what is copied across.

A row is a resolution, the height of a volume follows it, its width the logarithm of its channels.
Pooling and upsampling are the arrows between the rows. A tensor that skips the way down and up is a
dashed arrow to where it is joined; what was copied stands there in a dashed frame.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from kerascope.viz.figure.marks import BROKEN, SMALLEST, Canvas, Page, fitting_size
from kerascope.viz.figure.reading import (
    TIMES,
    Part,
    Reading,
    class_of,
    shape_text,
    sides_of,
)
from kerascope.viz.layout.measures import text_width
from kerascope.viz.sheet import Polygon, Sheet, data_of

DRAWN = {"input", "convolution", "pooling", "upsampling", "merge"}


@dataclass
class Row:
    """One resolution: what lies on the way down (at the bottom all) and on the way up."""

    down: list[Part] = field(default_factory=list)
    up: list[Part] = field(default_factory=list)


@dataclass
class Layout:
    """A model as a U.

    Attributes
    ----------
    rows : list of Row
        From the finest resolution to the coarsest.
    falls, rises : dict of int to list of Part
        Poolings that lead down to a row, upsamplings that lead up to it: they are arrows.
    skips : list of tuple (Part, Part, list of Part)
        What is copied, where it is joined, and what lies between (a cropping).
    """

    rows: list[Row]
    falls: dict[int, list[Part]]
    rises: dict[int, list[Part]]
    skips: list[tuple[Part, Part, list[Part]]]


def suits(reading: Reading) -> bool:
    """Tell whether a model goes down and up again in resolution, with copies across."""
    return layout_of(reading) is not None


def layout_of(reading: Reading) -> Layout | None:
    """Return a model as a U, None if it is none."""
    ends = [one for one, targets in reading.targets.items() if not targets]
    if len(ends) != 1 or not {"convolution", "upsampling"} & reading.kinds:
        return None
    path = _longest_path(reading, ends[0])
    if any(len(sides_of(part.shape)[0]) not in (1, 2) or not part.shape for part in path):
        return None
    if not {part.kind for part in path} <= DRAWN:  # others would be volumes without a name
        return None
    layout = _rows(path)
    if layout is None:
        return None
    on_path = {part.node.id for part in path}
    for part in path:
        for source in reading.sources[part.node.id]:
            between: list[Part] = []
            while source not in on_path and _is_cropping(reading, source):
                between.insert(0, reading.parts[source])
                source = reading.sources[source][0]
            if source not in on_path:
                return None
            if source != path[max(0, path.index(part) - 1)].node.id:
                layout.skips.append((reading.parts[source], part, between))
    across = {one.node.id for _, _, between in layout.skips for one in between}
    whole = on_path | across == set(reading.parts)
    return layout if whole and layout.skips and _lie_across(layout) else None


def _is_cropping(reading: Reading, one: str) -> bool:
    """Return whether a part only crops what is copied: any other would be lost on the arrow."""
    return len(reading.sources[one]) == 1 and "Crop" in class_of(reading.parts[one].node)


def _longest_path(reading: Reading, end: str) -> list[Part]:
    length: dict[str, int] = {}
    for one in reading.parts:
        length[one] = 1 + max((length[source] for source in reading.sources[one]), default=0)
    path = [end]
    while reading.sources[path[-1]]:
        path.append(max(reading.sources[path[-1]], key=length.__getitem__))
    return [reading.parts[one] for one in reversed(path)]


def _rows(path: list[Part]) -> Layout | None:
    """Sort the parts of the long way into rows; None if it does not go down once and up once."""
    layout = Layout([Row()], {}, {}, [])
    row, rising = 0, False
    size = _area(path[0])
    for part in path:
        area = _area(part)
        if area < size * 0.6:  # unpadded convolutions shrink an image too, by little
            if rising:
                return None
            row += 1
            layout.rows.append(Row())
            layout.falls[row] = []
        elif area > size * 1.6:
            row, rising = row - 1, True
            if row < 0:
                return None
            layout.rises[row] = []
        size = area
        if part.kind == "pooling" and not rising:
            layout.falls.setdefault(row, []).append(part)
        elif part.kind == "upsampling":
            layout.rises.setdefault(row, []).append(part)
        else:
            (layout.rows[row].up if rising else layout.rows[row].down).append(part)
    ways = [*layout.falls.values(), *layout.rises.values()]  # each is one arrow
    if (
        layout.falls.get(0)
        or len(layout.rows) - 1 in layout.rises
        or max(map(len, ways), default=0) > 1
    ):
        return None
    complete = rising and row == 0 and len(layout.rows) > 1
    return layout if complete and all(one.down for one in layout.rows) else None


def _area(part: Part) -> float:
    return float(math.prod(sides_of(part.shape)[0]))


def _lie_across(layout: Layout) -> bool:
    """Tell whether each copy goes from the left to the right side of its own row."""
    rows = {part.node.id: (number, side)
            for number, row in enumerate(layout.rows)
            for side, parts in (("down", row.down), ("up", row.up))
            for part in parts}  # fmt: skip
    places = [(rows.get(a.node.id), rows.get(b.node.id)) for a, b, _ in layout.skips]
    return all(a and b and a[0] == b[0] and (a[1], b[1]) == ("down", "up") for a, b in places)


# --- drawing --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Box:
    """Where a volume lies."""

    part: Part
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Half its height."""
        return self.y + self.height / 2

    @property
    def center(self) -> float:
        """Half its width."""
        return self.x + self.width / 2

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.x + self.width


def u_shape(reading: Reading, page: Page) -> Sheet:
    """Draw an encoder and a decoder with copies across."""
    layout = layout_of(reading)
    assert layout is not None  # it suits
    canvas = Canvas(page)
    boxes = _placed(layout, page)
    _draw_arrows(canvas, layout, boxes)
    joined = {target.node.id: source for source, target, _ in layout.skips}
    for number, row in enumerate(layout.rows):
        first, last = boxes[row.down[0].node.id], boxes[(row.up or row.down)[-1].node.id]
        came, goes = (first.center, last.center) if number else (-math.inf, math.inf)
        for parts in (row.down, row.up):
            run = [boxes[part.node.id] for part in parts]
            _draw_run(canvas, run, joined, came, goes, _usual_window(layout))
    _draw_sizes(canvas, layout, boxes)
    bottom = max(box.y + box.height for box in boxes.values())
    bottom = _draw_key(canvas, layout, bottom + (15.0 if page.narrow else 20.0))
    return canvas.sheet(bottom, _legend(layout))


def _placed(layout: Layout, page: Page) -> dict[str, Box]:
    """Return where each volume lies: each row begins below the end of the one before it."""
    runs = [row.down for row in layout.rows] + [row.up for row in reversed(layout.rows) if row.up]
    gaps = sum(len(run) - 1 for run in runs) or 1
    margin = 22.0 if page.narrow else 32.0
    scale, room = 1.0, page.width - 2 * margin
    while True:
        wide = sum(_wide(part, page) * scale for run in runs for part in run)
        turns = [(_wide(a[-1], page) + _wide(b[0], page)) / 2 * scale for a, b in pairwise(runs)]
        gap = (room - wide + sum(turns)) / gaps
        if gap >= (5.0 if page.narrow else 8.0) or scale < 0.3:
            break
        scale -= 0.05
    gap = min(max(gap, 2.0), 24.0)
    x = (page.width - wide + sum(turns) - gap * gaps) / 2
    heights = _heights(layout, page)
    tops = [11.0 if page.narrow else 13.0]
    for height in heights:
        tops.append(tops[-1] + height + (15.0 if page.narrow else 19.0))
    numbers = [*range(len(layout.rows))]
    numbers += [number for number in reversed(numbers) if layout.rows[number].up]
    boxes: dict[str, Box] = {}
    for turn, (run, number) in enumerate(zip(runs, numbers, strict=True)):
        for part in run:
            width = _wide(part, page) * scale
            boxes[part.node.id] = Box(part, x, tops[number], width, heights[number])
            x += width + gap
        x -= gap
        if turn < len(turns):
            x -= turns[turn]
    return boxes


def _heights(layout: Layout, page: Page) -> list[float]:
    tall = (30.0 if page.narrow else 44.0) * (1.0 if len(layout.rows) > 3 else 1.4)
    greatest = _area(layout.rows[0].down[0])
    return [max(9.0, tall * (_area(row.down[0]) / greatest) ** 0.25) for row in layout.rows]


def _wide(part: Part, page: Page) -> float:
    channels = sides_of(part.shape)[1]
    return 2.0 + math.log2(channels + 1) * (0.95 if page.narrow else 1.7)


def _draw_run(
    canvas: Canvas,
    boxes: list[Box],
    joined: dict[str, Part],
    came: float,
    goes: float,
    usual: str,
) -> None:
    """Draw volumes beside each other, arrows between them, and their channels above.

    `came` and `goes` are where an arrow comes down from the row above, and goes up to it; `usual`
    is the window of most convolutions: others have another arrow.
    """
    narrow = canvas.page.narrow
    for before, after in pairwise(boxes):
        other = after.part.kind == "convolution" and after.part.window != usual
        color = canvas.look.accent("grey" if other else "blue")
        path = ((before.right + 0.4, before.middle), (after.x - 0.4, after.middle))
        canvas.line(path, color=color, width=0.7 if narrow else 0.9)
    for box in boxes:
        part = box.part
        data = data_of(part.members, shape_text(part.shape))
        kind = "convolution" if part.kind == "merge" else part.kind
        canvas.rect(box.x, box.y, box.width, box.height, kind, line_width=0.6, data=data)
        if part.node.id in joined and "Concat" in class_of(part.node):
            channels = sides_of(joined[part.node.id].shape)[1] / sides_of(part.shape)[1]
            _, line, _ = canvas.look.box("merge")
            wide = box.width * channels
            points = ((box.x, box.y), (box.x + wide, box.y),
                      (box.x + wide, box.y + box.height), (box.x, box.y + box.height))  # fmt: skip
            canvas.marks.append(Polygon(points, canvas.look.ground, line, 0.6, BROKEN))
    size = SMALLEST + (0.0 if narrow else 1.0)
    for run in _equal_runs(boxes):
        x = (run[0].x + run[-1].right) / 2
        text = str(sides_of(run[0].part.shape)[1])
        half = text_width(text, size) * 0.56 + 2.0
        if abs(x - came) < half:  # an arrow comes down there
            x = came + half
        if abs(x - goes) < half:  # or goes up
            x = goes - half
        layers = [member for box in run for member in box.part.members]
        y = run[0].y - 2.2
        if -math.inf < came and goes < math.inf and goes - came < 4 * half:  # the lowest row
            x, y = (run[0].x + run[-1].right) / 2, run[0].y + run[0].height + size
        canvas.words(x, y, text, size=size, data=data_of(layers, says="channels"))


def _equal_runs(boxes: list[Box]) -> Iterator[list[Box]]:
    """Yield neighbours with one number of channels; a number stands once above them."""
    run: list[Box] = []
    for box in boxes:
        if run and sides_of(run[0].part.shape)[1] != sides_of(box.part.shape)[1]:
            yield run
            run = []
        run.append(box)
    if run:
        yield run


def _draw_sizes(canvas: Canvas, layout: Layout, boxes: dict[str, Box]) -> None:
    """Write the resolution of each row at its left, and at its right where it differs."""
    left = min(box.x for box in boxes.values())
    for row in layout.rows:
        first, last = boxes[row.down[0].node.id], (row.up or row.down)[-1]
        text = _size_text(row.down[-1] if row.down[-1].shape else row.down[0])
        data = data_of([one for part in row.down for one in part.members], says="sides")
        y = first.middle + 2.4
        canvas.words(left - 3.0, y, text, size=SMALLEST, anchor="end", quiet=True, data=data)
        if row.up and _size_text(last) != text:
            box = boxes[last.node.id]
            data = data_of(last.members, says="sides")
            text = _size_text(last)
            canvas.words(
                box.right + 3.0, y, text, size=SMALLEST, anchor="start", quiet=True, data=data
            )


def _size_text(part: Part) -> str:
    sides, _ = sides_of(part.shape)
    if len(sides) == 2 and sides[0] == sides[1]:
        return f"{sides[0]}\u00b2"
    return TIMES.join(map(str, sides))


def _draw_arrows(canvas: Canvas, layout: Layout, boxes: dict[str, Box]) -> None:
    """Draw the ways down, up and across."""
    look = canvas.look
    for number, (above, below) in enumerate(pairwise(layout.rows), 1):
        start, end = boxes[above.down[-1].node.id], boxes[below.down[0].node.id]
        data = data_of([m for part in layout.falls.get(number, ()) for m in part.members])
        path = ((end.center, start.y + start.height + 0.8), (end.center, end.y - 0.8))
        canvas.line(path, color=look.accent("vermillion"), width=0.9, data=data)
        start, end = boxes[(below.up or below.down)[-1].node.id], boxes[above.up[0].node.id]
        rising = layout.rises.get(number - 1, ())
        data = data_of([m for part in rising for m in part.members])
        path = ((start.center, start.y - 0.8), (start.center, end.y + end.height + 0.8))
        canvas.line(path, color=look.accent("green"), width=0.9, data=data)
    for source, target, between in layout.skips:
        start, end = boxes[source.node.id], boxes[target.node.id]
        path = ((start.right + 1.5, start.middle), (end.x - 1.5, end.middle))
        data = data_of([member for part in between for member in part.members])
        color = look.accent("orange")
        canvas.line(path, color=color, width=0.9, dashed=True, data=data)


def _draw_key(canvas: Canvas, layout: Layout, top: float) -> float:
    """Draw what the arrows mean."""
    look = canvas.look
    size = SMALLEST + (0.0 if canvas.page.narrow else 1.0)
    entries = [
        (look.accent(hue), words, words.startswith("copy")) for hue, words in _arrows(layout)
    ]
    ways = [{"vermillion": 1.0, "green": -1.0}.get(hue, 0.0) for hue, _ in _arrows(layout)]
    gap = 5.0 if canvas.page.narrow else 18.0
    wide = [14.0 + text_width(words, size) * 1.13 for _, words, _ in entries]
    rows = [range(len(entries))]
    if sum(wide) + gap * (len(wide) - 1) > canvas.page.width - 4.0:
        half = (len(entries) + 1) // 2
        rows = [range(half), range(half, len(entries))]
    for row in rows:
        x = (canvas.page.width - sum(wide[i] for i in row) - gap * (len(row) - 1)) / 2
        for i in row:
            color, words, dashed = entries[i]
            path = ((x, top - 2.0), (x + 11.0, top - 2.0))
            if ways[i]:  # as in the figure: down, or up
                x0, reach = x + 6.0, 4.5 * ways[i]
                path = ((x0, top - 2.2 - reach), (x0, top - 2.2 + reach))
            canvas.line(path, color=color, width=0.9, dashed=dashed)
            size_here = fitting_size(words, wide[i], size) or SMALLEST
            canvas.words(x + 13.0, top, words, size=size_here, anchor="start", quiet=True)
            x += wide[i] + gap
        top += size + 3.0
    return top - size + 1.0


def _convolutions(layout: Layout) -> list[Part]:
    parts = (part for row in layout.rows for part in (*row.down, *row.up))
    return [part for part in parts if part.kind == "convolution"]


def _usual_window(layout: Layout) -> str:
    """Return the window that most convolutions have."""
    windows = Counter(part.window for part in _convolutions(layout)).most_common(1)
    return windows[0][0] if windows else ""


def _arrows(layout: Layout) -> Iterator[tuple[str, str]]:
    convolutions, usual = _convolutions(layout), _usual_window(layout)
    activations = dict.fromkeys(part.activation for part in convolutions[:-1] if part.activation)
    yield (
        "blue",
        f"conv {usual}".strip() + "".join(f", {one}" for one in list(activations)[:1]),
    )
    others = dict.fromkeys(part.window for part in convolutions if part.window != usual)
    if others:
        yield "grey", f"conv {' / '.join(others)}".strip()
    if any("Cropping" in class_of(part.node) for _, _, between in layout.skips for part in between):
        yield "orange", "copy, crop"
    else:
        yield "orange", "copy"
    falls = [part for parts in layout.falls.values() for part in parts]
    names = dict.fromkeys("max pool" if "Max" in class_of(p.node) else "mean pool" for p in falls)
    window = next((part.window for part in falls if part.window), "")
    yield "vermillion", " ".join(["/".join(names) or "stride", window]).strip()
    rises = [part for parts in layout.rises.values() for part in parts]
    transposed = any("Transpose" in class_of(part.node) for part in rises)
    window = next((part.window for part in rises if part.window), "")
    yield "green", " ".join(["up-conv" if transposed else "upsample", window]).strip()


def _legend(layout: Layout) -> str:
    words = "; ".join(words for _, words in _arrows(layout))
    sides = _size_text(layout.rows[0].down[-1])
    plain = sides.rstrip("\u00b2")
    square = "" if plain == sides else f" ({sides}: {plain}{TIMES}{plain})"
    return (
        "Each box is what a layer gives: its number of channels stands above, the sides of the "
        f"image at the left of a row{square}, at its right where they differ. "
        "Dashed frames are copies of what the way down gave. "
        f"Arrows: {words}."
    )
