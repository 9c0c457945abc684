"""Segments of a model, and the segments that repeat.

A *cut* is a part through which every path leads; a `Segment` is the parts between two cuts.
Neighbouring segments with the same layers, or equal series of segments, are one `Unit` with a
count: "x 12".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from kerascope.viz.figure.insides import layer_of
from kerascope.viz.figure.marks import ELLIPSIS
from kerascope.viz.figure.reading import Part, Reading, class_of, has_own_name, sides_of

LONGEST_PERIOD = 12


@dataclass(frozen=True)
class Segment:
    """A segment of a model: the parts after a cut, up to and including the next cut.

    A cut is a part through which every path of the model leads.

    Attributes
    ----------
    parts : tuple of Part
        In the order of the flow.
    way : tuple of Part
        The longest path through the segment.
    is_residual : bool
        Whether the segment is `way` with a shortcut around it: the identity or one projection.
    build : object
        The settings by which segments are compared. Neighbouring segments with an equal `build`
        are repetitions, which are drawn once.
    """

    parts: tuple[Part, ...]
    way: tuple[Part, ...]
    is_residual: bool
    build: object

    @property
    def lasting(self) -> tuple[Part, ...]:
        """The parts that are in every copy of the segment: all except those in a shortcut."""
        return self.way if self.is_residual else self.parts

    @property
    def projections(self) -> tuple[Part, ...]:
        """The parts in the shortcut of a residual segment; empty for other segments."""
        return tuple(part for part in self.parts if part not in self.lasting)


@dataclass(frozen=True)
class Unit:
    """Segments that are drawn once, and all their copies.

    Attributes
    ----------
    copies : tuple of tuple of Segment
        The segments of each copy. All copies have the same number of segments.
    """

    copies: tuple[tuple[Segment, ...], ...]

    @property
    def drawn(self) -> tuple[Segment, ...]:
        """The segments that are drawn: the last copy, as the first may change the image size."""
        return self.copies[-1]

    def layers_of(self, part: Part) -> tuple[str, ...]:
        """Return the ids of all boxes that a drawn part represents, in all copies."""
        return tuple(member for one in self.alike(part) for member in one.members)

    def alike(self, part: Part) -> list[Part]:
        """Return the parts that a drawn part represents: one in each copy of its segment."""
        for number, segment in enumerate(self.drawn):
            if part in segment.projections:
                return self.projections(segment)
            if part in segment.lasting:
                place = segment.lasting.index(part)
                return [copy[number].lasting[place] for copy in self.copies]
        return []

    def projections(self, segment: Segment) -> list[Part]:
        """Return the parts in the shortcuts of all copies of a drawn residual segment."""
        number = self.drawn.index(segment)
        return [part for copy in self.copies for part in copy[number].projections]

    def has_short_cut(self, segment: Segment) -> bool:
        """Return whether a drawn segment is residual with the identity as shortcut.

        The shortcut must be the identity in at least one copy of the segment.
        """
        return segment.is_residual and len(self.projections(segment)) < len(self.copies)

    def named(self, part: Part) -> Part:
        """Return a drawn part with a label for all its copies.

        The label is the copies' common name. If the names differ, it is the class of the layer or,
        for nested models that the user named, the first and the last name.
        """
        names = [*dict.fromkeys(one.node.label for one in self.alike(part))]
        if len(names) == 1:
            return part
        label = class_of(part.node)
        if part.kind == "model" and has_own_name(part.node):
            label = f"{names[0]} {ELLIPSIS} {names[-1]}"
        return replace(part, node=replace(part.node, label=label))


def units_of(reading: Reading) -> list[Unit]:
    """Return the segments of a model as units, in order; repeated segments are one unit."""
    segments = segments_of(reading)
    units: list[Unit] = []
    i = 0
    while i < len(segments):
        period, times = _repeats(segments, i)
        copies = [segments[i + k * period : i + (k + 1) * period] for k in range(times)]
        units.append(Unit(tuple(tuple(copy) for copy in copies)))
        i += period * times
    return units


def _repeats(segments: list[Segment], start: int) -> tuple[int, int]:
    """Return how many segments from `start` on repeat, and how often; (1, 1) if none repeat."""
    best = (1, 1)
    for period in range(1, min(LONGEST_PERIOD, (len(segments) - start) // 2) + 1):
        times = 1
        while _builds(segments, start + times * period, period) == _builds(segments, start, period):
            times += 1
        if times > 1 and period * times > best[0] * best[1]:
            best = (period, times)
    return best


def _builds(segments: list[Segment], start: int, period: int) -> list[object] | None:
    if start + period > len(segments):
        return None
    return [segment.build for segment in segments[start : start + period]]


# --- segments -------------------------------------------------------------------------------------


def segments_of(reading: Reading) -> list[Segment]:
    """Return the segments of a model, between the parts that every path leads through."""
    order = [*reading.parts]
    place = {one: i for i, one in enumerate(order)}
    reach = [0] * len(order)  # the last part that an earlier part feeds
    furthest = -1
    roots = [place[one] for one, sources in reading.sources.items() if not sources]
    leaves = [place[one] for one, targets in reading.targets.items() if not targets]
    last_root, first_leaf = max(roots), min(leaves)
    for i, one in enumerate(order):
        reach[i] = furthest
        furthest = max([furthest, *(place[target] for target in reading.targets[one])])
    cuts = [i for i in range(len(order)) if reach[i] <= i and i >= last_root and i <= first_leaf]
    if not cuts or cuts[-1] != len(order) - 1:
        cuts.append(len(order) - 1)
    bounds = [-1, *cuts]
    return [
        _segment(reading, [reading.parts[one] for one in order[before + 1 : cut + 1]])
        for before, cut in pairwise(bounds)
    ]


def _segment(reading: Reading, parts: list[Part]) -> Segment:
    inside = {part.node.id: i for i, part in enumerate(parts)}
    way = reading.longest_path([*inside])
    beside = len(parts) - len(way)
    ends = reading.sources[parts[-1].node.id]
    roots = [part for part in parts if not reading.sources[part.node.id]]
    straight = all(reading.sources[b.node.id] == (a.node.id,) for a, b in pairwise(way[:-1]))
    joins = parts[-1].kind == "merge" and not roots and len(ends) == 2
    is_residual = len(way) > 1 and straight and joins and (
        (beside == 0 and any(end not in inside for end in ends))
        or (beside == 1 and len(way) > 2 and _is_around(reading, parts, way))
    )  # fmt: skip
    build: object
    if is_residual and class_of(parts[-1].node) == "Concatenate":  # each block adds channels
        build = ("dense", sides_of(parts[-1].shape)[0], tuple(map(_growing_build, way)))
    elif is_residual:
        build = ("residual", parts[-1].shape, tuple(_build(part) for part in way))
    else:
        build = tuple(
            (
                _build(part),
                part.shape,
                tuple(inside.get(one, -1) for one in reading.sources[part.node.id]),
            )
            for part in parts
        )
    return Segment(tuple(parts), tuple(way), is_residual, build)


def _is_around(reading: Reading, parts: list[Part], way: list[Part]) -> bool:
    """Return whether the only part of a segment outside its path `way` is a shortcut around it."""
    beside = next(part for part in parts if part not in way)
    return (
        not beside.shared
        and reading.targets[beside.node.id] == (way[-1].node.id,)
        and not (set(reading.sources[beside.node.id]) & {part.node.id for part in way})
    )


def _growing_build(part: Part) -> object:
    """Return the settings of a part that are equal in all repeats of a block of a DenseNet.

    The number of channels is not one of them, because it grows from block to block.
    """
    if part.kind in ("merge", "normalization") and not part.shared:
        return part.classes
    return _build(part)


def _build(part: Part) -> object:
    """Return the settings of a part that are equal in all repeats of a segment.

    These are all settings that the part's box shows, except stride and padding, because the first
    of several blocks often makes the image smaller. A call of a shared layer repeats only calls of
    the same layer.
    """
    layer = layer_of(part.node) if part.shared else ""
    settings = [one for one in part.settings if not one.startswith(("stride", "padding", "same"))]
    inside = str(part.node.attrs.get("inside", ""))
    says = part.window, part.activation, part.shared, layer, inside
    return part.classes, sides_of(part.shape)[1], tuple(settings), says
