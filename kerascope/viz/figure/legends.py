"""The key (legend) below a figure: for each kind of layer, a box or an arrow with a text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from kerascope.viz.figure.marks import SMALLEST, Page, arrow, box, words
from kerascope.viz.figure.reading import Part, class_of
from kerascope.viz.layout.measures import text_width
from kerascope.viz.roles import LEVELS
from kerascope.viz.sheet import Raster, Rectangle, Shape
from kerascope.viz.tensors.scales import roles_of

SWATCH, ARROW, RAMP, SPACE = 7.0, 11.0, 26.0, 3.0
ONE_CELL = np.zeros((1, 1), "uint8")
ALL_LEVELS = np.arange(0, LEVELS, 10).astype("uint8")[None]
WORDS = {"shaping": "reshaping", "merge": "joining"}


class KeyEntry(NamedTuple):
    """One entry of the key (legend) below a figure: a box or an arrow, with a text after it.

    Attributes
    ----------
    words : str
        The text.
    kind : str
        The kind of the box in front of the words; "" for an arrow.
    color : str
        The colour role of the arrow.
    turn : int
        The direction of the arrow: right (0), down (1) or up (-1).
    dashed : bool
        Whether the arrow is dashed.
    ramp : str
        The colours in front of the words instead: "d" for those of numbers around zero, or the role
        of one colour.
    """

    words: str
    kind: str = ""
    color: str = ""
    turn: int = 0
    dashed: bool = False
    ramp: str = ""

    @property
    def sign(self) -> float:
        """The width of the entry's box or arrow, which is in front of its words."""
        if self.ramp:
            return RAMP if self.ramp == "d" else SWATCH
        return SWATCH if self.kind or self.turn else ARROW

    def width(self, size: float) -> float:
        """Return the width of the entry with words in the given font size."""
        return self.sign + SPACE + text_width(self.words, size)

    def marks(self, x: float, y: float, size: float) -> list[Shape]:
        """Return the marks of the entry with its upper left corner at (x, y)."""
        at = x + self.sign + SPACE
        text = words(at, y + SWATCH - 1.2, self.words, size, anchor="start")
        if self.ramp:
            levels = ONE_CELL
            roles: tuple[str, ...] = (self.ramp,)
            if self.ramp == "d":
                levels, roles = ALL_LEVELS, roles_of("d")
            place = (x, y, self.sign, SWATCH)
            frame = Rectangle(*place, "", "thin", 0.4)
            return [Raster(*place, levels, roles, self.words), frame, text]
        if self.kind:
            return [box(x, y, SWATCH, SWATCH, self.kind, line_width=0.5), text]
        middle, level, reach = x + SWATCH / 2, y + SWATCH / 2, 4.5 * self.turn
        ends = ((x, level), (x + ARROW, level))
        if self.turn:
            ends = ((middle, level - reach), (middle, level + reach))
        return [arrow(*ends, color=self.color, width=0.9, dashed=self.dashed), text]


def key_of_kinds(parts: Iterable[Part]) -> list[KeyEntry]:
    """Return an entry of the key for each kind of layer in a figure, in the order of the model."""
    by_kind: dict[str, list[Part]] = {}
    for part in parts:
        by_kind.setdefault(part.kind, []).append(part)
    return [KeyEntry(_words(kind, found), kind) for kind, found in by_kind.items()]


def _words(kind: str, parts: list[Part]) -> str:
    if kind == "pooling":
        classes = dict.fromkeys(_pooling(class_of(part.node)) for part in parts)
        return f"{' / '.join(classes)} pooling"
    if kind == "upsampling" and all("Transpose" in class_of(part.node) for part in parts):
        return "transposed convolution"
    name = WORDS.get(kind, kind)
    activations = Counter(part.activation for part in parts)
    if kind in ("convolution", "dense") and activations:
        activation, times = activations.most_common(1)[0]
        if activation and (times == len(parts) or (kind == "dense" and times == len(parts) - 1)):
            return f"{name}, {activation}"
    return name


def _pooling(name: str) -> str:
    found = "max" if "Max" in name else "average"
    return f"global {found}" if name.startswith("Global") else found


def key_marks(entries: Sequence[KeyEntry], page: Page, top: float) -> tuple[list[Shape], float]:
    """Return the marks of a key (legend) in as few rows as possible, and the y of its lower end."""
    if not entries:
        return [], top
    size = SMALLEST + (0.0 if page.narrow else 1.0)
    gap = 8.0 if page.narrow else 16.0

    def width(row: Sequence[KeyEntry]) -> float:
        return sum(entry.width(size) for entry in row) + gap * (len(row) - 1)

    for number in range(1, len(entries) + 1):  # of rows
        most = math.ceil(len(entries) / number)
        rows = [entries[i : i + most] for i in range(0, len(entries), most)]
        if max(map(width, rows)) <= page.width - 6.0:
            break
    marks: list[Shape] = []
    y = top + 4.0
    for row in rows:
        x = (page.width - width(row)) / 2
        for entry in row:
            marks += entry.marks(x, y, size)
            x += entry.width(size) + gap
        y += SWATCH + 3.5
    return marks, y
