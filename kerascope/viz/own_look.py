"""Check the colours and the font that a user gives: `draw(model, colors=..., font=...)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.viz.theme import BACKGROUND, FONT, STYLES, TRANSPARENT


def own_colors(colors: Any, theme: str, style: str) -> tuple[tuple[str, str], ...]:
    """Return the user's colours as (kind of box, "#RRGGBB") pairs; () if `colors` is None.

    Raises
    ------
    ArgumentError
        `colors` is not a dict, a kind of box is unknown, a value is not a colour, the theme is
        "print", which has no hues, or a background is given for a figure, which has none.
    """
    if colors is None:
        return ()
    if not isinstance(colors, Mapping):
        raise ArgumentError(
            f"draw: colors: expected a dict from kinds of boxes to colours, got {colors!r:.60}. "
            f"Write colors={{'dense': '#8E44AD'}}."
        )
    if theme == "print" and any(name != BACKGROUND for name in colors):
        raise ArgumentError(
            "draw: theme='print' is black, white and grey. Leave it out, or leave colors out."
        )
    return tuple((name, _color(name, value, style)) for name, value in colors.items())


def _color(name: Any, value: Any, style: str) -> str:
    known = (*STYLES, BACKGROUND)
    if name not in known:
        hint = did_you_mean(str(name), known)
        raise ArgumentError(
            f"draw: colors has {name!r}, which is not a kind of box. {hint}Use one of: "
            f"{', '.join(known)}."
        )
    if name == BACKGROUND and style == "figure":
        raise ArgumentError(
            "draw: a figure is transparent and has no background. Leave it out of colors."
        )
    if name == BACKGROUND and value == TRANSPARENT:
        return TRANSPARENT
    if not isinstance(value, str) or not re.fullmatch("#(?:[0-9a-fA-F]{3}){1,2}", value):
        more = ", or 'transparent'" if name == BACKGROUND else ""
        raise ArgumentError(
            f"draw: colour of {name!r}: expected '#RRGGBB', such as '#8E44AD'{more}, got "
            f"{value!r:.60}."
        )
    digits = value[1:] if len(value) == 7 else "".join(2 * digit for digit in value[1:])
    return "#" + digits.upper()


def own_font(font: Any, style: str) -> str:
    """Return the user's font names, checked to be safe in a style sheet; the default for None.

    Raises
    ------
    ArgumentError
        The value is not a list of font names, or the picture is a figure.
    """
    if font is None:
        return FONT
    if not isinstance(font, str) or not re.fullmatch(r"[\w .-]+(,[\w .-]+)*", font):
        raise ArgumentError(
            f"draw: font: expected names of fonts, separated by commas, got {font!r:.60}. "
            f"Write font='Georgia, serif'."
        )
    if style == "figure":
        raise ArgumentError(
            "draw: a figure is always set in Helvetica. Leave font=... out, or save the figure as "
            ".tex, which uses the font of your document."
        )
    return font
