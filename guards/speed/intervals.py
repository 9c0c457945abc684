"""Computes the median of paired ratios, with its confidence interval.

The ratios vary between pairs of processes (because of memory addresses) and within each pair. So
the interval is a bootstrap in two steps: pairs of processes are drawn with replacement, then the
ratios of each pair. The interval contains the middle 95 % of the medians.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from statistics import median

DRAWS = 2000
LEAST = 6
"""Of fewer ratios not even the least and the greatest hold the median in 95 of 100 cases."""

COVERED = 0.95


@dataclass(frozen=True)
class Ratio:
    """The time of this checkout divided by that of the other, with a confidence interval.

    Examples
    --------
    >>> slower, unclear = Ratio(1.05, 1.03, 1.07, 80), Ratio(1.05, 1.01, 1.09, 80)
    >>> slower.is_above(1.02), unclear.is_above(1.02)
    (True, False)
    >>> unclear.half_width
    0.04
    """

    median: float
    low: float
    high: float
    count: int

    @property
    def half_width(self) -> float:
        """Half the width of the confidence interval."""
        return round((self.high - self.low) / 2, 6)

    def is_above(self, limit: float) -> bool:
        """Return whether the whole interval is above a limit. False with fewer than 6 ratios."""
        return self.count >= LEAST and self.low > limit


def ratio_of(pairs_of_processes: list[list[float]], seed: int = 0) -> Ratio:
    """Return the median of ratios, and its confidence interval from a bootstrap.

    Parameters
    ----------
    pairs_of_processes : list of list of float
        The ratios of each pair of processes.
    seed : int
        The seed of the bootstrap.

    Examples
    --------
    >>> ratio_of([[1.04, 1.05, 1.06], [1.05, 1.05]])
    Ratio(median=1.05, low=1.04, high=1.06, count=5)
    """
    known = [ratios for ratios in pairs_of_processes if ratios]
    everything = [ratio for ratios in known for ratio in ratios]
    lots = random.Random(seed)
    medians = sorted(
        median([one for ratios in lots.choices(known, k=len(known)) for one in again(ratios, lots)])
        for _ in range(DRAWS)
    )
    outside = int(DRAWS * (1 - COVERED) / 2)
    return Ratio(median(everything), medians[outside], medians[-1 - outside], len(everything))


def again(ratios: list[float], lots: random.Random) -> list[float]:
    """Return a bootstrap sample: as many ratios as the list contains, drawn with replacement."""
    return lots.choices(ratios, k=len(ratios))


def of_four(this: list[float], other: list[float]) -> float:
    """Return the ratio of the times of two chunks of this checkout to two of the other.

    In the order this, other, other, this, a machine that slows down steadily affects both equally.

    Examples
    --------
    >>> of_four(this=[1.0, 4.0], other=[2.0, 3.0])
    1.0
    """
    return sum(this) / sum(other)
