"""The form "u": an encoder that goes down, a decoder that goes up, and tensors copied across.

Each row is a resolution. The height of a volume follows its resolution, its width the logarithm of
its channels. Pooling and upsampling are the arrows between the rows. A tensor that is copied from
the encoder to the decoder is a dashed arrow across its row. The layer that concatenates it shows
its channels as a dashed frame.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from kerascope.viz.figure.drawer import FigureLayout
from kerascope.viz.figure.legends import KeyEntry
from kerascope.viz.figure.living import image_marks
from kerascope.viz.figure.marks import SMALLEST, Page, arrow, box, frame, words
from kerascope.viz.figure.reading import TIMES, Part, Reading, class_of, members_of
from kerascope.viz.sheet import Shape, data_of, padded_width

DRAWN = {"input", "convolution", "pooling", "upsampling", "merge"}


@dataclass
class ResolutionRow:
    """The parts with one resolution: those on the way down the U, and those on the way up.

    In the lowest row, all parts are on the way down.
    """

    down: list[Part] = field(default_factory=list)
    up: list[Part] = field(default_factory=list)

    @property
    def last(self) -> Part:
        """The part at the right end of the row."""
        return (self.up or self.down)[-1]


@dataclass
class UShape:
    """A model whose resolution falls and rises again, as the figure form "u" draws it.

    Attributes
    ----------
    rows : list of ResolutionRow
        From the finest resolution to the coarsest.
    falls, rises : dict of int to list of Part
        The poolings that lead down to a row and the upsamplings that lead up to it, by the row's
        index. They are drawn as arrows.
    skips : list of tuple (Part, Part, list of Part)
        The part whose output is copied, the part that joins the copy, and the croppings between
        them.
    """

    rows: list[ResolutionRow]
    falls: dict[int, list[Part]]
    rises: dict[int, list[Part]]
    skips: list[tuple[Part, Part, list[Part]]]


def suits(reading: Reading) -> bool:
    """Return whether a model's resolution falls and rises again, and tensors are copied across."""
    return shape_of_u(reading) is not None


def shape_of_u(reading: Reading) -> UShape | None:
    """Return a model as a `UShape`, or None if the form "u" does not suit the model."""
    ends = [one for one, targets in reading.targets.items() if not targets]
    if len(ends) != 1 or not {"convolution", "upsampling"} & reading.kinds:
        return None
    path = reading.longest_path([*reading.parts])
    if any(len(part.sides) not in (1, 2) or not part.shape for part in path):
        return None
    if not {part.kind for part in path} <= DRAWN:  # others would be volumes without a name
        return None
    u = _rows(path)
    if u is None:
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
                u.skips.append((reading.parts[source], part, between))
    across = {one.node.id for _, _, between in u.skips for one in between}
    whole = on_path | across == set(reading.parts)
    return u if whole and u.skips and _stay_in_rows(u) else None


def _is_cropping(reading: Reading, one: str) -> bool:
    """Return whether a part only crops its input. A copied output may pass such parts."""
    return len(reading.sources[one]) == 1 and "Crop" in class_of(reading.parts[one].node)


def _rows(path: list[Part]) -> UShape | None:
    """Return the parts of a path as a `UShape`, in rows by resolution, or None.

    It is None unless the resolution first falls and then rises by as many rows as it fell.
    """
    u = UShape([ResolutionRow()], {}, {}, [])
    row, rising = 0, False
    size = _area(path[0])
    for part in path:
        area = _area(part)
        if area < size * 0.6:  # unpadded convolutions shrink an image too, by little
            if rising:
                return None
            row += 1
            u.rows.append(ResolutionRow())
        elif area > size * 1.6:
            row, rising = row - 1, True
            if row < 0:
                return None
        size = area
        if part.kind == "pooling" and not rising:
            u.falls.setdefault(row, []).append(part)
        elif part.kind == "upsampling":
            u.rises.setdefault(row, []).append(part)
        else:
            (u.rows[row].up if rising else u.rows[row].down).append(part)
    ways = [*u.falls.values(), *u.rises.values()]  # each of these layers is one arrow
    if u.falls.get(0) or len(u.rows) - 1 in u.rises or max(map(len, ways), default=0) > 1:
        return None
    complete = rising and row == 0 and len(u.rows) > 1
    return u if complete and all(one.down for one in u.rows) else None


def _area(part: Part) -> float:
    return float(math.prod(part.sides))


def _stay_in_rows(u: UShape) -> bool:
    """Return whether each copy goes from the left to the right side of a single row."""
    rows = {part.node.id: (number, side)
            for number, row in enumerate(u.rows)
            for side, parts in (("down", row.down), ("up", row.up))
            for part in parts}  # fmt: skip
    places = [(rows.get(a.node.id), rows.get(b.node.id)) for a, b, _ in u.skips]
    return all(a and b and a[0] == b[0] and (a[1], b[1]) == ("down", "up") for a, b in places)


# --- places ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Volume:
    """The box that draws a part in the form "u", with its upper left corner at (x, y)."""

    part: Part
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The y coordinate of the middle of the volume."""
        return self.y + self.height / 2

    @property
    def center(self) -> float:
        """The x coordinate of the middle of the volume."""
        return self.x + self.width / 2

    @property
    def right(self) -> float:
        """The x coordinate of the right end of the volume."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y coordinate of the lower end of the volume."""
        return self.y + self.height


def u_shape(reading: Reading, page: Page) -> FigureLayout:
    """Return the layout of an encoder and a decoder, with arrows for the copied tensors."""
    u = shape_of_u(reading)
    assert u is not None  # it suits
    whole = u
    if reading.is_living:
        u = _with_few_images(u)
    volumes = _placed(u, page)
    key = _key(whole)
    marks = [*_arrows(u, volumes)]
    joined = {target.node.id: source for source, target, _ in u.skips}
    for number, row in enumerate(u.rows):
        first, last = volumes[row.down[0].node.id], volumes[row.last.node.id]
        came, goes = (first.center, last.center) if number else (-math.inf, math.inf)
        for parts in (row.down, row.up):
            run = [volumes[part.node.id] for part in parts]
            marks += _run(run, joined, page, _usual_window(whole))
            ends = came, goes
            if reading.is_living and row.up:  # each side has only one of the arrows
                ends = (came, math.inf) if parts is row.down else (-math.inf, goes)
            marks += _channels(run, page, *ends, outside=reading.is_living)
    marks += _sizes(u, volumes)
    bottom = max(volume.bottom for volume in volumes.values())
    sentences = _sentences(whole, key)
    if reading.is_living:
        images = "Each image is the output of the last layer in its place"
        sentences[0] = sentences[0].replace("Each box is the output of a layer", images)
        del sentences[1]  # there are no dashed frames
    return FigureLayout(marks, bottom + (5.0 if page.narrow else 10.0), sentences, key)


def _with_few_images(u: UShape) -> UShape:
    """Return a U with one image at each end of a row, for a living figure.

    The layers of a row's side are joined into its last one. The model's input and output stay, and
    so does the first layer of the lowest row, because the arrows down and up need different ends.
    """
    home: dict[str, Part] = {}

    def joined(parts: list[Part]) -> list[Part]:
        if not parts:
            return []
        last = replace(parts[-1], members=members_of(parts))
        home.update({part.node.id: last for part in parts})
        return [last]

    rows = []
    for number, row in enumerate(u.rows):
        is_lowest = number == len(u.rows) - 1
        first = row.down[:1] if is_lowest or row.down[0].kind == "input" else []
        first = first if len(row.down) > 1 else []
        last = row.up[-1:] if number == 0 and len(row.up) > 1 else []
        rest = joined(row.down[len(first) :]), joined(row.up[: len(row.up) - len(last)])
        home.update({part.node.id: part for part in (*first, *last)})
        rows.append(ResolutionRow([*first, *rest[0]], [*rest[1], *last]))
    skips = [(home[a.node.id], home[b.node.id], between) for a, b, between in u.skips]
    return UShape(rows, u.falls, u.rises, skips)


def _placed(u: UShape, page: Page) -> dict[str, Volume]:
    """Return the placed volumes of all rows. Each row begins below the end of the row before it."""
    runs = [row.down for row in u.rows] + [row.up for row in reversed(u.rows) if row.up]
    gaps = sum(len(run) - 1 for run in runs) or 1
    is_living = any(part.portrait for run in runs for part in run)
    heights = _heights(u, page)
    numbers = [*range(len(u.rows))]
    numbers += [number for number in reversed(numbers) if u.rows[number].up]
    widths = {
        part.node.id: heights[number] if part.portrait else _width(part, page)
        for number, run in zip(numbers, runs, strict=True)
        for part in run
    }
    margin = 22.0 if page.narrow else 32.0
    scale, room = 1.0, page.width - 2 * margin
    while True:
        wide = sum(width * scale for width in widths.values())
        ends = [(widths[a[-1].node.id], widths[b[0].node.id]) for a, b in pairwise(runs)]
        turns = [(wide_a + wide_b) / 2 * scale for wide_a, wide_b in ends]
        if is_living:  # the arrow is at the edge of the larger image
            turns = [min(wide_a, wide_b) / 2 * scale + 3.0 for wide_a, wide_b in ends]
            if len(u.rows[-1].down) == 1:  # both arrows meet one image, at its quarters
                lowest = len(u.rows) - 1
                turns[lowest - 1] = turns[lowest] = heights[-1] / 4 * scale + 3.0
        gap = (room - wide + sum(turns)) / gaps
        if gap >= (5.0 if page.narrow else 8.0) or scale < 0.3:
            break
        scale -= 0.05
    gap = min(max(gap, 2.0), 24.0)
    x = (page.width - wide + sum(turns) - gap * gaps) / 2
    if is_living:  # images keep their aspect
        heights = [height * scale for height in heights]
    tops = [11.0 if page.narrow else 13.0]
    for height in heights:
        tops.append(tops[-1] + height + (15.0 if page.narrow else 19.0))
    volumes: dict[str, Volume] = {}
    for run, number, turn in zip(runs, numbers, [*turns, 0.0], strict=True):
        for part in run:
            width = widths[part.node.id] * scale
            volumes[part.node.id] = Volume(part, x, tops[number], width, heights[number])
            x += width + gap
        x -= gap + turn
    return volumes


def _heights(u: UShape, page: Page) -> list[float]:
    tall = (30.0 if page.narrow else 44.0) * (1.0 if len(u.rows) > 3 else 1.4)
    least = 9.0
    if u.rows[0].down[0].portrait:
        tall, least = tall * 1.5, 18.0
    greatest = _area(u.rows[0].down[0])
    return [max(least, tall * (_area(row.down[0]) / greatest) ** 0.25) for row in u.rows]


def _width(part: Part, page: Page) -> float:
    return 2.0 + math.log2(part.channels + 1) * (0.95 if page.narrow else 1.7)


# --- marks ----------------------------------------------------------------------------------------


def _run(volumes: list[Volume], joined: dict[str, Part], page: Page, usual: str) -> Iterator[Shape]:
    """Yield the marks of neighbouring volumes and the arrows between these volumes.

    `usual` is the window of most convolutions. Convolutions with another window have arrows of
    another colour.
    """
    for before, after in pairwise(volumes):
        other = after.part.kind == "convolution" and after.part.window != usual
        ends = (before.right + 0.4, before.middle), (after.x - 0.4, after.middle)
        color = "accent grey" if other else "accent blue"
        yield arrow(*ends, color=color, width=0.7 if page.narrow else 0.9)
    for volume in volumes:
        part, place = volume.part, (volume.x, volume.y)
        if part.portrait:
            image = part.portrait.images[0]
            yield from image_marks(part, image, *place, volume.width, volume.height)
            continue
        kind = "convolution" if part.kind == "merge" else part.kind
        yield box(*place, volume.width, volume.height, kind, part.data, line_width=0.6)
        if part.node.id in joined and "Concat" in class_of(part.node):
            copied = volume.width * (joined[part.node.id].channels / part.channels)
            yield frame(*place, copied, volume.height, 0.0, ("ground", "line merge"))


def _channels(
    volumes: list[Volume], page: Page, came: float, goes: float, outside: bool = False
) -> Iterator[Shape]:
    """Yield labels with the numbers of channels above a row's volumes, next to the arrows.

    `came` is the x where an arrow from the row above ends; `goes` is the x where an arrow to the
    row above begins. The labels are between the two arrows or, with `outside`, beside them.
    """
    size = SMALLEST + (0.0 if page.narrow else 1.0)
    for channels, group in groupby(volumes, lambda volume: volume.part.channels):
        run = [*group]
        x = center = (run[0].x + run[-1].right) / 2
        text = str(channels)
        half = padded_width(text, size) / 2 + 2.0
        if abs(x - came) < half:
            x = came - half if outside else came + half
        if abs(x - goes) < half:
            x = goes + half if outside else goes - half
        y = run[0].y - 2.2
        if -math.inf < came and goes < math.inf and goes - came < 4 * half:  # the lowest row
            x, y = center, run[0].bottom + size
        data = data_of(members_of(volume.part for volume in run), says="channels")
        yield words(x, y, text, size, data=data)


def _sizes(u: UShape, volumes: dict[str, Volume]) -> Iterator[Shape]:
    """Yield the resolution of each row at its left end, and at its right end if it differs."""
    left = min(volume.x for volume in volumes.values())
    for row in u.rows:
        text, other = _size_text(row.down[-1]), _size_text(row.last)
        y = volumes[row.down[0].node.id].middle + 2.4
        data = data_of(members_of(row.down), says="sides")
        yield words(left - 3.0, y, text, SMALLEST, anchor="end", quiet=True, data=data)
        if row.up and other != text:
            x = volumes[row.last.node.id].right + 3.0
            data = data_of(row.last.members, says="sides")
            yield words(x, y, other, SMALLEST, anchor="start", quiet=True, data=data)


def _size_text(part: Part) -> str:
    if len(part.sides) == 2 and part.sides[0] == part.sides[1]:
        return f"{part.sides[0]}\u00b2"
    return TIMES.join(map(str, part.sides))


def _arrows(u: UShape, volumes: dict[str, Volume]) -> Iterator[Shape]:
    """Yield the arrows of poolings (down), upsamplings (up) and copies (across)."""
    for number, (above, below) in enumerate(pairwise(u.rows), 1):
        start, end = volumes[above.down[-1].node.id], volumes[below.down[0].node.id]
        aside = end.width / 4 if below.last.portrait and len(below.down + below.up) == 1 else 0.0
        x = end.center - aside
        path = (x, start.bottom + 0.8), (x, end.y - 0.8)
        data = data_of(members_of(u.falls.get(number, ())))
        yield arrow(*path, color="accent vermillion", width=0.9, data=data)
        start, end = volumes[below.last.node.id], volumes[above.up[0].node.id]
        x = start.center + aside
        path = (x, start.y - 0.8), (x, end.bottom + 0.8)
        data = data_of(members_of(u.rises.get(number - 1, ())))
        yield arrow(*path, color="accent green", width=0.9, data=data)
    for source, target, between in u.skips:
        start, end = volumes[source.node.id], volumes[target.node.id]
        path = (start.right + 1.5, start.middle), (end.x - 1.5, end.middle)
        data = data_of(members_of(between))
        yield arrow(*path, color="accent orange", width=0.9, dashed=True, data=data)


# --- words ----------------------------------------------------------------------------------------


def _convolutions(u: UShape) -> list[Part]:
    parts = (part for row in u.rows for part in (*row.down, *row.up))
    return [part for part in parts if part.kind == "convolution"]


def _usual_window(u: UShape) -> str:
    """Return the most frequent window of the model's convolutions."""
    windows = Counter(part.window for part in _convolutions(u)).most_common(1)
    return windows[0][0] if windows else ""


def _key(u: UShape) -> list[KeyEntry]:
    """Return the key: an entry with the meaning of each kind of arrow."""
    convolutions, usual = _convolutions(u), _usual_window(u)
    activation = next((part.activation for part in convolutions[:-1] if part.activation), "")
    conv = ", ".join(filter(None, (f"conv {usual}".strip(), activation)))
    others = dict.fromkeys(part.window for part in convolutions if part.window != usual)
    crops = any("Cropping" in class_of(part.node) for _, _, between in u.skips for part in between)
    falls = [part for parts in u.falls.values() for part in parts]
    pools = dict.fromkeys("max pool" if "Max" in class_of(p.node) else "mean pool" for p in falls)
    rises = [part for parts in u.rises.values() for part in parts]
    rise = "up-conv" if any("Transpose" in class_of(part.node) for part in rises) else "upsample"
    entries = [
        KeyEntry(conv, color="accent blue"),
        KeyEntry(f"conv {' / '.join(others)}".strip(), color="accent grey"),
        KeyEntry("copy, crop" if crops else "copy", color="accent orange", dashed=True),
        KeyEntry(_with_window("/".join(pools) or "stride", falls), "", "accent vermillion", 1),
        KeyEntry(_with_window(rise, rises), "", "accent green", -1),
    ]
    return entries if others else [entries[0], *entries[2:]]


def _with_window(name: str, parts: list[Part]) -> str:
    return " ".join([name, *[part.window for part in parts if part.window][:1]])


def _sentences(u: UShape, key: list[KeyEntry]) -> list[str]:
    sides = _size_text(u.rows[0].down[-1])
    plain = sides.rstrip("\u00b2")
    square = "" if plain == sides else f" ({sides}: {plain}{TIMES}{plain})"
    return [
        "Each box is the output of a layer: its number of channels is above it, the sides of its "
        f"image are at the left of the row{square}, and at the right if they differ.",
        "Dashed frames are copies from the way down.",
        f"Arrows: {'; '.join(entry.words for entry in key)}.",
    ]
