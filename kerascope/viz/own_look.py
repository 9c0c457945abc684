"""Colours and a font of the user's own, checked: `draw(model, colors=..., font=...)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.viz.theme import BACKGROUND, FONT, STYLES, TRANSPARENT


def own_colors(colors: Any, theme: str, style: str) -> tuple[tuple[str, str], ...]:
    """Return the colours that were asked, checked, as capital hexadecimal digits."""
    if colors is None:
        return ()
    if not isinstance(colors, Mapping):
        raise ArgumentError(
            f"draw: colors is a dict from kinds of boxes to colours, {{'dense': '#8E44AD'}}; got "
            f"{colors!r:.60}."
        )
    if theme == "print" and any(name != BACKGROUND for name in colors):
        raise ArgumentError(
            "draw: theme='print' is black, white and grey; got colors, too. Leave one out."
        )
    return tuple((name, _color(name, value, style)) for name, value in colors.items())


def _color(name: Any, value: Any, style: str) -> str:
    known = (*STYLES, BACKGROUND)
    if name not in known:
        hint = did_you_mean(str(name), known)
        raise ArgumentError(
            f"draw: colors has {name!r}, which is no kind of box. {hint}Expected one of "
            f"{', '.join(known)}."
        )
    if name == BACKGROUND and style == "figure":
        raise ArgumentError(
            "draw: a figure has no background: what is behind it is seen. Leave it out of colors."
        )
    if name == BACKGROUND and value == TRANSPARENT:
        return TRANSPARENT
    if not isinstance(value, str) or not re.fullmatch("#(?:[0-9a-fA-F]{3}){1,2}", value):
        more = ", or 'transparent'" if name == BACKGROUND else ""
        raise ArgumentError(
            f"draw: the colour of {name!r} is {value!r:.60}; expected '#RRGGBB', as "
            f"'#8E44AD'{more}."
        )
    digits = value[1:] if len(value) == 7 else "".join(2 * digit for digit in value[1:])
    return "#" + digits.upper()


def own_font(font: Any, style: str) -> str:
    """Return the font that was asked, checked: nothing else gets into the style sheet."""
    if font is None:
        return FONT
    if not isinstance(font, str) or not re.fullmatch(r"[\w .-]+(,[\w .-]+)*", font):
        raise ArgumentError(
            f"draw: font is the name of a font, or several with commas between; got {font!r:.60}. "
            f"Write font='Georgia, serif'."
        )
    if style == "figure":
        raise ArgumentError(
            "draw: the words of a figure are measured in Helvetica; got a font, too. Leave it out, "
            "or save it as .tex: there it has the letters of your document."
        )
    return font
