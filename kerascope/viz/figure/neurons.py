"""The form "neurons": a circle for each number of a small dense net, a line for each weight."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kerascope.viz.figure.drawer import FigureLayout
from kerascope.viz.figure.living import Portrait, written
from kerascope.viz.figure.marks import (
    SMALLEST,
    Page,
    arrow,
    fitting_size,
    shortened,
    too_narrow,
    words,
)
from kerascope.viz.figure.reading import Part, Reading, has_own_name
from kerascope.viz.sheet import Circle, Shape

MOST_DRAWN = 16  # neurons of a layer; a larger layer shows its first six and its last two
FIRST, LAST = 6, 2
MARGIN, MARGIN_NARROW = 60.0, 27.0
STEP = 22.0  # minimum distance between two layers


def suits(reading: Reading) -> bool:
    """Return whether a model is a chain of dense layers on vectors."""
    chain = reading.chain
    return bool(
        chain
        and len(chain) >= 2
        and all(part.kind in ("input", "dense") for part in chain)
        and all(part.shape is not None and len(part.shape) == 1 for part in chain)
    )


def fits(reading: Reading, page: Page) -> bool:
    """Return whether the page is wide enough for all layers."""
    return page.width >= _narrowest(len(reading.chain or []), page)


def _narrowest(layers: int, page: Page) -> float:
    return 2 * (MARGIN_NARROW if page.narrow else MARGIN) + STEP * (layers - 1)


def neurons(reading: Reading, page: Page) -> FigureLayout:
    """Return the layout of a small dense net.

    Raises
    ------
    ArgumentError
        The page is too narrow for its layers.
    """
    layers = reading.chain or []
    if not fits(reading, page):
        raise too_narrow(f"{len(layers)} rows of neurons", page, _narrowest(len(layers), page))
    most = max(_rows(part)[-1] - _rows(part)[0] + 1 for part in layers)  # counts the row of dots
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
    marks: list[Shape] = [
        arrow((x0 + radius, y0), (x1 - radius, y1), color="thin", width=0.35, head=False)
        for before, after in pairwise(columns)
        for x0, y0 in before
        for x1, y1 in after
    ]
    bottom = top + most * pitch + 11.0
    for i, (part, column) in enumerate(zip(layers, columns, strict=True)):
        line = f"line {part.kind}"
        fills = _fills(part)
        for row, (x, y) in enumerate(column):
            is_last = row >= FIRST and part.channels > MOST_DRAWN
            unit = part.channels - len(column) + row if is_last else row
            data = None if row else part.data
            if part.portrait:
                data = {**part.data, "unit": unit}
            marks.append(Circle(x, y, radius, fills[unit], line, data=data))
            if part.portrait and part.portrait.bars:
                marks += _output(part.portrait, unit, x + radius, y, margin)
        if part.channels > len(column):
            gap = (column[FIRST - 1][1] + column[FIRST][1]) / 2
            marks += [Circle(x, gap + dot, 0.8, "text", "text") for dot in (-3.0, 0.0, 3.0)]
        name = _name(i, len(layers), part)
        if size := fitting_size(name, step - 3, page.size, True):
            marks.append(words(x, 9.0, name, size, bold=True))
        units = f"{(part.shape or (0,))[0] or 0}"
        below = f"{units}, {part.activation}" if part.activation else units
        size = fitting_size(below, step - 3, page.size)
        text = below if size else units
        marks.append(words(x, bottom, text, size or page.size, data=part.data))
    return FigureLayout(marks, bottom + 4.0, _sentences(layers))


def _fills(part: Part) -> list[str]:
    """Return the colour role of each neuron of a layer: that of its number in a living figure."""
    if part.portrait is None or part.portrait.vector is None:
        return [f"fill {part.kind}"] * part.channels
    image = part.portrait.images[0]
    levels = image.scale.levels(part.portrait.vector)
    return [image.roles[level] for level in levels.tolist()]


def _output(portrait: Portrait, unit: int, x: float, y: float, margin: float) -> Iterator[Shape]:
    """Yield the name and the number of a neuron of the output, to the right of its circle."""
    bar = next((one for one in portrait.bars if one.index == unit), None)
    if bar is None:  # not one of the largest
        return
    number = written(bar.value, portrait.is_sum_one)
    room = margin - 10.0
    text = shortened(f"{bar.name}: {number}" if bar.name else number, room, SMALLEST)
    if not text.endswith(number):
        text = number
    is_best = bar.value == max(one.value for one in portrait.bars)
    data = {"class": bar.index, "value": f"{bar.value:.6g}"}
    yield words(x + 2.0, y + 2.2, text, SMALLEST, anchor="start", bold=is_best, data=data)


def _sentences(layers: list[Part]) -> list[str]:
    sizes = ", ".join(str((part.shape or ("?",))[0]) for part in layers)
    sentences = [f"Layers of {sizes} neurons. Each circle is a neuron, each line a weight."]
    if any(part.channels > MOST_DRAWN for part in layers):
        more = f"In layers with more than {MOST_DRAWN} neurons, some are left out (dots)."
        sentences.append(more)
    return sentences


def _rows(part: Part) -> list[float]:
    """Return the distance of each drawn neuron from its layer's middle.

    The unit is the distance between two neighbouring neurons.
    """
    units = part.channels
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
