"""Colour scales for numbers: from the least to the greatest, or around zero where signs differ.

A number is one of `LEVELS` levels, whose colours are in `viz/roles.py`. NaN and infinite numbers
have levels, colours and signs of their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.viz.roles import LEVELS

NAN, PLUS_INF, MINUS_INF = 251, 252, 253
ODD_LEVELS = {NAN: "nan", PLUS_INF: "inf", MINUS_INF: "minus-inf"}


@dataclass(frozen=True)
class Scale:
    """Which numbers have which levels.

    Parameters
    ----------
    low, high : float
        The numbers of the first and the last level.
    is_diverging : bool
        Whether the middle is zero.

    Examples
    --------
    >>> scale = Scale.of(np.array([-2.0, 0.0, 1.0, np.nan]))
    >>> scale, scale.levels(np.array([-2.0, 0.0, 1.0, np.nan])).tolist()
    (Scale(low=-2.0, high=2.0, is_diverging=True), [0, 125, 188, 251])
    """

    low: float
    high: float
    is_diverging: bool = False

    @classmethod
    def of(cls, values: np.ndarray, has_zero: bool = True) -> Scale:
        """Return the scale that holds all finite numbers; around zero if there are both signs.

        Of numbers whose zero means nothing (`has_zero`), as logarithms, it is never around it.
        """
        values = np.asarray(values, "float64")
        finite = values[np.isfinite(values)]
        if not finite.size:
            return cls(0.0, 1.0)
        low, high = float(finite.min()), float(finite.max())
        if low < 0 < high and has_zero:
            return cls(-max(-low, high), max(-low, high), True)
        return cls(low, high)

    @property
    def letter(self) -> str:
        """What the roles of its colours begin with."""
        return "d" if self.is_diverging else "s"

    def levels(self, values: np.ndarray) -> np.ndarray:
        """Return the level of each number; what lies beyond the scale has its last level."""
        values = np.asarray(values, "float64")
        unit = max(abs(self.low), abs(self.high)) or 1.0  # no difference can overflow
        width = self.high / unit - self.low / unit
        with np.errstate(all="ignore"):
            share = (values / unit - self.low / unit) / width if width else np.zeros(values.shape)
        share = np.where(np.isfinite(values), share, 0.0)
        found = np.clip(np.rint(share * (LEVELS - 1)), 0, LEVELS - 1).astype("uint8")
        found[np.isnan(values)] = NAN
        found[np.isposinf(values)] = PLUS_INF
        found[np.isneginf(values)] = MINUS_INF
        return found

    def number(self, share: float) -> float:
        """Return the number that lies at a share of the scale."""
        return self.low * (1 - share) + self.high * share

    def role(self, level: int) -> str:
        """Return the role of the colour of a level."""
        return ODD_LEVELS.get(level) or f"{self.letter}-{level}"


def check_limits(limits: object) -> tuple[float, float]:
    """Return the ends of a scale that somebody asks for.

    Raises
    ------
    ArgumentError
        They are not two finite numbers, the lower one first.
    """
    try:
        low, high = (float(end) for end in limits)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ArgumentError(
            f"show: limits={limits!r}; expected two finite numbers (low, high) with low < high."
        )
    return low, high


@cache
def roles_of(letter: str) -> tuple[str, ...]:
    """Return the roles of all levels of a scale, by their numbers."""
    return (*(f"{letter}-{level}" for level in range(LEVELS)), *ODD_LEVELS.values())
