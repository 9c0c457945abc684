"""Draws the ratios as SVG, with a line for each metric and a dot for each engine.

The axis is logarithmic: twice as fast is as far from the reference as twice as slow.
"""

from __future__ import annotations

import math
from xml.sax.saxutils import escape

from benchmarks.paired.columns import COLUMNS, REFERENCE
from benchmarks.paired.results import Block
from benchmarks.paired.workloads import titled

COLOURS = {
    "numpy": "#222222",
    "kerascope": "#d1495b",
    "kerascope-function": "#f2a3ad",
    "jax": "#2a9d8f",
    "torch": "#e07a1f",
    "keras-jax": "#7fcdc3",
    "keras-tf": "#6a4c93",
    "keras-torch": "#f3b272",
    "keras-numpy": "#8d99ae",
    "autograd": "#4f7cac",
}
LEFT, WIDTH, RIGHT = 390, 600, 30
LINE, LEGEND_LINE, LEGEND_COLUMNS = 30, 20, 4
GOAL = 1.2
ON_TOP = [*(name for name in COLOURS if name != "kerascope"), "kerascope"]
"""The order of drawing: later columns cover earlier ones."""

FONT = "font-family='Helvetica, Arial, sans-serif'"
STEPS = [digit * 10.0**power for power in range(-4, 6) for digit in (1, 2, 5)]
"""Possible ticks of an axis: 0.0001 to 500,000."""


class Axis:
    """The axis of ratios, from the tick below the smallest to the tick above the largest."""

    def __init__(self, ratios: list[float]) -> None:
        least, largest = min([*ratios, 1.0]), max([*ratios, 2.0])
        low = max((step for step in STEPS if step <= least), default=STEPS[0])
        high = min((step for step in STEPS if step >= largest), default=STEPS[-1])
        self.ticks = [step for step in STEPS if low <= step <= high]
        self.low, self.high = math.log10(low), math.log10(high)

    def place(self, ratio: float) -> float:
        """Return the x coordinate of a ratio on this axis."""
        share = (math.log10(ratio) - self.low) / (self.high - self.low)
        return round(LEFT + WIDTH * share, 1)


def text(x: float, y: float, words: str, *, anchor: str = "start", size: int = 12) -> str:
    """Return one line of text as SVG."""
    return (
        f"<text x='{x}' y='{y}' font-size='{size}' text-anchor='{anchor}' {FONT} "
        f"fill='#333'>{escape(words)}</text>"
    )


def dot(x: float, y: float, column: str, title: str) -> str:
    """Return the mark of an engine as SVG: a diamond for kerascope, a bar for NumPy, or a dot."""
    colour = COLOURS[column]
    name = f"<title>{escape(title)}</title>"
    if column == REFERENCE:
        return f"<rect x='{x - 2}' y='{y - 9}' width='4' height='18' fill='{colour}'>{name}</rect>"
    if column.startswith("kerascope"):
        corners = f"{x},{y - 8} {x + 8},{y} {x},{y + 8} {x - 8},{y}"
        return (
            f"<polygon points='{corners}' fill='{colour}' stroke='#fff' "
            f"stroke-width='0.7'>{name}</polygon>"
        )
    return f"<circle cx='{x}' cy='{y}' r='5.5' fill='{colour}' fill-opacity='0.9'>{name}</circle>"


def legend(columns: list[str], top: float) -> list[str]:
    """Return the legend as SVG: the names of the engines with their marks, in lines of four."""
    found = []
    step = (LEFT + WIDTH) // LEGEND_COLUMNS
    for number, column in enumerate(columns):
        x = 24 + step * (number % LEGEND_COLUMNS)
        y = top + LEGEND_LINE * (number // LEGEND_COLUMNS)
        found.append(dot(x, y, column, COLUMNS[column].title))
        found.append(text(x + 13, y + 4, COLUMNS[column].title))
    return found


def grid(axis: Axis, top: float, bottom: float) -> list[str]:
    """Return as SVG the vertical lines with their ratios, and the band from ratio 1 to the goal."""
    begin, end = axis.place(1.0), axis.place(GOAL)
    found = [
        f"<rect x='{begin}' y='{top}' width='{round(end - begin, 1)}' "
        f"height='{bottom - top}' fill='#d8f0d8'/>"
    ]
    for tick in axis.ticks:
        x = axis.place(tick)
        width = 1.5 if tick == 1 else 0.5
        found.append(
            f"<line x1='{x}' y1='{top}' x2='{x}' y2='{bottom}' "
            f"stroke='#999' stroke-width='{width}'/>"
        )
        found.append(text(x, bottom + 16, f"{tick:g}", anchor="middle", size=11))
    return found


def row(block: Block, axis: Axis, y: float) -> list[str]:
    """Return the line of a metric as SVG: its name and a mark for each engine, kerascope on top."""
    found = [
        text(LEFT - 14, y + 4, titled(block.metric), anchor="end", size=11),
        f"<line x1='{LEFT}' y1='{y}' x2='{LEFT + WIDTH}' y2='{y}' stroke='#ddd'/>",
    ]
    for column in sorted(block.rows, key=ON_TOP.index):
        ratio = block.rows[column].get("ratio")
        if ratio:
            title = f"{COLUMNS[column].title}: {ratio:.2f}"
            found.append(dot(axis.place(ratio), y, column, title))
    return found


def picture(blocks: list[Block], threads: int) -> str:
    """Return the picture for one number of threads: all metrics that have ratios."""
    here = [
        block
        for block in blocks
        if block.threads == threads and len([r for r in block.rows.values() if "ratio" in r]) > 1
    ]
    columns = [c for c in COLUMNS if any(c in block.rows for block in here)]
    ratios = [r["ratio"] for block in here for r in block.rows.values() if "ratio" in r]
    axis = Axis(ratios)
    top = 62 + LEGEND_LINE * -(-len(columns) // LEGEND_COLUMNS)
    bottom = top + LINE * len(here)
    width, height = LEFT + WIDTH + RIGHT, bottom + 44
    name = f"{threads} thread{'s' if threads > 1 else ''}"
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
        f"viewBox='0 0 {width} {height}'>",
        f"<rect width='{width}' height='{height}' fill='#fff'/>",
        text(16, 26, f"Times hand-written NumPy, {name} (left is better)", size=16),
        *legend(columns, 52),
        *grid(axis, top, bottom),
    ]
    for number, block in enumerate(here):
        parts += row(block, axis, top + LINE * (number + 0.5))
    note = f"The green band is the goal for train steps: at most {GOAL} times."
    parts += [text(LEFT, bottom + 36, note, size=11), "</svg>"]
    return "\n".join(parts) + "\n"
