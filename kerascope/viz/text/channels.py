"""Lines between two rows: which of them runs across in which line of characters.

A net is what one line connects: columns above the gap and columns below it. Each net that does not
run straight down gets a track, a line of characters in which it runs across. Two nets may share a
track if they do not overlap there, and where one comes from above in the same column in which
another goes on below, the first must turn off higher up. If that makes a circle, one net changes
its column on the way and takes two tracks.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Net:
    """What one line connects in one gap.

    Attributes
    ----------
    line : hashable
        Whose line it is; two nets of one line never count as crossing.
    tops, bottoms : list of int
        Columns. All columns of a gap are even, so no two lines touch.
    broken : bool
        Whether it is drawn as dashes.
    track : int
        -1: straight down.
    after : Net, optional
        A net that must turn off above this one.
    """

    line: Hashable
    tops: list[int] = field(default_factory=list)
    bottoms: list[int] = field(default_factory=list)
    broken: bool = False
    track: int = -1
    after: Net | None = None

    @property
    def span(self) -> tuple[int, int]:
        """Its leftmost and rightmost column."""
        columns = self.tops + self.bottoms
        return min(columns), max(columns)


def assign_tracks(nets: list[Net]) -> tuple[list[Net], int]:
    """Give every net its track.

    Returns
    -------
    list of Net
        With those in it that were made of one net with two tracks.
    int
        The number of tracks.

    Examples
    --------
    >>> crossing = [Net("a", [0], [4]), Net("b", [4], [0]), Net("c", [8], [8])]
    >>> nets, count = assign_tracks(crossing)
    >>> [net.line for net in nets], count
    (['c', 'a', 'b', 'a'], 3)
    """
    done = [net for net in nets if net.span[0] == net.span[1]]
    waiting = [net for net in nets if net.span[0] != net.span[1]]
    track = 0
    while waiting:
        above: dict[int, list[Net]] = {}
        for net in waiting:
            for column in net.tops:
                above.setdefault(column, []).append(net)
        ready = [net for net in waiting if _is_ready(net, above, waiting)]
        if not ready:
            waiting = _cut(waiting, done)
            continue
        end = None
        for net in sorted(ready, key=lambda net: net.span):
            if end is None or net.span[0] > end:
                net.track, end = track, net.span[1]
                done.append(net)
        waiting = [net for net in waiting if net.track < 0]
        track += 1
    return done, track


def _is_ready(net: Net, above: dict[int, list[Net]], waiting: list[Net]) -> bool:
    """Tell whether all that must turn off above a net have their tracks."""
    if net.after is not None and net.after in waiting:
        return False
    return not any(
        other is not net and other is not net.after and other.after is not net
        for column in net.bottoms
        for other in above.get(column, ())
    )


def _cut(waiting: list[Net], done: list[Net]) -> list[Net]:
    """Let the first net that waits change its column: a column that nobody else uses."""
    net = next(one for one in waiting if one.after is None)
    used = {column for one in [*done, *waiting] for column in one.tops + one.bottoms}
    left, right = net.span
    free = next(
        column
        for distance in range(0, 2 * len(used) + right - left + 4, 2)
        for column in (left + distance, left - distance)
        if column >= 0 and column not in used
    )
    first = Net(net.line, net.tops, [free], net.broken)
    second = Net(net.line, [free], net.bottoms, net.broken, after=first)
    for one in waiting:
        if one.after is net:  # it was itself made by a cut
            one.after = second
    return [first, second, *(one for one in waiting if one is not net)]
