"""A sheet as PNG and PDF: Graphviz draws its shapes as the ground of an empty graph.

Graphviz's own language of drawings, xdot, has polygons, lines and texts. Neighbours of one colour
in a row of a raster are one polygon.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from kerascope.viz.exports.graphviz import render
from kerascope.viz.layout.measures import text_width
from kerascope.viz.tensors.scales import ODD_LEVELS, color_of
from kerascope.viz.tensors.sheet import Box, Raster, Shape, Sheet, Stroke, Words

POINTS = 0.75  # of a pixel
TOGETHER = 60  # shapes on a line of the source: Graphviz reads no longer ones than 16 KB
ANCHORS = {"start": -1, "middle": 0, "end": 1}


def render_sheet(sheet: Sheet, format: str, theme: str, dpi: float) -> bytes:
    """Return a sheet as "png" or "pdf"; with the theme "auto" it is light.

    Raises
    ------
    MissingToolError
        Graphviz is not installed in any form.
    """
    theme = "dark" if theme == "dark" else "light"
    # A dot in each corner: so large is the graph.
    width, height = (round(size * POINTS, 2) for size in (sheet.width, sheet.height))
    corners = "\n".join(
        f'{name} [pos="{x:g},{y:g}", shape=point, style=invis, width=0, height=0, label=""]'
        for name, x, y in (("a", 0, 0), ("b", width, height))
    )
    ground = Box(0, 0, sheet.width, sheet.height, "ground")
    words = [
        word for shape in (ground, *sheet.shapes) for word in _xdot(shape, theme, sheet.height)
    ]
    pieces = [" ".join(words[i : i + TOGETHER]) for i in range(0, len(words), TOGETHER)]
    lines = " \\\n".join(pieces)  # a string that goes on: to join strings takes quadratic time
    source = (
        f'digraph {{\ngraph [bb="0,0,{width:g},{height:g}", pad=0, margin=0, '
        f'bgcolor="{color_of("ground", theme)}", _background="{lines} "]\n{corners}\n}}'
    )
    return render(source, format, dpi=dpi, engine="positions")


def _xdot(shape: Shape, theme: str, height: float) -> Iterator[str]:
    if isinstance(shape, Box):
        x, y, wide, high = shape.x, shape.y, shape.width, shape.height
        corners = ((x, y), (x + wide, y), (x + wide, y + high), (x, y + high))
        if shape.fill:
            yield _color("C", shape.fill, theme) + _shape("P", corners, height)
        if shape.line:
            line = _color("c", shape.line, theme)
            yield f"{_text('S', 'solid')} {line}{_shape('p', corners, height)}"
    elif isinstance(shape, Stroke):
        style = "dashed" if shape.dashes else "solid"
        width = _text("S", f"setlinewidth({shape.width * POINTS:g})")
        line = _color("c", shape.role, theme)
        yield f"{_text('S', style)} {width} {line}{_shape('L', shape.points, height)}"
    elif isinstance(shape, Words):
        yield _words(shape, theme, height)
    else:
        yield from _runs(shape, theme, height)


def _words(words: Words, theme: str, height: float) -> str:
    font = "Helvetica-Bold" if words.bold else "Helvetica"
    x, y = words.x * POINTS, (height - words.y) * POINTS
    width = text_width(words.text, words.size, words.bold) * POINTS
    return (
        f"{_color('c', words.role, theme)}F {words.size * POINTS:g} {_counted(font)} "
        f"T {x:.2f} {y:.2f} {ANCHORS[words.anchor]} {width:.2f} {_counted(words.text)}"
    )


def _runs(raster: Raster, theme: str, height: float) -> Iterator[str]:
    """Yield the polygons of a raster level by level: so each colour is set once."""
    rows, columns = raster.levels.shape
    wide, high = raster.width / columns, raster.height / rows
    found: dict[int, list[str]] = {}
    for row, levels in enumerate(raster.levels):
        starts = [0, *(np.flatnonzero(np.diff(levels.astype(int))) + 1).tolist(), columns]
        top = raster.y + row * high
        for begin, end in pairwise(starts):
            left, right = raster.x + begin * wide, raster.x + end * wide
            corners = ((left, top), (right, top), (right, top + high), (left, top + high))
            found.setdefault(int(levels[begin]), []).append(_shape("P", corners, height))
    for level, polygons in sorted(found.items()):
        yield _color("C", ODD_LEVELS.get(level) or f"{raster.letter}-{level}", theme)
        yield from polygons


def _color(letter: str, role: str, theme: str) -> str:
    color = _text(letter, color_of(role, theme))
    if letter == "c":
        return f"{color} "
    # A filled shape is framed as well, so that no ground is seen between neighbours.
    return f"{_text('S', 'setlinewidth(0)')} {_text('c', color_of(role, theme))} {color} "


def _shape(letter: str, points: tuple[tuple[float, float], ...], height: float) -> str:
    places = " ".join(f"{x * POINTS:.2f} {(height - y) * POINTS:.2f}" for x, y in points)
    return f"{letter} {len(points)} {places}"


def _text(letter: str, text: str) -> str:
    return f"{letter} {_counted(text)}"


def _counted(text: str) -> str:
    """Return a text as xdot wants it, after the number of its bytes."""
    clean = text.replace("\\", "/")  # DOT would take it for the begin of an escape
    escaped = clean.replace('"', '\\"')
    return f"{len(clean.encode())} -{escaped}"
