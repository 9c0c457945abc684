"""Segments: a level as sequences of parts that follow each other.

A *cut* is a place in the order of the boxes that only one tensor's source reaches across: whatever
comes later depends on what came before through that box alone. Between two cuts lies a segment: one
box of a chain, or a residual block, or an inception module. A level may hold several sequences:
towers side by side, side exits, and chains in what has no cuts at all.

Inputs stand outside every sequence, and so does any box without inputs that several others use (a
mask that every block of a transformer takes): it would reach across every cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kerascope.viz.collapse.levels import Level, Link

SOURCE_KINDS = ("input", "tensor", "placeholder", "constant", "variable")
# A segment of more boxes than this is looked into: its branches may be sequences themselves.
LARGEST_SEGMENT = 40
# How often a segment's branch is looked into; what then has no cuts is taken as chains.
MOST_ROUNDS = 12
# So many boxes may be looked at in all rounds, and besides every box twice.
LEAST_BUDGET = 20_000
# An input with more users than this feeds many blocks, and is not where the first one begins.
MOST_BRANCHES = 4


@dataclass(slots=True)
class Segment:
    """What lies between two cuts, or one link of a chain.

    Attributes
    ----------
    children : list of str
        In an order in which they can be computed.
    """

    children: list[str]

    @property
    def exit(self) -> str:
        """The child that what comes later depends on."""
        return self.children[-1]


@dataclass(frozen=True)
class Wiring:
    """The links of a level by child.

    Attributes
    ----------
    arriving, leaving : dict of str to list of Link
    sources : dict of str to None
        Children that stand outside every sequence.
    """

    arriving: Mapping[str, list[Link]]
    leaving: Mapping[str, list[Link]]
    sources: Mapping[str, None]


def wiring_of(level: Level, kinds: Mapping[str, str]) -> tuple[Wiring, Wiring]:
    """Return all links of a level by child, and those alone along which data flows.

    Parameters
    ----------
    level : Level
    kinds : mapping of str to str
        Kind of every box; frames are missing.
    """
    links = level.flow()
    arriving, leaving = _by_child(level.children, links)
    sources: dict[str, None] = {}
    for child in level.children:
        if not arriving[child] and child in kinds:
            several = len(leaving[child]) > 1 and kinds[child] in SOURCE_KINDS
            if several or kinds[child] == "input":
                sources[child] = None
    flow = Wiring(arriving, leaving, sources)
    if len(links) == len(level.links):
        return flow, flow
    return Wiring(*_by_child(level.children, level.links), sources), flow


def _by_child(
    children: list[str], links: list[Link]
) -> tuple[dict[str, list[Link]], dict[str, list[Link]]]:
    arriving: dict[str, list[Link]] = {child: [] for child in children}
    leaving: dict[str, list[Link]] = {child: [] for child in children}
    for link in links:
        arriving[link[1]].append(link)
        leaving[link[0]].append(link)
    return arriving, leaving


def sequences_of(order: list[str], wiring: Wiring) -> list[list[Segment]]:
    """Return the sequences of a level.

    Parameters
    ----------
    order : list of str
        The children of a level, each behind all that feed it.
    wiring : Wiring

    Examples
    --------
    >>> from kerascope.viz.graph import GraphEdge
    >>> arrows = [("a", "b"), ("b", "c"), ("b", "d"), ("c", "d"), ("d", "e")]
    >>> links = [Link(*arrow, GraphEdge(*arrow)) for arrow in arrows]
    >>> level = Level("", list("abcde"), links)
    >>> wiring, _ = wiring_of(level, dict.fromkeys("abcde", "op"))
    >>> (sequence,) = sequences_of(level.children, wiring)
    >>> [segment.children for segment in sequence]
    [['a'], ['b'], ['c', 'd'], ['e']]
    """
    waiting = [([child for child in order if child not in wiring.sources], 0)]
    found: list[list[Segment]] = []
    budget = LEAST_BUDGET + 2 * len(order)
    while waiting:
        children, rounds = waiting.pop()
        budget -= len(children)
        if budget < 0:
            found += _chains(children, wiring)
            continue
        for part in _components(children, wiring):
            main, aside = _main_part(part, wiring)
            if aside and rounds < MOST_ROUNDS:
                waiting.append((aside, rounds + 1))
            elif aside:
                found += _chains(aside, wiring)
            pieces: list[Segment] = []
            for segment in _cut(main, wiring):
                if len(segment.children) <= LARGEST_SEGMENT:
                    pieces.append(segment)
                    continue
                found.append(pieces)
                pieces = [Segment([segment.exit])]
                inner = segment.children[:-1]
                if rounds < MOST_ROUNDS:
                    waiting.append((inner, rounds + 1))
                else:
                    found += _chains(inner, wiring)
            found.append(pieces)
    position = {child: number for number, child in enumerate(order)}
    filled = [sequence for sequence in found if sequence]
    return sorted(filled, key=lambda sequence: position[sequence[0].children[0]])


def _components(children: list[str], wiring: Wiring) -> list[list[str]]:
    """Return the parts of a set that no link connects, each in the order of the set."""
    inside = dict.fromkeys(children, -1)
    count = 0
    for child in children:
        if inside[child] >= 0:
            continue
        inside[child], waiting = count, [child]
        while waiting:
            one = waiting.pop()
            near = [link[0] for link in wiring.arriving[one]]
            near += [link[1] for link in wiring.leaving[one]]
            for other in near:
                if inside.get(other) == -1:
                    inside[other] = count
                    waiting.append(other)
        count += 1
    parts: list[list[str]] = [[] for _ in range(count)]
    for child in children:
        parts[inside[child]].append(child)
    return parts


def _main_part(part: list[str], wiring: Wiring) -> tuple[list[str], list[str]]:
    """Split into what the end of the longest path needs, and the rest: side exits."""
    if len(part) == 1:
        return part, []
    length: dict[str, int] = dict.fromkeys(part, 0)
    far = len(part)  # what lies outside is not brought nearer
    for child in part:
        for link in wiring.leaving[child]:
            if length.get(link[1], far) <= length[child]:
                length[link[1]] = length[child] + 1
    end = max(part, key=lambda child: length[child])
    needed, waiting = {end: None}, [end]
    while waiting:
        for link in wiring.arriving[waiting.pop()]:
            if link.source in length and link.source not in needed:
                needed[link.source] = None
                waiting.append(link.source)
    return (
        [child for child in part if child in needed],
        [child for child in part if child not in needed],
    )


def _cut(children: list[str], wiring: Wiring) -> list[Segment]:
    """Cut an order wherever only one child reaches across."""
    if len(children) == 1:
        return [Segment(children)]
    position = {child: number for number, child in enumerate(children)}
    last_use = [0] * len(children)
    for number, child in enumerate(children):
        for link in wiring.leaving[child]:
            use = position.get(link[1], 0)
            if use > last_use[number]:
                last_use[number] = use
    ending = [0] * (len(children) + 1)
    for number, last in enumerate(last_use):
        if last > number:
            ending[last] += 1
    segments, start, reaching = [], 0, 0
    beginning = _end_of_beginning(children, position, wiring)
    for number, last in enumerate(last_use):
        reaching += (last > number) - ending[number]
        if reaching <= 1 and number >= beginning:
            segments.append(Segment(children[start : number + 1]))
            start = number + 1
    return segments


def _end_of_beginning(children: list[str], position: dict[str, int], wiring: Wiring) -> int:
    """Return up to where the source of the first child reaches: it may begin a residual block."""
    end = 0
    for link in wiring.arriving[children[0]]:
        if link.source not in wiring.sources:
            continue
        users: dict[str, None] = {}
        for other in wiring.leaving[link.source]:
            users[other.target] = None
            if len(users) > MOST_BRANCHES:
                break
        else:
            end = max([end, *(position.get(user, 0) for user in users)])
    return end if end < LARGEST_SEGMENT else 0


def _chains(children: list[str], wiring: Wiring) -> list[list[Segment]]:
    """Return the chains in a set: each link but the first takes only from the one before it."""
    inside = dict.fromkeys(children)
    before: dict[str, str] = {}
    for child in children:
        sources = dict.fromkeys(
            link.source for link in wiring.arriving[child] if link.source in inside
        )
        if len(sources) == 1:
            (source,) = sources
            targets = dict.fromkeys(link.target for link in wiring.leaving[source])
            if len(targets) == 1:
                before[child] = source
    chains: dict[str, list[Segment]] = {}
    head: dict[str, str] = {}
    for child in children:
        head[child] = head[before[child]] if child in before else child
        chains.setdefault(head[child], []).append(Segment([child]))
    return list(chains.values())
