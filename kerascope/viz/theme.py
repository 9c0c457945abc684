"""Colours, signs and lines of the pictures, in a light and a dark palette and one of greys.

The colours are those of Okabe and Ito [1]_ and a grey; people with any kind of colour blindness can
tell them apart. A kind is never told by its hue alone: each has a sign of its own too, and inputs,
nested models and bare tensors have their own outlines. Boxes are filled with a tint of the colour
that lies near the background and framed with a shade of it that stands off, so that text on them
reaches the contrast of 4.5:1 and lines reach 3:1 that WCAG [2]_ asks for; a test computes both, in
all palettes. For print each colour becomes the grey of its luminance.

Below, first the arithmetic of colours (contrast, mixing, darkening: the formulas of WCAG [2]_),
then the palettes, and what each kind and state looks like.

References
----------
.. [1] Okabe, M. and Ito, K. (2008). Color Universal Design. https://jfly.uni-koeln.de/color/
.. [2] Web Content Accessibility Guidelines 2.1, https://www.w3.org/TR/WCAG21/#contrast-minimum
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

# --- arithmetic of colours ------------------------------------------------------------------------

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


@cache
def grey_of(color: str) -> str:
    """Return the grey that is as light as a colour.

    Examples
    --------
    >>> grey_of("#009E73"), grey_of("#000000")
    ('#8B8B8B', '#000000')
    """
    light = luminance(color)
    channel = light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    return f"#{round(channel * 255):02X}" + f"{round(channel * 255):02X}" * 2


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


# --- palettes, kinds, states ----------------------------------------------------------------------

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
FONT = "Helvetica,Arial,sans-serif"

# States of boxes that are filled by their share of the time, from none on.
HEATS = ("heat0", "heat1", "heat2", "heat3", "heat4", "heat5")

TEXT_CONTRAST = 4.5
LINE_CONTRAST = 3.0


@dataclass(frozen=True)
class Palette:
    """The colours of a picture beside those of its boxes.

    Parameters
    ----------
    background, text, quiet_text, edge, group_fill, group_line : str
        Colours.
    tint : float
        Share of the background in the fill of a box.
    hottest : str
        Colour of the box that takes most of the time.
    is_grey : bool
        Whether there are no hues: what a kind is, its sign and its outline say.
    own : tuple of (str, str)
        Kinds of boxes and the colours that somebody wants for them.
    """

    background: str
    text: str
    quiet_text: str
    edge: str
    group_fill: str
    group_line: str
    tint: float
    hottest: str
    is_grey: bool = False
    own: tuple[tuple[str, str], ...] = ()

    def hue_of(self, kind: str) -> str:
        """Return what to ask for the colours of a kind: a name in `OKABE_ITO`, or its own."""
        return dict(self.own).get(kind) or style_of(kind).hue

    def on(self, background: str) -> Palette:
        """Return a palette for another background, in which all words and lines can be seen."""
        like = LIGHT if luminance(background) > MIDDLE_LUMINANCE else DARK
        text, quiet = (
            set_off(one, background, TEXT_CONTRAST) for one in (like.text, like.quiet_text)
        )
        return replace(
            like,
            background=background,
            text=text,
            quiet_text=quiet,
            edge=set_off(like.edge, background, LINE_CONTRAST),
            group_fill=_tinted(like.edge, background, 0.95, (text, quiet)),
            group_line=set_off(like.group_line, background, LINE_CONTRAST),
        )

    def box(self, hue: str) -> tuple[str, str, str]:
        """Colours of a box: inside, of its frame, of its sign."""
        return self.fill(hue), self.line(hue), self.sign(hue)

    def fill(self, hue: str) -> str:
        """Colour inside a box: near enough to the background for text."""
        words = self.text, self.quiet_text
        return _tinted(self._color(hue), self.background, self.tint, words)

    def heat(self, name: str) -> str:
        """Colour inside a box that is marked by one of `HEATS`: all text on it can be read."""
        return mixed(self.background, self.hottest, HEATS.index(name) / (len(HEATS) - 1))

    def line(self, hue: str) -> str:
        """Colour of a frame or an arrow: seen on the background, on a group and on the fill."""
        return self._set_off(hue, LINE_CONTRAST)

    def mark(self, hue: str) -> str:
        """Colour of the frame of a box in some state: seen on the fill of every kind."""
        color = self.line(hue)
        for other in (*OKABE_ITO, *dict(self.own).values()):
            color = set_off(color, self.fill(other), LINE_CONTRAST)
        return color

    def sign(self, hue: str) -> str:
        """Colour of a sign or a coloured word: can be read on the fill, and beside the boxes."""
        return self._set_off(hue, TEXT_CONTRAST)

    def _color(self, hue: str) -> str:
        color = OKABE_ITO.get(hue, hue)
        return grey_of(color) if self.is_grey else color

    def _set_off(self, hue: str, contrast: float) -> str:
        color = self._color(hue)
        grounds = self.background, self.group_fill, self.fill(hue)
        for ground in (*grounds, *grounds):  # again: what was right for one may not be any more
            color = set_off(color, ground, contrast)
        return color


@cache
def _tinted(color: str, background: str, tint: float, words: tuple[str, ...]) -> str:
    """Return a tint of a colour on which the words of a background can be read.

    What is set off from a dark background is light: so the tint of a dark one is dark as well.
    """
    is_light = luminance(background) > MIDDLE_LUMINANCE
    for share in range(round(100 * tint), 100):
        found = mixed(color, background, share / 100)
        is_like_it = (luminance(found) > MIDDLE_LUMINANCE) == is_light
        if is_like_it and all(contrast(word, found) >= TEXT_CONTRAST for word in words):
            return found
    return background


LIGHT = Palette("#FFFFFF", "#1F2933", "#52606D", "#66727F", "#F7F8FA", "#7B8794", 0.88, "#FFD552")
DARK = Palette("#14181D", "#F0F3F6", "#AEB8C2", "#8E9AA6", "#1C2229", "#76828E", 0.78, "#683D00")
PRINT = Palette(
    "#FFFFFF", "#000000", "#333333", "#333333", "#F7F7F7", "#666666", 0.8, "#B0B0B0", is_grey=True
)
PALETTES = {"light": LIGHT, "dark": DARK}  # those of a screen
ALL_PALETTES = {**PALETTES, "print": PRINT}
# "auto": the reader's system decides where the format can ask it.
THEMES = ("auto", *ALL_PALETTES)
THEMES_OF_SCREENS = ("auto", *PALETTES)
BACKGROUND, TRANSPARENT = "background", "transparent"


@dataclass(frozen=True)
class Style:
    """How boxes of one kind look.

    Parameters
    ----------
    hue : str
        Name of a colour in `OKABE_ITO`.
    sign : str
        One character before the name; every kind has another.
    corners : {"round", "square", "note", "oval"}
        Shape of the outline.
    frames : int
        Number of lines around the box.
    heavy, dashed : bool
        How its lines are drawn.
    """

    hue: str
    sign: str
    corners: str = "round"
    frames: int = 1
    heavy: bool = False
    dashed: bool = False


STYLES = {
    "input": Style("green", "▼", heavy=True),
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
    "tensor": Style("grey", "=", corners="note"),
    # what stands for several boxes
    "block": Style("grey", "▤", frames=2),
    "scope": Style("grey", "▸", frames=2),
    "card": Style("blue", "▦"),
    # the levels below layers
    "op": Style("sky blue", "·"),
    "placeholder": Style("green", "▽", corners="oval", heavy=True),
    "variable": Style("blue", "◆", corners="oval"),
    "constant": Style("grey", "#", corners="oval"),
    "loss": Style("vermillion", "◉", heavy=True),
    "gradient": Style("purple", "∂", corners="square"),
    "sum": Style("orange", "Σ", corners="square"),
    "slot": Style("yellow", "◇", corners="oval"),
    "update": Style("green", "↻", corners="square", heavy=True),
}


def style_of(kind: str) -> Style:
    """Return the style of a kind of box; a kind that is not known is drawn as a plain layer."""
    return STYLES.get(kind, STYLES["layer"])


@dataclass(frozen=True)
class State:
    """How a box looks that an overlay has marked.

    Parameters
    ----------
    glyph, plain : str
        One character each; `plain` where a terminal knows only ASCII.
    word : str
        What the box's text says besides.
    hue : str
        Name of a colour in `OKABE_ITO`, for the frame.
    heavy, dashed, quiet : bool
        How its frame is drawn; a quiet box steps back behind the others.
    """

    glyph: str
    plain: str
    word: str
    hue: str
    heavy: bool = True
    dashed: bool = False
    quiet: bool = False


# What `attrs["state"]` of a box or an edge may be.
STATES = {
    "done": State("●", "*", "done", "green"),
    "current": State("▶", ">", "current", "orange"),
    "pending": State("○", ".", "pending", "grey", heavy=False, dashed=True, quiet=True),
    "overridden": State("◆", "@", "overridden", "purple"),
    "nan": State("✗", "X", "not finite", "vermillion"),
    "gradient": State("◂", "<", "gradient arrived", "blue"),
    "highlight": State("★", "!", "", "orange"),
    "failed": State("✗", "X", "failed here", "vermillion"),
    "added": State("⊕", "+", "added", "green"),
    "removed": State("⊖", "-", "removed", "vermillion", dashed=True),
    "changed": State("≠", "~", "changed", "orange"),
}


def state_of(name: object) -> State | None:
    """Return how a state looks; None for "" and for a state that is not known."""
    return STATES.get(str(name))
