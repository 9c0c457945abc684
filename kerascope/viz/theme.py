"""Colours, signs and lines of the pictures.

The colours are those of Okabe and Ito [1]_ and a grey; people with any kind of colour blindness can
tell them apart. A kind is never told by its hue alone: each has a sign of its own too, and inputs,
nested models and bare tensors have their own outlines. Boxes are filled with a light tint of the
colour and framed with a dark shade of it, so that text on them reaches the contrast of 4.5:1 and
lines reach 3:1 that WCAG [2]_ asks for; a test computes both.

References
----------
.. [1] Okabe, M. and Ito, K. (2008). Color Universal Design. https://jfly.uni-koeln.de/color/
.. [2] Web Content Accessibility Guidelines 2.1, https://www.w3.org/TR/WCAG21/#contrast-minimum
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

OKABE_ITO = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky blue": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "purple": "#CC79A7",
    "grey": "#999999",
}

BACKGROUND = "#FFFFFF"
TEXT = "#1F2933"
QUIET_TEXT = "#52606D"
EDGE = "#66727F"
GROUP_FILL = "#F7F8FA"
GROUP_LINE = "#7B8794"
FONT = "Helvetica,Arial,sans-serif"

TEXT_CONTRAST = 4.5
LINE_CONTRAST = 3.0


@dataclass(frozen=True)
class Style:
    """How boxes of one kind look.

    Parameters
    ----------
    hue : str
        Name of a colour in `OKABE_ITO`.
    sign : str
        One character before the name; every kind has another.
    shape, outline : str
        Graphviz's `shape` and `style`.
    frames : int
        Number of lines around the box.
    """

    hue: str
    sign: str
    shape: str = "box"
    outline: str = "rounded,filled"
    frames: int = 1

    @property
    def fill(self) -> str:
        """Colour inside the box: light enough for text."""
        return mixed(OKABE_ITO[self.hue], BACKGROUND, 0.88)

    @property
    def line(self) -> str:
        """Colour of the frame: dark enough to be seen on the background and on the fill."""
        return darkened(OKABE_ITO[self.hue], self.fill, LINE_CONTRAST)

    @property
    def sign_color(self) -> str:
        """Colour of the sign: dark enough to be read on the fill."""
        return darkened(OKABE_ITO[self.hue], self.fill, TEXT_CONTRAST)


STYLES = {
    "input": Style("green", "▼", outline="rounded,filled,bold"),
    "dense": Style("blue", "■"),
    "convolution": Style("sky blue", "▲"),
    "pooling": Style("sky blue", "∩"),
    "recurrent": Style("purple", "○"),
    "embedding": Style("purple", "◊"),
    "merge": Style("orange", "+"),
    "attention": Style("purple", "◎"),
    "activation": Style("vermillion", "ƒ"),
    "function": Style("vermillion", "λ"),
    "normalization": Style("yellow", "≡"),
    "noise": Style("yellow", "≈"),
    "shaping": Style("grey", "□"),
    "wrapper": Style("grey", "◘"),
    "model": Style("green", "●", frames=2),
    "layer": Style("grey", "▪"),
    "tensor": Style("grey", "=", shape="note", outline="filled"),
}


def style_of(kind: str) -> Style:
    """Return the style of a kind of box; a kind that is not known is drawn as a plain layer."""
    return STYLES.get(kind, STYLES["layer"])


# --- arithmetic of colours ------------------------------------------------------------------------


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
def darkened(color: str, ground: str, wanted: float) -> str:
    """Return the colour with as little black as reaches the wanted contrast on `ground`."""
    for percent in range(100):
        darker = mixed(color, "#000000", percent / 100)
        if contrast(darker, ground) >= wanted:
            return darker
    return "#000000"


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
