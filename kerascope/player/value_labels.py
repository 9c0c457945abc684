"""The labels for values on the arrows of a moving picture: cells, dots, small images, or text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kerascope.player.flows import CHANGE, LEVELS, MIDDLE, Spec, levels_of
from kerascope.viz.layout.arrange import Point, Rect
from kerascope.viz.layout.measures import text_width
from kerascope.viz.sheet import Ink, Label, Mark, Raster, Rectangle
from kerascope.viz.tensors.scales import roles_of
from kerascope.viz.theme import OKABE_ITO, Palette, mixed

LABEL_HEIGHT = 18.0
SIZE = 10.5  # font size of the text
LEAST_CELL, PADDING = 26.0, 5.0
MOST_ACROSS, MOST_ALONG = 150.0, 32.0  # size of a label with dots
ROW_ACROSS = 64.0  # width of an image with a single row, so that it stays readable in a small cell
DOT, LEAST_DOT = 6.0, 1.5
LARGEST_PIXEL = 7.0  # side of a cell of an image
STEPS = 4  # number of shades of a colour
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class ValueLabel:
    """A value as rows of cells, or as an image of one or several maps.

    A cell has a text, and a colour level from -9 to 9. The image is drawn from (0, 0).
    """

    rows: tuple[tuple[tuple[str, int], ...], ...]
    width: float
    height: float
    image: Raster | None = None

    def around(self, middle: Point) -> Rect:
        """Return the rectangle of the label if its middle is at this point."""
        x, y = middle
        return Rect(x - self.width / 2, y - self.height / 2, self.width, self.height)

    @property
    def has_text(self) -> bool:
        """Whether a cell has a text, which has a fixed size."""
        return any(text for cells in self.rows for text, _ in cells)

    def marks(self, middle: Point, scale: float = 1.0) -> Iterator[Mark]:
        """Yield the marks of the label if its middle is at this point."""
        width, height = self.width * scale, self.height * scale
        left, top = middle[0] - width / 2, middle[1] - height / 2
        if self.image is not None:
            yield replace(self.image, x=left, y=top, width=width, height=height)
            yield Rectangle(left, top, width, height, look="chip around")
        high = height / max(len(self.rows), 1)
        for row, cells in enumerate(self.rows):
            wide = width / len(cells)
            for column, (text, level) in enumerate(cells):
                x, y = left + column * wide, top + row * high
                yield Rectangle(x, y, wide, high, look=f"chip {_shade(level)}")
                if text:
                    start = x + (wide - text_width(text, SIZE)) / 2
                    yield Label(start, y + high / 2 + 3.7, text, SIZE, look="chip-text")


def value_label_of(spec: Spec) -> ValueLabel:
    """Return the label for a value, from the specification of `flows.spec_of`.

    Examples
    --------
    >>> value_label_of([5.0, "c", "3", "4"]).rows
    ((('3', 7), ('4', 9)),)
    >>> value_label_of([8.1, "b", "(32, 64)"]).rows
    ((('(32, 64) ‖·‖ 8.1', 0),),)
    """
    size, kind, *rest = spec
    if kind == "c":
        most = max((abs(float(word)) for word in rest), default=0.0) or 1.0
        words = [word if len(rest) < 3 else f"{float(word):.2g}" for word in rest]
        cells = tuple((word.replace("-", MINUS), _level(float(word) / most)) for word in words)
        widths = [text_width(word, SIZE) for word, _ in cells]
        wide = max(LEAST_CELL, max(widths, default=0.0) + PADDING)
        return ValueLabel((cells,), wide * len(cells), LABEL_HEIGHT)
    if kind == "h":
        columns, letters = int(rest[0]), str(rest[1])
        rows = [letters[i : i + columns] for i in range(0, len(letters), columns)]
        dot = min(DOT, MOST_ALONG / len(rows), MOST_ACROSS / columns)
        if dot >= LEAST_DOT:
            dots = tuple(tuple(("", LEVELS.index(one) - MIDDLE) for one in row) for row in rows)
            return ValueLabel(dots, columns * dot, len(rows) * dot)
        rest = [f"{len(letters)} numbers"]
    if kind == "i":
        return _image_label(spec)
    sign = rest[1] if kind == "b" and len(rest) > 1 else "\N{MIDDLE DOT}"
    text = f"{rest[0]} \N{DOUBLE VERTICAL LINE}{sign}\N{DOUBLE VERTICAL LINE} {size or 0:.4g}"
    text = text if size is not None else f"{rest[0]} NaN/Inf!"
    return ValueLabel((((text, 0),),), text_width(text, SIZE) + 2 * PADDING, LABEL_HEIGHT)


def _image_label(spec: Spec) -> ValueLabel:
    """Return the label for images, as large as fits on an arrow. A grey line separates the maps."""
    size, _, shape, letter, columns, *texts = spec
    sign = texts.pop() if texts[-1] == CHANGE else "\N{MIDDLE DOT}"
    maps = [levels_of(text, columns) for text in texts]
    line = np.full((len(maps[0]), 1), len(roles_of(letter)))
    levels = np.hstack([part for one in maps for part in (line, one)][1:])
    used, numbers = np.unique(levels, return_inverse=True)
    roles = (*roles_of(letter), "frame")
    bars = "\N{DOUBLE VERTICAL LINE}"
    name = f"{shape} {bars}{sign}{bars} {'NaN/Inf!' if size is None else f'{size:.4g}'}"
    rows, across = levels.shape
    widest = MOST_ACROSS if rows > 1 else ROW_ACROSS
    pixel = min(LARGEST_PIXEL, MOST_ALONG / rows, widest / across)
    wide, high = across * pixel, max(rows * pixel, DOT)
    shades = numbers.reshape(levels.shape).astype("uint8")
    image = Raster(0, 0, wide, high, shades, tuple(roles[one] for one in used), name)
    return ValueLabel((), wide, high, image)


def _level(share: float) -> int:
    if share != share or abs(share) == float("inf"):
        return 0
    return round(share * 9) or (share > 0) - (share < 0)


def _shade(level: int) -> str:
    """Return the CSS class of a cell: "none" for level 0, otherwise such as "up3" or "down3"."""
    if not level:
        return "none"
    return f"{'up' if level > 0 else 'down'}{max(1, round(abs(level) / 9 * STEPS))}"


def value_label_inks(palette: Palette) -> Iterator[Ink]:
    """Yield the rules for the outlines, texts and colours of cells."""
    yield Ink(".chip", palette.background, palette.edge, ".8")
    yield Ink(".chip.around", "none")
    yield Ink("image", more="image-rendering:pixelated")
    yield Ink(".chip-text", palette.text, more=f"font-size:{SIZE}px")
    for step in range(1, STEPS + 1):
        share = 0.04 + 0.12 * step
        for name, hue in (("up", "vermillion"), ("down", "blue")):
            shade = mixed(palette.background, OKABE_ITO[hue], share)
            yield Ink(f".chip.{name}{step}", shade)
