"""Ranges: where nothing repeats, rows that follow each other become one frame.

A level with more children than a picture can show is cut, in the order in which it is computed,
into stretches of rows; a stretch that is still too long is cut again. So every frame, once it is
open, shows no more than a person can read. As each stretch is fed by earlier ones only, no arrows
go round in a circle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from kerascope.viz.collapse.block_names import shared_name, span_name
from kerascope.viz.collapse.levels import Level, Link
from kerascope.viz.collapse.new_frames import NewFrames
from kerascope.viz.graph import Attribute

# A range of fewer boxes would hide less than it says.
SMALLEST_RANGE = 8
# So many boxes at the beginning (inputs) and at the end (outputs) stay beside the ranges.
MOST_ENDS = 4


def add_ranges(frames: NewFrames, levels: dict[str, Level], most: int) -> None:
    """Put frames around ranges of rows in every level that is too large; change the levels too.

    Parameters
    ----------
    frames : NewFrames
    levels : dict of str to Level
        With all frames so far; each new frame gets its own here.
    most : int
        Number of ranges in one level. A level of up to two thirds more children is left as it is.
    """
    most = max(most, SMALLEST_RANGE)
    most_children = most * 5 // 3
    kinds = {node.id: node.kind for node in frames.graph.nodes}
    ends = {node.id: None for node in frames.graph.nodes if node.attrs.get("outputs")}
    waiting = [level for level in levels.values() if len(level.children) > most_children]
    while waiting:
        level = waiting.pop()
        order, _ = level.order()
        first, last = _without_ends(order, kinds, ends)
        pieces = _pieces(order[first:last], frames.depths, most, most_children)
        inner = _framed(frames, levels, level, [order[:first], *pieces, order[last:]])
        waiting += [one for one in inner if len(one.children) > most_children]


def _without_ends(
    order: list[str], kinds: Mapping[str, str], ends: Mapping[str, None]
) -> tuple[int, int]:
    """Return where the inputs at the beginning end and where the outputs at the end begin."""
    first, last = 0, len(order)
    while first < last and kinds.get(order[first]) == "input":
        first += 1
    while last > first and order[last - 1] in ends:
        last -= 1
    return (
        first if first <= MOST_ENDS else 0,
        last if len(order) - last <= MOST_ENDS else len(order),
    )


def _pieces(
    order: list[str], depths: Mapping[str, int], most: int, most_children: int
) -> list[list[str]]:
    """Cut an order into pieces of about one length; between rows, if they are short enough."""
    size = max(SMALLEST_RANGE, -(-len(order) // most))
    pieces: list[list[str]] = [[]]
    for _, found in groupby(order, key=lambda child: depths[child]):
        row = list(found)
        if len(pieces[-1]) + len(row) > size and pieces[-1]:
            pieces.append([])
        if len(row) <= size:
            pieces[-1] += row
            continue
        pieces += _equal_parts(row, size)
        pieces.append([])
    pieces = [piece for piece in pieces if piece]
    if len(pieces) > most_children or len(pieces) == 1:
        pieces = list(_equal_parts(order, size))
    return pieces


def _equal_parts(children: list[str], size: int) -> Iterator[list[str]]:
    count = -(-len(children) // size)
    for number in range(count):
        start, stop = number * len(children) // count, (number + 1) * len(children) // count
        yield children[start:stop]


def _framed(
    frames: NewFrames, levels: dict[str, Level], level: Level, pieces: list[list[str]]
) -> list[Level]:
    """Put a frame around each piece but the first and the last; return the levels in them."""
    outer = Level(level.group)
    inner: list[Level] = []
    frame_of: dict[str, str] = {}
    for number, piece in enumerate(pieces):
        if number in (0, len(pieces) - 1) or len(piece) == 1:
            outer.children += piece
            continue
        near = [*pieces[number - 1][-1:], *pieces[number + 1][:1]]
        frame = _add_range(frames, level.group, piece, near)
        outer.children.append(frame)
        levels[frame] = Level(frame, piece)
        inner.append(levels[frame])
        frame_of.update(dict.fromkeys(piece, frame))
    for link in level.links:
        source, target = frame_of.get(link[0], link[0]), frame_of.get(link[1], link[1])
        if source != target or source == link[0]:
            outer.links.append(Link(source, target, link[2]))
        else:
            levels[source].links.append(link)
    levels[level.group] = outer
    return inner


def _add_range(frames: NewFrames, level: str, piece: list[str], near: list[str]) -> str:
    first = max(frames.depths[child] for child in piece)
    last = min(frames.lasts.get(child, frames.depths[child]) for child in piece)
    labels = [frames.labels[child] for child in piece]
    label = shared_name(labels, [frames.labels[child] for child in near])
    wanted = label
    if not label and first == last:
        label = span_name(labels[0], labels[-1])
        wanted = f"{labels[0]}..{labels[-1]}"
    elif not label:
        label = f"depth {first:,} … {last:,}"
        wanted = f"depth_{first}..{last}"
    boxes, rows = sum(frames.sizes.get(child, 1) for child in piece), first - last + 1
    words = f"{boxes:,} boxes of {rows:,} row{'s' if rows > 1 else ''}"
    attrs: dict[str, Attribute] = {"kind": "rows", "detail": words}
    return frames.add(level, wanted, label, piece, attrs)
