"""`with_blocks(graph)`: find repeated blocks by their structure and put frames around them.

Twelve equal encoder blocks become one frame labelled "12 copies" around twelve frames. Blocks with
the same structure but other sizes become a frame of kind `alike`. Nothing is hidden here:
`collapse` hides the contents of closed frames.

The kind of a new frame is in its attribute `kind`:

==========  =======================================================================================
`scope`     a name scope
`copies`    `copies` equal blocks; with `same_weights`, calls of the same layers
`alike`     `alike` blocks with one outline: equal classes and connections, other sizes
`block`     one block
`branches`  `branches` parallel branches with one outline, the same sources and the same targets
`rows`      consecutive rows, used if a frame level would have more than 100 children
==========  =======================================================================================

A frame's `depth` is the depth of its first row, `depth_last` that of its last row. Depths inside a
new frame are relative to its own end. A box outside keeps its depth, unless it would then not be
above a new frame that it feeds. In this case the box is moved up.

The module contains the search for blocks, then ranges of rows for frame levels without repetition,
then two helpers: repetitions in a sequence, and names of blocks.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import groupby, takewhile
from typing import NamedTuple

import numpy as np

from kerascope.trace.records import counted
from kerascope.viz.collapse.new_frames import NewFrames, with_scopes
from kerascope.viz.collapse.parts import FormRegistry, Wiring, sequences_of, weights_of, wiring_of
from kerascope.viz.graph import Attribute, Graph, GraphNode
from kerascope.viz.nesting import FrameLevel, Link, levels_of

# With more boxes, blocks that occur only once get frames, too.
MOST_BOXES = 60
SMALLEST_BLOCK = 3
# Two equal boxes in a row are easy to see without a frame.
SMALLEST_REPEAT = 4
SMALLEST_ALIKE = 6
SMALLEST_BRANCHES = 6
# Alike blocks must be short, so the result is six alike blocks, not two alike halves.
LONGEST_ALIKE = 8
STRONG_KINDS = ("dense", "convolution", "recurrent", "embedding", "attention")


class Item(NamedTuple):
    """An element of a sequence during the search for blocks.

    Parameters
    ----------
    children : list of str
        Ids of boxes and frames.
    exact, outline : int
        Numbers that are equal for items of the same structure, with and without sizes; see
        `parts.PartForm`.
    boxes : tuple of str
        Ids of all boxes inside, in the order of the form.
    """

    children: list[str]
    exact: int
    outline: int
    boxes: tuple[str, ...]


def with_blocks(graph: Graph, most: int = MOST_BOXES) -> Graph:
    """Return the graph with frames around name scopes and repeated blocks.

    Parameters
    ----------
    graph : Graph
    most : int
        If the graph has more boxes than this, blocks that occur once, and series of blocks that
        differ only in their sizes, get frames, too.

    Returns
    -------
    Graph
        The same boxes and arrows, with additional frames.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.engine.model import Model
    >>> from kerascope.viz.extract.nodes import node_graph
    >>> x = h = Input(shape=(4,), name="x")
    >>> for number in range(6):
    ...     h = Dense(4, name=f"dense_{number}")(h)
    >>> [(group.id, group.attrs["copies"]) for group in with_blocks(node_graph(Model(x, h))).groups]
    [('dense_0..dense_5', 6)]
    """
    graph = with_scopes(graph)
    levels = levels_of(graph)
    finder = _Finder(graph, most)
    for group in (*(one.id for one in reversed(graph.groups)), ""):
        finder.search(levels[group])
    levels = finder.frames.levels(levels)
    add_ranges(finder.frames, levels, most)
    return finder.frames.result(levels)


class _Finder:
    """Finds repeated blocks and puts frames around them, starting with the innermost frames."""

    def __init__(self, graph: Graph, most: int) -> None:
        self.frames = NewFrames(graph)
        self.large = len(graph.nodes) > most
        self.most = most
        self.forms = FormRegistry(graph)
        self._labels = self.frames.labels
        self._kinds = {node.id: node.kind for node in graph.nodes}
        self._unnamed: dict[str, None] = {}

    def search(self, level: FrameLevel) -> None:
        """Put frames around the blocks in a frame level. Call it for inner frames first."""
        order, flows = level.order()
        wiring, flow = wiring_of(level, self._kinds)
        if flows:
            self._frame_sequences(level, order, wiring, flow)
        if level.group:
            ends = [child for child in level.children if not flow.leaving[child]]
            inside = self.forms.form(level.children, ends, wiring)
            self.forms.frame(self.frames.groups[level.group], inside)

    def _frame_sequences(
        self, level: FrameLevel, order: list[str], wiring: Wiring, flow: Wiring
    ) -> None:
        sequences = [
            [
                Item(segment.children, *self.forms.form(segment.children, [segment.exit], wiring))
                for segment in sequence
            ]
            for sequence in sequences_of(order, flow)
        ]
        group = level.group
        if self.large:
            sequences = self._frame_branches(group, sequences, flow)
        sequences = [self._frame_repeats(group, items, "copies") for items in sequences]
        if not self.large:
            return
        sequences = [self._frame_repeats(group, items, "alike") for items in sequences]
        sequences = [self._frame_singles(group, items) for items in sequences]
        if sum(map(len, sequences)) > self.most:
            for items in sequences:
                self._frame_chains(group, items)

    # --- repeats ----------------------------------------------------------------------------------

    def _frame_repeats(self, level: str, items: list[Item], kind: str) -> list[Item]:
        """Put frames around the repeats in a sequence; return it with each frame as one item."""
        if len(items) < 2:
            return items
        result: list[Item] = []
        end = 0

        def score(start: int, period: int) -> tuple[int, ...]:
            return self._score(items[start : start + period])

        exact = kind == "copies"
        tokens = [item.exact if exact else item.outline for item in items]
        longest = LONGEST_PERIOD if exact else LONGEST_ALIKE
        for repeat in repeats(tokens, [len(item.boxes) for item in items], score, longest):
            run = items[repeat.start : repeat.stop]
            boxes = sum(len(item.boxes) for item in run)
            if boxes < (SMALLEST_REPEAT if exact else SMALLEST_ALIKE):
                continue
            result += items[end : repeat.start]
            around = items[repeat.start - 1 : repeat.start] + items[repeat.stop : repeat.stop + 1]
            result.append(self._frame_repeat(level, run, repeat, kind, around))
            end = repeat.stop
        return result + items[end:]

    def _score(self, piece: list[Item]) -> tuple[int, ...]:
        """Return a rating of a part of a sequence as the block to repeat; greater is better.

        The rating contains the length of the name that all boxes share, whether the first item
        contains several boxes, and whether the part starts with a box of a kind in `STRONG_KINDS`.
        """
        labels = self._box_labels(piece)
        begins = self._kinds.get(piece[0].children[0], "") in STRONG_KINDS
        return len(shared_name(labels)), len(piece[0].boxes) > 1, begins

    def _frame_repeat(
        self, level: str, run: list[Item], repeat: Repeat, kind: str, around: list[Item]
    ) -> Item:
        pieces = [run[i : i + repeat.period] for i in range(0, len(run), repeat.period)]
        first = pieces[0]
        blocks: list[str] = []
        if len(first) == 1 and len(first[0].children) == 1:
            blocks = [item.children[0] for item in run]
        else:
            for number, piece in enumerate(pieces):
                beside = pieces[number - 1 : number] + pieces[number + 1 : number + 2]
                near = [item for other in beside for item in other] + around
                blocks.append(self._add_block(level, piece, near))
        names = [self._labels[blocks[0]], self._labels[blocks[-1]]]
        if any(block in self._unnamed for block in blocks):
            names = names[:1] * 2
        attrs = self._repeat_attributes(pieces, kind)
        wanted = "..".join(dict.fromkeys([_last_part(blocks[0]), _last_part(blocks[-1])]))
        frame = self.frames.add(level, wanted, span_name(*names), blocks, attrs)
        return self._item(frame, run, first, kind, repeat.copies)

    def _item(
        self, frame: str, inside: list[Item], piece: list[Item], kind: str, count: int = 1
    ) -> Item:
        """Return the item that represents the new frame around the items `inside`.

        Items are compared by the numbers `exact` and `outline`. Those of the new item are computed
        from `count` and the numbers of the items in `piece`.
        """
        exact = self.forms.number((kind, count, "exact", *[item.exact for item in piece]))
        outline = self.forms.number((kind, count, "outline", *[item.outline for item in piece]))
        return Item([frame], exact, outline, tuple(box for item in inside for box in item.boxes))

    def _repeat_attributes(self, pieces: list[list[Item]], kind: str) -> dict[str, Attribute]:
        attrs: dict[str, Attribute] = {"kind": kind, kind: len(pieces)}
        if kind == "alike":
            return {**attrs, "detail": f"{len(pieces)} alike, sizes differ"}
        owners = [self._owners(piece) for piece in pieces]
        attrs["same_weights"] = any(owners[0]) and all(other == owners[0] for other in owners)
        by_position = [[*filter(None, places)] for places in zip(*owners, strict=True)]
        distinct = all(len(dict.fromkeys(places)) == len(places) for places in by_position)
        if not attrs["same_weights"] and not distinct:
            attrs["detail"] = "some weights are shared"
        return attrs

    # --- branches -------------------------------------------------------------------------------

    def _frame_branches(
        self, level: str, sequences: list[list[Item]], flow: Wiring
    ) -> list[list[Item]]:
        """Put a frame around parallel sequences that have equal structures and neighbours.

        The sizes in the sequences may differ.
        """
        outlines = [tuple([item.outline for item in items]) for items in sequences]
        counts = Counter(outlines)
        families: dict[object, list[list[Item]]] = {}
        for number, (outline, items) in enumerate(zip(outlines, sequences, strict=True)):
            key: object = number
            if counts[outline] >= SMALLEST_BRANCHES:
                children = [child for item in items for child in item.children]
                key = (outline, *_neighbours(children, flow))
            families.setdefault(key, []).append(items)
        result: list[list[Item]] = []
        for family in families.values():
            if len(family) < SMALLEST_BRANCHES:
                result += family
            else:
                result.append([self._add_branches(level, family)])
        return result

    def _add_branches(self, level: str, family: list[list[Item]]) -> Item:
        boxes = [box for item in family[0] for box in item.boxes]
        detail = classes_name([self.forms.boxes[box] for box in boxes])
        if any([i.exact for i in items] != [i.exact for i in family[0]] for items in family):
            detail = f"{detail}, sizes differ"
        count = len(family)
        flat = [item for items in family for item in items]
        children = [child for item in flat for child in item.children]
        attrs: dict[str, Attribute] = {"kind": "branches", "branches": count, "detail": detail}
        wanted = f"{self._labels[children[0]]}..{self._labels[children[-1]]}"
        frame = self.frames.add(level, wanted, f"{count:,} branches", children, attrs)
        return self._item(frame, flat, family[0], "branches", count)

    # --- blocks that occur once -------------------------------------------------------------------

    def _frame_singles(self, level: str, items: list[Item]) -> list[Item]:
        """Put a frame around each item that has several boxes; return all items, framed or not.

        The frame also contains the items after it whose names start with the name that its boxes
        share.
        """
        result: list[Item] = []
        number = 0
        while number < len(items):
            item, stop = items[number], number + 1
            if len(item.children) >= SMALLEST_BLOCK:
                start = f"{shared_name(self._box_labels([item]))}_"
                while start != "_" and stop < len(items) and self._begins(items[stop], start):
                    stop += 1
                around = items[number - 1 : number] if number else []
                item = self._add_single(
                    level, items[number:stop], [*around, *items[stop : stop + 1]]
                )
            result.append(item)
            number = stop
        return result

    def _begins(self, item: Item, start: str) -> bool:
        return len(item.children) == 1 and self._labels[item.children[0]].startswith(start)

    def _frame_chains(self, level: str, items: list[Item]) -> None:
        """Put frames around series of single boxes: one for each shared name in a series.

        A long series without shared names gets one frame.
        """
        series: list[Item] = []
        for item in [*items, None]:
            if item is not None and self._is_plain(item):
                series.append(item)
                continue
            named = [piece for piece in self._by_name(series) if len(piece) >= SMALLEST_BLOCK]
            if named or len(series) >= SMALLEST_REPEAT:
                for piece in named or [series]:
                    self._add_single(level, piece, [])
            series = []

    def _is_plain(self, item: Item) -> bool:
        box = self.forms.boxes.get(item.children[0])
        return len(item.boxes) == 1 and box is not None and not box.attrs.get("outputs")

    def _by_name(self, series: list[Item]) -> list[list[Item]]:
        """Split a series of boxes by name; return the groups of neighbours that share a name.

        A box joins the group before it if its name starts with words with which all names of the
        group start, and one of these words contains a number.
        """
        pieces: list[list[Item]] = []
        name = ""
        for item in series:
            label = self._labels[item.children[0]]
            both = shared_name([name, label]) if pieces else ""
            if any(sign.isdigit() for sign in both):
                pieces[-1].append(item)
                name = both
            else:
                pieces.append([item])
                name = label
        return pieces

    def _add_single(self, level: str, piece: list[Item], near: list[Item]) -> Item:
        return self._item(self._add_block(level, piece, near), piece, piece, "block")

    # --- frames -----------------------------------------------------------------------------------

    def _add_block(self, level: str, piece: list[Item], near: Sequence[Item]) -> str:
        children = [child for item in piece for child in item.children]
        name = self._block_name(piece, self._box_labels(near))
        wanted = name or f"{self._labels[children[0]]}_block"
        label = name or classes_name([self.forms.boxes[x] for item in piece for x in item.boxes])
        if wanted in self.frames.taken:
            wanted = f"{wanted}_block"
        frame = self.frames.add(level, wanted, label, children, {"kind": "block"})
        if not name:
            self._unnamed[frame] = None
        return frame

    def _block_name(self, piece: list[Item], near: list[str]) -> str:
        """Return a name for a block: the words with which the names of all its boxes start.

        If these names share no words, only the names of boxes with weights are compared. If these
        share none either, the name is that of the last box, followed by "_block". It is "" if the
        last box has a generated name or is the only child of the last item.
        """
        boxes = [self.forms.boxes[box] for item in piece for box in item.boxes]
        heavy = [box.label for box, owner in zip(boxes, self._owners(piece), strict=True) if owner]
        name = shared_name([box.label for box in boxes], near)
        if not name and len(heavy) > 1:
            name = shared_name(heavy, near)
        last = self.forms.boxes.get(piece[-1].children[-1])
        if not name and last is not None and len(piece[-1].children) > 1 and not _is_numbered(last):
            name = f"{last.label}_block"
        return name

    def _owners(self, piece: list[Item]) -> list[str]:
        return weights_of((box for item in piece for box in item.boxes), self.forms)

    def _box_labels(self, items: Sequence[Item]) -> list[str]:
        return [self.forms.boxes[box].label for item in items for box in item.boxes]


def _neighbours(children: list[str], flow: Wiring) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return two tuples of other children: those that feed the given ones, and those they feed."""
    inside = dict.fromkeys(children)
    sources = {link[0]: None for one in children for link in flow.arriving[one]}
    targets = {link[1]: None for one in children for link in flow.leaving[one]}
    return (
        tuple(sorted(one for one in sources if one not in inside)),
        tuple(sorted(one for one in targets if one not in inside)),
    )


def _is_numbered(box: GraphNode) -> bool:
    """Return whether a layer has a generated name, such as concatenate_3."""
    class_name = str(box.attrs.get("class_name", "")).lower()
    return box.label.replace("_", "").lower().startswith(class_name)


def _last_part(frame: str) -> str:
    return frame.rpartition("/")[2]


# --- ranges of rows -------------------------------------------------------------------------------
#
# A level with more children than a picture can show is divided into ranges of rows, in computation
# order. A range that is still too long is divided again. So every open frame shows no more than a
# person can read. All sources of a range are in earlier ranges, so the arrows form no cycle.

# A frame around fewer boxes would save no space.
SMALLEST_RANGE = 8
# Up to this many inputs at the beginning, and outputs at the end, stay outside the ranges.
MOST_ENDS = 4


def add_ranges(frames: NewFrames, levels: dict[str, FrameLevel], most: int) -> None:
    """Put frames around ranges of rows in every frame level that is too large.

    Parameters
    ----------
    frames : NewFrames
    levels : dict of str to Level
        The existing frame levels, by frame. The level of each new frame is added.
    most : int
        The usual number of ranges in one frame level. A level that has at most two thirds more
        children than this number is not divided.
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
    """Return the range (start, stop) of a computation order without its inputs and outputs.

    More than `MOST_ENDS` inputs stay in the range, and so do more than `MOST_ENDS` outputs.
    """
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
    """Divide a computation order into pieces of similar length; rows stay whole if possible."""
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
    frames: NewFrames, levels: dict[str, FrameLevel], level: FrameLevel, pieces: list[list[str]]
) -> list[FrameLevel]:
    """Put a frame around each piece of a frame level; return the frame levels inside these frames.

    The first and the last piece, and pieces of a single child, get no frame.
    """
    outer = FrameLevel(level.group)
    inner: list[FrameLevel] = []
    frame_of: dict[str, str] = {}
    for number, piece in enumerate(pieces):
        if number in (0, len(pieces) - 1) or len(piece) == 1:
            outer.children += piece
            continue
        near = [*pieces[number - 1][-1:], *pieces[number + 1][:1]]
        frame = _add_range(frames, level.group, piece, near)
        outer.children.append(frame)
        levels[frame] = FrameLevel(frame, piece)
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
    words = f"{boxes:,} boxes of {counted(rows, 'row')}"
    attrs: dict[str, Attribute] = {"kind": "rows", "detail": words}
    return frames.add(level, wanted, label, piece, attrs)


# --- repetitions in a sequence --------------------------------------------------------------------

# Longer blocks are not searched for, because the time grows with the length.
LONGEST_PERIOD = 48


class Repeat(NamedTuple):
    """A repetition in a sequence: `copies` equal pieces of `period` items, starting at `start`."""

    start: int
    period: int
    copies: int

    @property
    def stop(self) -> int:
        """The index after the last item of the repetition."""
        return self.start + self.period * self.copies


def repeats(
    tokens: Sequence[int],
    sizes: Sequence[int],
    score: Callable[[int, int], tuple[int, ...]] = lambda start, period: (0,),
    longest: int = LONGEST_PERIOD,
) -> list[Repeat]:
    """Return repeats that do not overlap, preferring those that hide the most boxes.

    Parameters
    ----------
    tokens : sequence of int
        Equal items have equal tokens. Items with a negative token are never equal.
    sizes : sequence of int
        Number of boxes in each item.
    score : callable
        Rates a block of `period` items that begins at `start`, given (start, period). A run of
        three and a half blocks has several possible starts. The one with the best rating is used,
        or the first of the best.
    longest : int
        The longest period to search for.

    Returns
    -------
    list of Repeat
        Sorted by start.

    Notes
    -----
    A run of a period is a series of i with `tokens[i] == tokens[i + period]`. Of runs that hide
    equally many boxes, the shortest period wins: AAAA is four A, not two AA. If a run overlaps a
    better one, the remaining parts of it are considered again.

    Examples
    --------
    >>> repeats([7, 1, 2, 1, 2, 1, 2, 9, 9], [1] * 9)
    [Repeat(start=1, period=2, copies=3), Repeat(start=7, period=1, copies=2)]
    """
    before = np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).tolist()

    def entry(start: int, stop: int, period: int) -> tuple[int, int, int, int]:
        whole = (stop - start) // period * period
        return before[start] - before[start + whole], period, start, stop

    waiting = [entry(*run) for run in _runs(np.asarray(tokens, dtype=np.int64), longest)]
    heapify(waiting)
    chosen: list[Repeat] = []
    while waiting:
        _, period, start, stop = heappop(waiting)
        free = _free_parts(chosen, start, stop)
        if free == [(start, stop)]:
            insort(chosen, _aligned(start, stop, period, score))
            continue
        for left, right in free:
            if right - left >= 2 * period:
                heappush(waiting, entry(left, right, period))
    return chosen


def _runs(tokens: np.ndarray, longest: int) -> list[tuple[int, int, int]]:
    """Return (start, stop, period) of every part of a sequence that repeats with a period."""
    runs = []
    for period in range(1, min(longest, len(tokens) // 2) + 1):
        equal = (tokens[:-period] == tokens[period:]) & (tokens[period:] >= 0)
        turns = np.flatnonzero(np.diff(np.concatenate([[False], equal, [False]]).astype(np.int8)))
        starts, stops = turns[::2], turns[1::2]
        long_enough = stops - starts >= period
        for start, stop in zip(starts[long_enough], stops[long_enough], strict=True):
            runs.append((int(start), int(stop) + period, period))
    return runs


def _free_parts(chosen: list[Repeat], start: int, stop: int) -> list[tuple[int, int]]:
    """Return the intervals (start, stop) inside a range that no chosen repeat covers."""
    free = []
    number = max(0, bisect_left(chosen, Repeat(start, 0, 0)) - 1)
    while number < len(chosen) and chosen[number].start < stop:
        if chosen[number].stop > start:
            if chosen[number].start > start:
                free.append((start, chosen[number].start))
            start = chosen[number].stop
        number += 1
    return [*free, (start, stop)] if start < stop else free


def _aligned(
    start: int, stop: int, period: int, score: Callable[[int, int], tuple[int, ...]]
) -> Repeat:
    copies, spare = divmod(stop - start, period)
    best = max(range(start, start + spare + 1), key=lambda at: (score(at, period), -at))
    return Repeat(best, period, copies)


# --- names of blocks ------------------------------------------------------------------------------

SEPARATORS = "_-/. "
MOST_CLASSES = 4
LONGEST = 32  # letters in the names of all classes


def shared_name(labels: Sequence[str], neighbours: Sequence[str] = ()) -> str:
    """Return the words with which all labels (at least one) start; "" if they share none.

    Parameters
    ----------
    labels : sequence of str
    neighbours : sequence of str
        Labels of neighbouring boxes. Words at the start of one of them do not identify the block.

    Examples
    --------
    >>> shared_name(["conv2_block1_1_conv", "conv2_block1_2_conv", "conv2_block1_add"])
    'conv2_block1'
    >>> shared_name(["dense_1", "dense_2"], neighbours=["dense_3"])
    ''
    """
    first, last = min(labels), max(labels)  # all others are between these two
    if first[:1] != last[:1]:
        return ""
    pairs = zip(first, last, strict=False)
    start = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if any(len(label) > len(start) and label[len(start)] not in SEPARATORS for label in labels):
        start = start[: max(start.rfind(sign) for sign in SEPARATORS) + 1]
    words = start.rstrip(SEPARATORS)
    if any(label == words or label.startswith(start) for label in neighbours):
        return ""
    return words


def classes_name(boxes: Sequence[GraphNode]) -> str:
    """Return the classes of boxes in order; of many boxes, only the first and the last class.

    Examples
    --------
    >>> dense = GraphNode("d", "d", "dense", attrs={"class_name": "Dense"})
    >>> classes_name([dense, dense, GraphNode("x", "x", "noise", attrs={"class_name": "Dropout"})])
    'Dense, Dense, Dropout'
    >>> classes_name([dense] * 7)
    'Dense … Dense (7 boxes)'
    """
    classes = [str(box.attrs.get("class_name", box.kind)) for box in boxes]
    if len(classes) > MOST_CLASSES:
        return f"{classes[0]} … {classes[-1]} ({len(classes)} boxes)"
    if len(classes) > 1 and sum(map(len, classes)) > LONGEST:
        return f"{classes[0]} … {classes[-1]} ({len(classes)} boxes)"
    return ", ".join(classes)


def span_name(first: str, last: str) -> str:
    """Return a name for a range of blocks or boxes.

    Examples
    --------
    >>> span_name("conv4_block2", "conv4_block6"), span_name("Dense, ReLU", "Dense, ReLU")
    ('conv4_block2 … conv4_block6', 'Dense, ReLU')
    """
    return first if first == last else f"{first} … {last}"
