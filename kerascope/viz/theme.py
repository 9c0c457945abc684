"""Colours, symbols and lines of the pictures, in a light, a dark and a grey palette.

The colours are those of Okabe and Ito [1]_ and a grey, which people with any kind of colour
blindness can distinguish. Hue is never the only difference between kinds: each also has its own
symbol, and inputs, nested models and bare tensors have their own outlines. A box is filled with a
light tint of its colour and framed with a stronger shade. Text reaches a contrast of 4.5:1 and
lines reach 3:1, as WCAG [2]_ requires; a test computes both in all palettes. For print, each colour
becomes the grey of its luminance.

The module contains the arithmetic of colours (contrast, mixing, darkening: the formulas of WCAG
[2]_), then the palettes, and then the look of each kind and state.

References
----------
.. [1] Okabe, M. and Ito, K. (2008). Color Universal Design. https://jfly.uni-koeln.de/color/
.. [2] Web Content Accessibility Guidelines 2.1, https://www.w3.org/TR/WCAG21/#contrast-minimum
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

# --- arithmetic of colours ------------------------------------------------------------------------

# A colour of this luminance has the same contrast to black and to white.
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
    ``0.2126 R + 0.7152 G + 0.0722 B`` with the gamma of sRGB removed from each channel.
    """
    red, green, blue = (_linear(channel / 255) for channel in _channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@cache
def mixed(color: str, other: str, share: float) -> str:
    """Return a colour with a share of another colour mixed in.

    Examples
    --------
    >>> mixed("#000000", "#FFFFFF", 0.5)
    '#808080'
    """
    pairs = zip(_channels(color), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in pairs)


@cache
def contrasting(color: str, ground: str, wanted: float) -> str:
    """Return the colour, darkened or lightened just enough to contrast with a background.

    Black is mixed in on a light background, white on a dark one.

    Examples
    --------
    >>> contrast(contrasting("#F0E442", "#FFFFFF", 3.0), "#FFFFFF") >= 3
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
    """Return the grey with the luminance of a colour.

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

# States of boxes filled by their share of the time, from 0 up.
HEATS = ("heat0", "heat1", "heat2", "heat3", "heat4", "heat5")

TEXT_CONTRAST = 4.5
LINE_CONTRAST = 3.0


@dataclass(frozen=True)
class Palette:
    """The colours of a picture, and how the colours of its boxes are derived from hues.

    Parameters
    ----------
    background, text, quiet_text, edge, group_fill, group_line : str
        Colours "#RRGGBB".
    tint : float
        Share of the background in the fill of a box.
    hottest : str
        Colour of the box that takes most of the time.
    is_grey : bool
        Whether hues become greys, so that only symbols and outlines distinguish kinds.
    own : tuple of (str, str)
        Kinds of boxes and the user's colours for them.
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
        """Return the hue of a kind of box: a name in `OKABE_ITO`, or the user's "#RRGGBB"."""
        return dict(self.own).get(kind) or style_of(kind).hue

    def on(self, background: str) -> Palette:
        """Return a palette for another background, with enough contrast for text and lines."""
        like = LIGHT if luminance(background) > MIDDLE_LUMINANCE else DARK
        text, quiet = (
            contrasting(one, background, TEXT_CONTRAST) for one in (like.text, like.quiet_text)
        )
        return replace(
            like,
            background=background,
            text=text,
            quiet_text=quiet,
            edge=contrasting(like.edge, background, LINE_CONTRAST),
            group_fill=_tinted(like.edge, background, 0.95, (text, quiet)),
            group_line=contrasting(like.group_line, background, LINE_CONTRAST),
        )

    def box(self, hue: str) -> tuple[str, str, str]:
        """Return the colours of a box: of its fill, of its outline, and of its small symbol."""
        return self.fill(hue), self.line(hue), self.sign(hue)

    def fill(self, hue: str) -> str:
        """Return the fill of a box: a tint on which text is readable."""
        words = self.text, self.quiet_text
        return _tinted(self._color(hue), self.background, self.tint, words)

    def heat(self, name: str) -> str:
        """Return the fill of a box marked by one of `HEATS`; text on it is readable."""
        return mixed(self.background, self.hottest, HEATS.index(name) / (len(HEATS) - 1))

    def line(self, hue: str) -> str:
        """Return the colour of a line, visible on the background, in frames and around boxes."""
        return self._contrasting(hue, LINE_CONTRAST)

    def mark(self, hue: str) -> str:
        """Return the colour of the outline of a marked box, visible on the fill of any box."""
        color = self.line(hue)
        for other in (*OKABE_ITO, *dict(self.own).values()):
            color = contrasting(color, self.fill(other), LINE_CONTRAST)
        return color

    def sign(self, hue: str) -> str:
        """Return the colour of symbols and texts, readable on a box's fill and outside boxes."""
        return self._contrasting(hue, TEXT_CONTRAST)

    def _color(self, hue: str) -> str:
        color = OKABE_ITO.get(hue, hue)
        return grey_of(color) if self.is_grey else color

    def _contrasting(self, hue: str, contrast: float) -> str:
        color = self._color(hue)
        grounds = self.background, self.group_fill, self.fill(hue)
        for ground in (*grounds, *grounds):  # twice: a later change may affect an earlier ground
            color = contrasting(color, ground, contrast)
        return color


@cache
def _tinted(color: str, background: str, tint: float, words: tuple[str, ...]) -> str:
    """Return a colour mixed with a background so that texts of the colours `words` are readable.

    The tint of a dark background is dark too, so light lines contrast with background and tint.
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
PALETTES = {"light": LIGHT, "dark": DARK}  # for screens
ALL_PALETTES = {**PALETTES, "print": PRINT}
# "auto": the reader's system decides, in formats that support it.
THEMES = ("auto", *ALL_PALETTES)
THEMES_OF_SCREENS = ("auto", *PALETTES)
BACKGROUND, TRANSPARENT = "background", "transparent"


@dataclass(frozen=True)
class Style:
    """The look of the boxes of one kind.

    Parameters
    ----------
    hue : str
        Name of a colour in `OKABE_ITO`.
    sign : str
        The symbol of the kind: one character before the name, different for every kind.
    corners : {"round", "square", "note", "oval"}
        Shape of the outline.
    frames : int
        Number of lines around the box.
    heavy, dashed : bool
        Whether the outline is thick, or dashed.
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
    # boxes that represent several others
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
    """Return the style of a kind of box; an unknown kind has the style of a plain layer."""
    return STYLES.get(kind, STYLES["layer"])


@dataclass(frozen=True)
class State:
    """The look of a box that an overlay has marked.

    Parameters
    ----------
    glyph, plain : str
        The symbol of the state, one character. `plain` is for ASCII terminals.
    word : str
        Text that is added to the box.
    hue : str
        Name of a colour in `OKABE_ITO`, for the frame.
    heavy, dashed, quiet : bool
        Whether the frame is thick or dashed, and whether the box is paler than the others.
    """

    glyph: str
    plain: str
    word: str
    hue: str
    heavy: bool = True
    dashed: bool = False
    quiet: bool = False


# The states of a box or an arrow: values of `attrs["state"]`.
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
    """Return how boxes in a state are drawn, or None for "" and for an unknown state."""
    return STATES.get(str(name))
