"""The key below a figure: a swatch and a word for each kind of layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from kerascope.viz.figure.marks import SMALLEST, Canvas
from kerascope.viz.figure.reading import Part, class_of
from kerascope.viz.layout.measures import text_width

SWATCH = 7.0
WORDS = {
    "input": "input",
    "convolution": "convolution",
    "upsampling": "upsampling",
    "dense": "dense",
    "shaping": "reshaping",
    "recurrent": "recurrent",
    "embedding": "embedding",
    "attention": "attention",
    "normalization": "normalization",
    "merge": "joining",
    "model": "model",
}


class Entry(NamedTuple):
    """One swatch of a key and its words."""

    kind: str
    words: str


def key_of_kinds(parts: Iterable[Part]) -> list[Entry]:
    """Return the kinds that a figure has, in the order in which they come, with their words."""
    by_kind: dict[str, list[Part]] = {}
    for part in parts:
        by_kind.setdefault(part.kind, []).append(part)
    return [Entry(kind, _words(kind, found)) for kind, found in by_kind.items()]


def _words(kind: str, parts: list[Part]) -> str:
    if kind == "pooling":
        classes = dict.fromkeys(_pooling(class_of(part.node)) for part in parts)
        return f"{' / '.join(classes)} pooling"
    if kind == "upsampling" and all("Transpose" in class_of(part.node) for part in parts):
        return "transposed convolution"
    words = WORDS.get(kind, kind)
    activations = Counter(part.activation for part in parts)
    if kind in ("convolution", "dense") and activations:
        activation, times = activations.most_common(1)[0]
        if activation and (times == len(parts) or (kind == "dense" and times == len(parts) - 1)):
            return f"{words}, {activation}"
    return words


def _pooling(name: str) -> str:
    found = "max" if "Max" in name else "average"
    return f"global {found}" if name.startswith("Global") else found


def place_key(canvas: Canvas, entries: list[Entry], top: float) -> float:
    """Draw a key below what is drawn, in as many rows as it needs; return where it ends."""
    size = SMALLEST + (0.0 if canvas.page.narrow else 1.0)
    gap = 8.0 if canvas.page.narrow else 16.0
    rows: list[list[tuple[Entry, float]]] = [[]]
    used = 0.0
    for entry in entries:
        wide = SWATCH + 3.0 + text_width(entry.words, size)
        if rows[-1] and used + gap + wide > canvas.page.width - 6.0:
            rows.append([])
            used = 0.0
        used += wide + (gap if rows[-1] else 0.0)
        rows[-1].append((entry, wide))
    y = top + 4.0
    for row in rows:
        x = (canvas.page.width - sum(wide for _, wide in row) - gap * (len(row) - 1)) / 2
        for entry, wide in row:
            canvas.rect(x, y, SWATCH, SWATCH, entry.kind, line_width=0.5)
            canvas.words(x + SWATCH + 3.0, y + SWATCH - 1.2, entry.words, size=size, anchor="start")
            x += wide + gap
        y += SWATCH + 3.5
    return y
