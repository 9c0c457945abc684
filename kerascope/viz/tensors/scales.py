"""Colour scales for numbers: from smallest to largest, or centred on zero if both signs occur.

A number has one of `LEVELS` levels, whose colours are in `viz/roles.py`. NaN and infinite numbers
have separate levels, colours and symbols.
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
    """A linear scale from numbers to levels.

    Parameters
    ----------
    low, high : float
        The numbers of the first and the last level.
    is_diverging : bool
        Whether zero is in the middle.

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
        """Return the scale of all finite numbers, centred on zero if both signs occur.

        If zero has no meaning (`has_zero` is False), as for logarithms, it is never centred.
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
        """The first letter of the scale's colour roles: "s" (sequential) or "d" (diverging)."""
        return "d" if self.is_diverging else "s"

    def levels(self, values: np.ndarray) -> np.ndarray:
        """Return the level of each number on the scale; the first or last one outside its ends."""
        values = np.asarray(values, "float64")
        unit = max(abs(self.low), abs(self.high)) or 1.0  # so that differences cannot overflow
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
        """Return the number at a fraction of the scale, from 0 (`low`) to 1 (`high`)."""
        return self.low * (1 - share) + self.high * share

    def role(self, level: int) -> str:
        """Return the colour role of a level of the scale."""
        return ODD_LEVELS.get(level) or f"{self.letter}-{level}"


def check_limits(limits: object) -> tuple[float, float]:
    """Return the user's `limits` as two floats: the ends of a scale.

    Raises
    ------
    ArgumentError
        The limits are not two finite numbers in increasing order.
    """
    try:
        low, high = (float(end) for end in limits)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ArgumentError(
            f"show: expected limits to be finite numbers (low, high), low < high, got {limits!r}."
        )
    return low, high


@cache
def roles_of(letter: str) -> tuple[str, ...]:
    """Return the colour roles of all levels of a scale, in order."""
    return (*(f"{letter}-{level}" for level in range(LEVELS)), *ODD_LEVELS.values())
