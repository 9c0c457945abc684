"""Arithmetic of colours: contrast, mixing, darkening and lightening.

Colours are texts like "#0072B2". The formulas are those of WCAG [1]_.

References
----------
.. [1] Web Content Accessibility Guidelines 2.1, https://www.w3.org/TR/WCAG21/#contrast-minimum
"""

from __future__ import annotations

from functools import cache

# Black and white have the same contrast to a colour of this luminance.
MIDDLE_LUMINANCE = 0.179


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21.

    Notes
    -----
    ``(L1 + 0.05) / (L2 + 0.05)`` with L1 the greater relative luminance of the two.

    Examples
    --------
    >>> round(contrast("#FFFFFF", "#000000"), 2)
    21.0
    """
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: str) -> float:
    """Return the relative luminance of a colour: 0 for black, 1 for white.

    Notes
    -----
    ``0.2126 R + 0.7152 G + 0.0722 B`` with the gamma of sRGB taken off each channel.
    """
    red, green, blue = (_linear(channel / 255) for channel in _channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@cache
def mixed(color: str, other: str, share: float) -> str:
    """Return a colour with a share of another mixed in.

    Examples
    --------
    >>> mixed("#000000", "#FFFFFF", 0.5)
    '#808080'
    """
    pairs = zip(_channels(color), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in pairs)


@cache
def set_off(color: str, ground: str, wanted: float) -> str:
    """Return the colour with as little black (on a dark ground: white) as reaches the contrast.

    Examples
    --------
    >>> contrast(set_off("#F0E442", "#FFFFFF", 3.0), "#FFFFFF") >= 3
    True
    """
    end = "#000000" if luminance(ground) > MIDDLE_LUMINANCE else "#FFFFFF"
    for percent in range(100):
        changed = mixed(color, end, percent / 100)
        if contrast(changed, ground) >= wanted:
            return changed
    return end


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
