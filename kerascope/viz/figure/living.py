"""Living figures: the parts of a figure show the numbers that the model computed for one input.

`with_portraits` gives each part its `Portrait`: the small images of its output (feature maps, a
matrix, a vector), or the bars of the model's output. The forms place these images where they would
draw plain sheets, bars or boxes. The numbers are those of the first sample, in the test phase, and
are never changed: a portrait only chooses which of many maps it shows, and `living_sentences` says
so in the legend of the figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.trace.records import counted
from kerascope.trace.statistics import figure
from kerascope.viz.collapse.view import View
from kerascope.viz.figure.legends import KeyEntry
from kerascope.viz.figure.marks import Page, shortened
from kerascope.viz.figure.reading import TIMES, Part, Reading, class_of, shape_text
from kerascope.viz.overlays.marking import display_id, known_ids
from kerascope.viz.sheet import Label, Line, Rectangle, Shape, data_of, padded_width
from kerascope.viz.tensors.scales import NAN
from kerascope.viz.tensors.small_images import (
    Bar,
    SmallImage,
    are_probabilities,
    bars_of,
    small_image,
    small_maps,
)
from kerascope.viz.tensors.sources import numbers_inside

__all__ = ["MOST_MAPS", "Numbers", "Portrait", "numbers_inside", "with_portraits"]

# By form: the most maps of a layer, and fewer maps for a page that is too narrow.
MOST_MAPS = {"volumes": (8, 4, 1), "u": (1,), "blocks": (4, 2), "columns": (4,), "neurons": (1,)}
MOST_SHOWN = {"map": "with the largest mean absolute numbers", "head": "that come first"}
SIDES = (112, 80, 56, 40, 28, 20)  # the longest side of an image in cells: the first that fits
MOST_CELLS = 100_000  # in all images of a figure, so that its file stays small
SEQUENTIAL = {"recurrent", "embedding", "attention"}  # kinds in models of sequences
OVER_STEPS = {"convolution", "pooling", "wrapper"}  # kinds whose matrices are sequences
TIME_FIRST = ("LSTM", "GRU", "RNN", "MultiheadAttention")  # of PyTorch, unless told otherwise
MOST_CROSSES = 60  # over single NaN in an image; of more, the whole image has one cross
GAP = 1.6  # between images side by side, in points
VECTOR_HEIGHT = 4.5
BAR_PITCH = 6.8  # from one bar to the next, in points


@dataclass(frozen=True)
class Numbers:
    """The numbers of a living figure, by the ids of calls.

    Attributes
    ----------
    outputs : mapping of str to list of np.ndarray
        The outputs of each call for all samples.
    inside : mapping of str to np.ndarray
        Attention weights (sample, head, query, key) and states (sample, step, unit) of the calls
        of a kerascope model.
    class_names : sequence of str
        Names for the bars of the output; without names, the bars have numbers.
    """

    outputs: Mapping[str, Any]
    inside: Mapping[str, np.ndarray]
    class_names: Sequence[str] = ()


class Portrait(NamedTuple):
    """What a living figure draws for a part.

    Attributes
    ----------
    kind : {"maps", "sequence", "matrix", "vector", "bars"}
        "maps" are several matrices, one or several of which are drawn. A "sequence" is a matrix
        whose columns are steps.
    images : list of SmallImage
        The images; for a vector, an image with one row.
    total : int
        The number of maps, including those that are not drawn.
    name : str
        What the maps are: "map", "head", "mean of heads" or "state".
    bars : list of Bar
        The bars of the model's output.
    is_sum_one : bool
        Whether the bars are probabilities.
    shape : str
        The shape of the numbers of one sample, as text.
    vector : np.ndarray or None
        The numbers of a vector, of which a thinned image does not show all.
    """

    kind: str
    images: list[SmallImage]
    total: int = 1
    name: str = "map"
    bars: Sequence[Bar] = ()
    is_sum_one: bool = False
    shape: str = ""
    vector: np.ndarray | None = None

    @property
    def aspect(self) -> float:
        """The width of an image divided by its height."""
        rows, columns = self.images[0].levels.shape
        return columns / rows if rows and columns else 1.0


def with_portraits(
    reading: Reading, view: View, numbers: Numbers, most: int, page: Page
) -> Reading:
    """Return a reading whose parts have portraits, with at most `most` maps of a layer.

    A part without numbers, or with more axes than an image has, stays without a portrait.

    Raises
    ------
    ArgumentError
        There are class names, but not one for each number of an output, or no output is a vector;
        or no output counts the samples on its first axis.
    """
    boxes = known_ids(view.whole)
    outputs: dict[str, list[np.ndarray]] = {}
    for call, arrays in numbers.outputs.items():
        box_id = display_id(view.whole, call, "draw", boxes)
        if box_id == call or "/" not in call[len(box_id) :]:  # not a call inside a closed box
            arrays = arrays if isinstance(arrays, list) else [arrays]
            outputs.setdefault(box_id, []).extend(map(np.asarray, arrays))
    batch = _batch(reading, outputs)
    arrays_of = {
        one: found
        for one, part in reading.parts.items()
        if (found := _array_of(part, outputs, numbers.inside, batch)) is not None
    }
    if not arrays_of:
        raise ArgumentError(
            f"draw: values: expected outputs of {reading.graph.name!r} whose first axis counts "
            f"samples, as that of the input does, got none. Pass a batch of one sample: x[None]."
        )
    most = most if len(arrays_of) <= 10 else min(most, 4)
    for side in SIDES:
        portraits = {
            one: _portrait(reading, reading.parts[one], array, name, numbers, most, side, page)
            for one, (array, name) in arrays_of.items()
        }
        images = [image for found in portraits.values() if found for image in found.images]
        if sum(image.levels.size for image in images) <= MOST_CELLS:
            break
    if numbers.class_names and not any(f and len(f.bars) > 1 for f in portraits.values()):
        raise ArgumentError(
            f"draw: class_names: expected an output of several numbers for each sample, got none "
            f"in {reading.graph.name!r}. Leave out class_names."
        )
    parts = {one: replace(part, portrait=portraits.get(one)) for one, part in reading.parts.items()}
    return replace(reading, parts=parts, samples=batch)


def _batch(reading: Reading, outputs: Mapping[str, list[np.ndarray]]) -> int:
    """Return the number of samples: the length of the first axis of an input and of an output.

    It is 0 if no input and output agree.

    Raises
    ------
    ArgumentError
        A layer of PyTorch has the time steps on the first axis instead.
    """
    graph = reading.graph
    is_torch = str(graph.attrs.get("library", "")).startswith("torch")
    for node in graph.nodes:
        settings = str(node.attrs.get("config", ""))
        if is_torch and class_of(node) in TIME_FIRST and "batch_first=True" not in settings:
            raise ArgumentError(
                f"draw: values: expected samples on the first axis, but {node.label!r} "
                f"({class_of(node)}) of PyTorch has the time steps there. Create it with "
                f"batch_first=True."
            )
    inputs = [node.id for node in graph.nodes if node.kind == "input"]
    ends = [part.members[-1] for one, part in reading.parts.items() if not reading.targets[one]]
    lengths = [
        {len(array) for one in ids for array in outputs.get(one, []) if array.ndim}
        for ids in (inputs, ends)
    ]
    return max(lengths[0] & lengths[1], default=0)


def _array_of(
    part: Part,
    outputs: Mapping[str, list[np.ndarray]],
    inside: Mapping[str, np.ndarray],
    batch: int,
) -> tuple[np.ndarray, str] | None:
    """Return the numbers of a part for the first sample, and what its maps are.

    These are attention weights, the states of a layer that returns only the last one, or the last
    output of the part's boxes that has the shape of the part, such as that of the activation after
    a layer. None if there are no numbers.
    """
    for one in part.members:
        if part.kind == "attention" and one in inside:
            return inside[one][0], "head"
        if part.kind == "attention" and len(arrays := outputs.get(one, [])) == 2:
            weights = arrays[1]
            if weights.ndim in (3, 4) and len(weights) == batch > 0:
                return weights[0], "head" if weights.ndim == 4 else "mean of heads"
        if one in inside and inside[one].ndim == 3 and len(part.shape or ()) == 1:
            return inside[one][0], "state"
    for one in reversed(part.members):
        for array in outputs.get(one, [])[:1]:
            is_sample = array.ndim and len(array) == batch > 0 and array.dtype.kind in "biuf"
            if is_sample and array.size and _fits(array.shape[1:], part.shape):
                return array[0], "map"
    return None


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...] | None) -> bool:
    return wanted is None or (
        len(shape) == len(wanted)
        and all(b in (None, a) for a, b in zip(shape, wanted, strict=True))
    )


def _has_sequences(reading: Reading) -> bool:
    """Return whether the matrices of a model are sequences, as in a Conv1D or a Bidirectional."""
    steps = (
        part.kind in OVER_STEPS and len(part.shape or ()) == 2 for part in reading.parts.values()
    )
    return bool(reading.kinds & SEQUENTIAL) or any(steps)


def _portrait(
    reading: Reading,
    part: Part,
    array: np.ndarray,
    name: str,
    numbers: Numbers,
    most: int,
    side: int,
    page: Page,
) -> Portrait | None:
    is_input, is_output = part.kind == "input", not reading.targets[part.node.id]
    shape = shape_text(array.shape)
    if array.ndim == 4 and name == "map":  # of a volume, the slice in the middle
        first = 1 if part.is_channels_first else 0
        array = array.take(array.shape[first] // 2, first)
    if array.ndim == 3:
        if name == "map" and not part.is_channels_first:
            array = np.moveaxis(array, -1, 0)
        is_picture = is_input and len(array) in (1, 3, 4)
        if name == "head":  # all heads are equally strong, because their rows have the sum 1
            images = small_maps(array[:most], most, side=side)
        else:
            images = small_maps(array, most, is_picture=is_picture, side=side)
        return Portrait("maps", images, len(array), name, shape=shape)
    if name in ("head", "mean of heads") and array.ndim == 2:
        return Portrait("maps", [small_image(array, side=side)], 1, name, shape=shape)
    if array.ndim == 2:
        is_sequence = _has_sequences(reading)
        matrix = array.T if is_sequence and not part.is_channels_first else array
        image = small_image(matrix, side=side, is_picture=is_input and not is_sequence)
        kind = "sequence" if is_sequence else "matrix"
        return Portrait(kind, [image], 1, name, shape=shape)
    if array.ndim > 1:
        return None
    vector = array.reshape(-1)
    image = small_image(vector[None], side=4 * side)
    bars: list[Bar] = []
    if is_output and not is_input and vector.size:
        names = numbers.class_names if vector.size > 1 else [""]
        if names and len(names) != vector.size:
            raise ArgumentError(
                f"draw: class_names: expected {vector.size} names, one for each number of the "
                f"output {part.node.label!r}, got {len(names)}."
            )
        bars = bars_of(vector, names, 5 if page.narrow else 10)
    kind = "bars" if bars else "vector"
    return Portrait(kind, [image], 1, name, bars, are_probabilities(vector), shape, vector)


# --- marks ----------------------------------------------------------------------------------------


def image_marks(
    part: Part, image: SmallImage, x: float, y: float, width: float, height: float
) -> Iterator[Shape]:
    """Yield an image of a part with its frame, in the middle of a place and as large as fits.

    The image of a map keeps its aspect; those of matrices and vectors fill the place.
    """
    portrait = part.portrait
    assert portrait is not None
    if portrait.kind == "maps":
        wide = min(width, height * portrait.aspect)
        high = wide / portrait.aspect
        x, y, width, height = x + (width - wide) / 2, y + (height - high) / 2, wide, high
    which = f", {portrait.name} {image.index} of {portrait.total}" if portrait.total > 1 else ""
    yield image.raster(x, y, width, height, f"{part.node.label}{which}")
    line, line_width = ("nan", 1.2) if image.odd_words else (f"line {part.kind}", 0.55)
    data = data_of(part.members, portrait.shape, map=str(image.index))
    yield Rectangle(x, y, width, height, "", line, line_width, data)
    yield from _crosses(image, x, y, width, height)


def _crosses(image: SmallImage, x: float, y: float, width: float, height: float) -> Iterator[Shape]:
    """Yield a cross over each NaN, which is not seen by its colour alone in print."""
    rows, columns = image.levels.shape
    wide, high = width / columns, height / rows
    places = np.argwhere(image.levels == NAN).tolist()
    if len(places) > MOST_CROSSES:
        places, wide, high = [[0, 0]], width, height
    for row, column in places:
        center = x + (column + 0.5) * wide, y + (row + 0.5) * high
        a, b = max(wide / 2, 1.2), max(high / 2, 1.2)
        for side in (-1, 1):
            ends = [(center[0] - a, center[1] - b * side), (center[0] + a, center[1] + b * side)]
            yield Line((ends[0], ends[1]), "on-nan", 0.5)


def strip_size(portrait: Portrait, least: float, page: Page) -> tuple[float, float]:
    """Return the width and the height of a portrait inside a box; `least` is the least width."""
    tall = 15.0 if page.narrow else 18.0
    if portrait.bars:
        width, height = chart_size(portrait, page)
        return max(width, least), height
    if portrait.kind == "maps":
        number = len(portrait.images)
        wide = min(tall * portrait.aspect, 3 * tall)
        return max(number * (wide + GAP) - GAP, least), tall
    return max(least, 2 * tall), VECTOR_HEIGHT if portrait.kind == "vector" else tall


def strip(
    part: Part, x: float, y: float, width: float, height: float, page: Page
) -> Iterator[Shape]:
    """Yield the marks of a portrait inside a box: maps side by side, one image, or bars."""
    portrait = part.portrait
    assert portrait is not None
    if portrait.bars:
        yield from chart(part, x, y, width, page)
        return
    number = len(portrait.images)
    wide = (width + GAP) / number - GAP
    if portrait.kind == "maps":
        wide = min(wide, height * portrait.aspect)
        x += (width - number * (wide + GAP) + GAP) / 2
    for place, image in enumerate(portrait.images):
        yield from image_marks(part, image, x + place * (wide + GAP), y, wide, height)


def chart_size(portrait: Portrait, page: Page) -> tuple[float, float]:
    """Return the width and the height of a chart of bars with their names and numbers."""
    bars = 26.0 if page.narrow else 44.0
    width = _names_width(portrait, page) + _numbers_width(portrait) + bars
    return width, BAR_PITCH * len(portrait.bars)


def chart(part: Part, x: float, y: float, width: float, page: Page) -> Iterator[Shape]:
    """Yield the bars of the model's output below each other, with names and numbers.

    Probabilities have a scale from 0 to 1, and so has a single number in this range, such as that
    of a sigmoid. Other numbers have a scale that contains 0. The largest is bold.
    """
    portrait = part.portrait
    assert portrait is not None
    bars = portrait.bars
    finite = [bar.value for bar in bars if np.isfinite(bar.value)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    if portrait.is_sum_one or low == high or (len(bars) == 1 and low == 0 and high <= 1):
        high = 1.0
    best = max(finite, default=0.0)
    names = _names_width(portrait, page)
    left, room = x + names, width - names - _numbers_width(portrait)
    zero = left + room * -low / (high - low)
    for row, bar in enumerate(bars):
        top, is_best = y + row * BAR_PITCH, bar.value == best
        name = shortened(bar.name, names - 2.0, 6.0, is_best)
        yield Label(left - 2.0, top + 5.2, name, 6.0, "quiet", "end", is_best)
        data = data_of(part.members, **{"class": str(bar.index), "value": f"{bar.value:.6g}"})
        if np.isfinite(bar.value):
            end = left + room * (bar.value - low) / (high - low)
            fill = "accent orange" if is_best else "accent grey"
            place = min(zero, end), top + 0.9, max(abs(end - zero), 0.2), BAR_PITCH - 1.8
            yield Rectangle(*place, fill, "", data=data)
        color = "text" if np.isfinite(bar.value) else "nan"
        text = written(bar.value, portrait.is_sum_one)
        yield Label(x + width, top + 5.2, text, 6.0, color, "end", is_best, data)


def written(value: float, is_probability: bool) -> str:
    """Return a number of the output as text, with three digits.

    Examples
    --------
    >>> written(0.98765, True), written(0.0001, True), written(-12.3456, False)
    ('0.988', '<0.001', '-12.3')
    """
    if not is_probability:
        return {"nan": "NaN", "inf": "Inf", "-inf": "-Inf"}.get(text := figure(value, 3), text)
    return "<0.001" if 0 < value < 0.001 else f"{value:.3f}"


def _names_width(portrait: Portrait, page: Page) -> float:
    most = max(padded_width(bar.name, 6.0, True) for bar in portrait.bars)
    return min(most, 30.0 if page.narrow else 60.0) + 2.0


def _numbers_width(portrait: Portrait) -> float:
    texts = [written(bar.value, portrait.is_sum_one) for bar in portrait.bars]
    return max(padded_width(text, 6.0, True) for text in texts) + 3.0


# --- words ----------------------------------------------------------------------------------------


def living_key(reading: Reading, form: str) -> list[KeyEntry]:
    """Return the entries of the key for the colours of a living figure of the form."""
    several = f"sample 0 of {reading.samples}: " if reading.samples > 1 else ""
    images = [image for part in reading.parts.values() for image in _images(part)]
    entries = []
    if not all(image.is_picture for image in _drawn_images(reading, form)):
        entries.append(
            KeyEntry(f"{several}negative, 0, positive (each with its own scale)", ramp="d")
        )
    if any(image.nans for image in images):
        entries.append(KeyEntry("NaN", ramp="nan"))
    if any(image.infinities for image in images):
        entries.append(KeyEntry("Inf, -Inf", ramp="inf"))
    return entries


def _images(part: Part) -> list[SmallImage]:
    return part.portrait.images if part.portrait else []


def _drawn_images(reading: Reading, form: str) -> list[SmallImage]:
    """Return the images that are drawn, or that colour neurons; an output may be bars instead."""
    portraits = [part.portrait for part in reading.parts.values() if part.portrait]
    return [image for p in portraits if form == "neurons" or not p.bars for image in p.images]


def living_sentences(reading: Reading, theme: str, form: str) -> Iterator[str]:
    """Yield the sentences of the caption that say what a living figure of the form shows."""
    has_images = form != "neurons"  # instead of coloured circles
    parts = [part for part in reading.parts.values() if part.portrait]
    portraits = [part.portrait for part in parts if part.portrait]
    images = [image for part in parts for image in _images(part)]
    number = f"sample 0 of {reading.samples} samples" if reading.samples > 1 else "one sample"
    if _drawn_images(reading, form):
        after = "after activation and normalization"
        yield f"Colours are the outputs of the layers for {number}, {after}."
        yield _scale_sentence(theme)
    else:
        yield f"The numbers are those of {number}."
    if any(image.is_picture for image in images):
        yield "The input is grey, from its smallest number (black) to its largest (white)."
    for name, which in MOST_SHOWN.items():
        many = [one for one in portraits if one.name == name and len(one.images) < one.total]
        if many:
            most = max(len(one.images) for one in many)
            ones = "the one" if most == 1 else f"the {most}"
            yield f"Of more than {counted(most, name)} of a layer, the figure shows {ones} {which}."
    if has_images and any(image.steps != (1, 1) for image in images):
        yield "Large images are thinned to every second (third, ...) row and column."
    if any(one.kind == "maps" and one.shape.count(TIMES) == 3 for one in portraits):
        yield "Of a volume, the figure shows the slice in the middle."
    if any("head" in one.name for one in portraits):
        yield "Attention weights: a row for each query, a column for each key."
    if any(one.name == "mean of heads" for one in portraits):
        yield "They are the mean over the heads, as PyTorch returns it."
    if any(one.kind == "sequence" for one in portraits):
        if form == "volumes":
            yield "Sequences run from top to bottom, with a column for each feature."
        else:
            yield "Sequences run from left to right, with a row for each feature."
    yield from _output_sentences(portraits)
    odd = [
        f"{part.node.label} ({image.odd_words})"
        for part in parts
        for image in _images(part)
        if image.odd_words
    ]
    if odd:
        which = "Images with a thick frame" if has_images else "These layers"
        yield f"{which} contain NaN or infinite numbers: {_first_of(odd)}."
    without = [part.node.label for part in reading.parts.values() if not part.portrait]
    if without:
        yield f"Parts without an image: {_first_of(without)}."


def _output_sentences(portraits: Sequence[Portrait]) -> Iterator[str]:
    if charts := [one for one in portraits if len(one.bars) > 1]:
        are_sums = all(one.is_sum_one for one in charts)
        is_part = any(one.vector is not None and len(one.bars) < len(one.vector) for one in charts)
        more = "largest " if is_part else ""
        kind = "probabilities" if are_sums else "numbers, whose sum is not 1"
        yield f"The output shows its {more}{kind}, by class."
    if any(len(one.bars) == 1 for one in portraits):
        yield "An output of a single number shows this number."


def _scale_sentence(theme: str) -> str:
    largest = "the largest absolute number of each map or layer"
    if theme == "print":
        return f"White is 0 and black is {largest}; signs are not shown."
    zero = "black" if theme == "dark" else "white"
    return f"Zero is {zero}, positive numbers are orange, negative ones blue, up to {largest}."


def _first_of(texts: Sequence[str]) -> str:
    """Return the first of several texts as a list in a sentence, without repetitions."""
    different = [*dict.fromkeys(texts)]
    return ", ".join([*different[:4], *(["..."] if len(different) > 4 else [])])
