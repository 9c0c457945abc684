"""The colours of a figure: the roles of its marks in a light, a dark and a printed theme.

Light and dark are the palettes of all pictures (`theme.py`). In "print" nothing depends on colour:
each kind of layer is a grey or a pattern of black lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from kerascope.viz.roles import LEVELS, color_of
from kerascope.viz.theme import PALETTES, mixed, style_of

# Kind -> grey of its inside, pattern of lines on it. Other kinds are white.
PRINTED = {
    "input": ("#FFFFFF", ""),
    "convolution": ("#F0F0F0", ""),
    "pooling": ("#B8B8B8", ""),
    "upsampling": ("#FFFFFF", "crossed"),
    "dense": ("#FFFFFF", "rising"),
    "recurrent": ("#E0E0E0", ""),
    "embedding": ("#FFFFFF", "level"),
    "attention": ("#FFFFFF", "falling"),
    "normalization": ("#D2D2D2", ""),
    "merge": ("#FFFFFF", ""),
    "model": ("#E8E8E8", ""),
    "wrapper": ("#E0E0E0", ""),
}
BLACK = "#000000"
PRINTED_ROLES = {"quiet": "#333333", "thin": "#777777", "ground": "#FFFFFF", "frame": "#FFFFFF"}
# Kinds that have a hue of their own in figures only.
HUES = {"pooling": "vermillion", "upsampling": "green", "merge": "orange", "input": "grey"}


@dataclass(frozen=True)
class Look:
    """The colours of one theme: "light", "dark" or "print".

    `own` holds the colours that the user chose for kinds of layers.

    Examples
    --------
    >>> Look("print").color("fill pooling"), Look("print").hatch("fill dense")
    ('#B8B8B8', 'rising')
    """

    theme: str
    own: tuple[tuple[str, str], ...] = ()

    @cache  # noqa: B019  there are few themes
    def color(self, role: str) -> str:
        """Return the colour of a role; "" if the role has no colour in this theme.

        Roles are "text", "quiet" (text), "edge", "thin" (lines), "ground" (the page, to hide
        marks below), "frame", "frame-line" and "accent HUE"; the levels of images ("d-17", "g-17",
        "nan": see `viz/roles.py`) and "on-d-17" for texts on them; for a kind of layer "fill KIND",
        "line KIND", "top KIND" and "side KIND" (of a volume), "cells KIND" (lines inside a box
        that has no pattern) and "under KIND" (the ground below texts on a pattern).
        """
        name, _, kind = role.partition(" ")
        if name == "accent":
            return self._accent(kind)
        if kind:
            return self._color_of_kind(name, kind)
        if role.partition("-")[0] in ("d", "g", "on", "nan", "inf", "minus"):
            return self._color_of_level(role)
        if self.theme == "print":
            return PRINTED_ROLES.get(role, BLACK) if role else ""
        palette = PALETTES[self.theme]
        return {
            "": "",
            "text": palette.text,
            "quiet": palette.quiet_text,
            "edge": palette.edge,
            "thin": mixed(palette.edge, palette.background, 0.25),
            "ground": palette.background,
            "frame": palette.group_fill,
            "frame-line": palette.group_line,
        }[role]

    def hatch(self, role: str) -> str:
        """Return the pattern of a colour role; "" if the role has no pattern in this theme."""
        name, _, kind = role.partition(" ")
        known = PRINTED.get(kind) if self.theme == "print" and name == "fill" else None
        return known[1] if known else ""

    def _color_of_level(self, role: str) -> str:
        """Return the colour of a level of an image; in "print", the grey of its absolute number."""
        if self.theme != "print" or role.startswith("g"):
            return color_of(role, "light" if self.theme == "print" else self.theme)
        if not role.startswith(("d", "on-d")):
            return "#FFFFFF" if role.startswith("on") else BLACK
        away = abs(2 * int(role.rpartition("-")[2]) / (LEVELS - 1) - 1)
        if role.startswith("on"):
            return BLACK if away < 0.5 else "#FFFFFF"
        return "#" + 3 * f"{round(255 * (1 - away)):02X}"

    def _accent(self, hue: str) -> str:
        if self.theme == "print":  # dashes distinguish arrows there
            return self.color("thin") if hue == "grey" else BLACK
        return PALETTES[self.theme].line(hue)

    def _color_of_kind(self, name: str, kind: str) -> str:
        hatched = bool(self.hatch(f"fill {kind}"))
        if name == "under":
            return self.color("ground") if hatched else ""
        if name == "cells" and hatched:
            return ""
        if self.theme == "print":
            line, fill = BLACK, PRINTED.get(kind, ("#FFFFFF", ""))[0]
            top, side = mixed(fill, "#FFFFFF", 0.6), mixed(fill, BLACK, 0.22)
        else:
            palette = PALETTES[self.theme]
            hue = dict(self.own).get(kind) or HUES.get(kind) or style_of(kind).hue
            line = palette.line(hue)
            fill = mixed(palette.fill(hue), line, 0.05)
            top, side = mixed(fill, palette.background, 0.45), mixed(fill, line, 0.25)
        return {"fill": fill, "line": line, "cells": line, "top": top, "side": side}[name]
