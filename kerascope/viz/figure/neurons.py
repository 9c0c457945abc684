"""The form "neurons": a circle for each number of a small dense net, a line for each weight."""

from __future__ import annotations

import math
from itertools import pairwise

from kerascope.errors import ArgumentError
from kerascope.viz.figure.marks import Canvas, Page, fitting_size
from kerascope.viz.figure.reading import Part, Reading, has_own_name, shape_text
from kerascope.viz.sheet import Sheet, data_of

MOST_DRAWN = 16  # neurons of a layer; of larger ones the first six and the last two
FIRST, LAST = 6, 2
MARGIN, MARGIN_NARROW = 60.0, 27.0
STEP = 22.0  # least distance between two layers


def suits(reading: Reading) -> bool:
    """Tell whether a model is one row of dense layers on rows of numbers."""
    chain = reading.chain
    return bool(
        chain
        and len(chain) >= 2
        and all(part.kind in ("input", "dense") for part in chain)
        and all(part.shape is not None and len(part.shape) == 1 for part in chain)
    )


def fits(reading: Reading, page: Page) -> bool:
    """Tell whether all layers have room beside each other."""
    return page.width >= _narrowest(len(reading.chain or []), page)


def _narrowest(layers: int, page: Page) -> float:
    return 2 * (MARGIN_NARROW if page.narrow else MARGIN) + STEP * (layers - 1)


def neurons(reading: Reading, page: Page) -> Sheet:
    """Draw a small dense net.

    Raises
    ------
    ArgumentError
        It has more layers than stand beside each other.
    """
    canvas, layers = Canvas(page), reading.chain or []
    if not fits(reading, page):
        least = math.ceil(_narrowest(len(layers), page) * 25.4 / 72)
        raise ArgumentError(
            f"draw: a figure of {len(layers)} rows of neurons is not "
            f"{page.width * 25.4 / 72:.0f} mm wide; expected at least {least} mm. Give that, or "
            f"figure='blocks', which joins layers that repeat."
        )
    most = max(_rows(part)[-1] - _rows(part)[0] + 1 for part in layers)  # with those left out
    pitch = min(11.8 if page.narrow else 16.4, (150.0 if page.narrow else 210.0) / most)
    radius = pitch * 0.4
    margin = MARGIN_NARROW if page.narrow else MARGIN
    step = (page.width - 2 * margin) / (len(layers) - 1)
    top = 18.0 if page.narrow else 22.0
    middle = top + most * pitch / 2
    columns = [
        [(margin + i * step, middle + (row + 0.5) * pitch) for row in _rows(part)]
        for i, part in enumerate(layers)
    ]
    for before, after in pairwise(columns):
        for x0, y0 in before:
            for x1, y1 in after:
                ends = ((x0 + radius, y0), (x1 - radius, y1))
                canvas.line(ends, color=page.look.thin, width=0.35, head=False)
    bottom = top + most * pitch + 11.0
    for i, (part, column) in enumerate(zip(layers, columns, strict=True)):
        fill, line, _ = page.look.box(part.kind)
        data = data_of(part.members, shape_text(part.shape))
        for row, (x, y) in enumerate(column):
            canvas.circle(x, y, radius, fill, line, None if row else data)
        units = int((part.shape or (0,))[0] or 0)
        if units > len(column):
            gap = (column[FIRST - 1][1] + column[FIRST][1]) / 2
            for dot in (-3.0, 0.0, 3.0):
                canvas.circle(column[0][0], gap + dot, 0.8, page.look.text, page.look.text)
        name = _name(i, len(layers), part)
        size = fitting_size(name, step - 3, page.size, True)
        if size:
            canvas.words(column[0][0], 9.0, name, size=size, bold=True)
        below = f"{units}, {part.activation}" if part.activation else f"{units}"
        size = fitting_size(below, step - 3, page.size)
        canvas.words(column[0][0], bottom, below if size else f"{units}", size=size, data=data)
    sizes = ", ".join(str((part.shape or ("?",))[0]) for part in layers)
    legend = f"Layers of {sizes} neurons. Each circle is a neuron, each line a weight."
    if any(int((part.shape or (0,))[0] or 0) > MOST_DRAWN for part in layers):
        legend += f" Of layers with more than {MOST_DRAWN} neurons some are left out (dots)."
    return canvas.sheet(bottom + 4.0, legend)


def _rows(part: Part) -> list[float]:
    """Return where the neurons of a layer stand, in rows from its middle."""
    units = int((part.shape or (1,))[0] or 1)
    if units <= MOST_DRAWN:
        return [i - units / 2 for i in range(units)]
    total = FIRST + LAST + 1
    kept = [*range(FIRST), *range(total - LAST, total)]
    return [i - total / 2 for i in kept]


def _name(number: int, layers: int, part: Part) -> str:
    if number == 0:
        return "input"
    if number == layers - 1:
        return "output"
    if has_own_name(part.node):
        return part.node.label
    return f"hidden {number}" if layers > 3 else "hidden"
