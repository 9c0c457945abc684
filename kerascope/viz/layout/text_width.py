"""How wide a text will be, without a font at hand.

The widths are the published metrics of Helvetica, which Arial and Liberation Sans share. Pictures
name these fonts and embed none; an SVG pins each text to the width computed here (`textLength`), so
with any other font it is drawn a little narrower or wider instead of running into its neighbour.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# Thousandths of the font's size, from the space to the tilde.
_WIDTHS = (
    *(278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278),
    *(556,) * 10,
    *(278, 278, 584, 584, 584, 556, 1015),
    *(667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833),
    *(722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611),
    *(278, 278, 278, 469, 556, 333),
    *(556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833),
    *(556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500),
    *(334, 260, 334, 584),
)
_FIRST = ord(" ")
_OTHER, _WIDE = 640, 1000
BOLD = 1.08  # Helvetica Bold against Helvetica, on names as they are in models
SLACK = 1.03


@lru_cache(maxsize=20_000)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a text in points.

    Parameters
    ----------
    text : str
    size : float
        Of the font, in points.
    bold : bool

    Examples
    --------
    >>> text_width("dense_1", 10.0)
    39.5
    >>> text_width("全连接", 10.0) > text_width("abc", 10.0)
    True
    """
    thousandths = sum(
        _WIDTHS[ord(c) - _FIRST] if " " <= c <= "~" else _other_width(c) for c in text
    )
    return round(thousandths * size * (BOLD if bold else 1.0) * SLACK / 1000, 1)


def _other_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _OTHER
