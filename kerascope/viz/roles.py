"""The colours of roles such as "text", "series-2" or "on-nan" in the light and the dark theme.

Marks of a sheet name their colours by role, so the same sheet can be drawn light or dark. In colour
scales, equal steps of a number are equal steps of lightness in OKLab [1]_: no step looks larger
than another, and a grey print still shows the order. The scale around zero uses blue and orange,
which people with any kind of colour blindness can distinguish. On a dark background the scales are
reversed, so that large numbers contrast with the background in both themes.

References
----------
.. [1] Ottosson, B. (2020). A perceptual color space for image processing.
   https://bottosson.github.io/posts/oklab/
"""

from __future__ import annotations

import math
from functools import cache

from kerascope.viz.theme import OKABE_ITO, PALETTES, contrast, contrasting

LEVELS = 251  # odd, so that the scale around zero has a middle
# Colours of curves, which also differ in dashes and markers.
SERIES = ("blue", "vermillion", "green", "purple", "orange", "sky blue", "grey", "black")


@cache
def color_of(role: str, theme: str) -> str:
    """Return the colour "#RRGGBB" of a role in a theme, "light" or "dark".

    Roles are "ground" (the background), "text", "quiet", "edge", "frame", "nan", "inf",
    "minus-inf", "series-2" (a curve), "s-17" and "d-17" (levels of the sequential and the diverging
    scale), "g-17" (levels from black to white, for pictures) and "rgb-FF8000", a fixed colour. With
    the prefix "on-", a role is the colour of text on a ground of that role.

    Examples
    --------
    >>> color_of("ground", "light"), color_of("on-nan", "light")
    ('#FFFFFF', '#FFFFFF')
    >>> color_of("s-0", "dark") == color_of("s-250", "light")
    True
    """
    if role.startswith("#"):
        return role
    palette = PALETTES[theme]
    name, _, rest = role.partition("-")
    if name == "on":
        ground = color_of(rest, theme)
        return max(("#FFFFFF", "#000000"), key=lambda text: contrast(text, ground))
    if name == "rgb":
        return f"#{rest}"
    if name == "series":
        hue = SERIES[int(rest) % len(SERIES)]
        return contrasting(OKABE_ITO[hue], palette.background, 3.0)
    if name == "g":
        return "#" + 3 * f"{round(255 * int(rest) / (LEVELS - 1)):02X}"
    if name in ("s", "d"):
        return (_sequential if name == "s" else _diverging)(int(rest) / (LEVELS - 1), theme)
    return {
        "ground": palette.background,
        "text": palette.text,
        "quiet": palette.quiet_text,
        "edge": palette.edge,
        "frame": palette.group_line,
        "nan": "#B5127A" if theme == "light" else "#FF6EC7",
        "inf": palette.text,
        "minus-inf": palette.quiet_text,
    }[role]


def _sequential(share: float, theme: str) -> str:
    share = share if theme == "light" else 1 - share
    return oklch(0.97 - 0.72 * share, 0.05 + 0.09 * math.sin(math.pi * share), 105 + 165 * share)


def _diverging(share: float, theme: str) -> str:
    away = abs(2 * share - 1)
    hue = 255 if share < 0.5 else 50
    if theme == "light":
        return oklch(0.97 - 0.52 * away, 0.14 * away, hue)
    return oklch(0.25 + 0.57 * away, 0.13 * away, hue)


def oklch(lightness: float, chroma: float, hue: float) -> str:
    """Return the colour "#RRGGBB" with this lightness, chroma and hue (in degrees) in OKLab.

    Chroma is reduced until the colour exists in sRGB.

    Examples
    --------
    >>> oklch(1, 0, 0), oklch(0, 0, 0), oklch(0.628, 0.2577, 29.23)
    ('#FFFFFF', '#000000', '#FF0000')
    """
    while True:
        a, b = (chroma * f(math.radians(hue)) for f in (math.cos, math.sin))
        # the matrices of [1]_: cubed responses of the cones, then linear red, green and blue
        cones = (
            (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3,
            (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3,
            (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3,
        )
        rows = (
            (4.0767416621, -3.3077115913, 0.2309699292),
            (-1.2684380046, 2.6097574011, -0.3413193965),
            (-0.0041960863, -0.7034186147, 1.7076147010),
        )
        linear = [sum(f * x for f, x in zip(row, cones, strict=True)) for row in rows]
        if chroma < 1e-6 or all(-0.002 <= x <= 1.002 for x in linear):
            return "#" + "".join(f"{_byte(x):02X}" for x in linear)
        chroma *= 0.97


def _byte(linear: float) -> int:
    linear = min(max(linear, 0.0), 1.0)
    curved = 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055
    return round(255 * curved)
