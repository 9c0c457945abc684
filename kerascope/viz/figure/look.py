"""How a figure looks: the colours of kinds of layers, and greys and patterns for print.

Light and dark are the palettes of all pictures (`theme.py`). In "print" nothing is told by a
colour: a kind is a grey or a pattern of black lines.
"""

from __future__ import annotations

from dataclasses import dataclass

from kerascope.viz.theme import PALETTES, mixed, style_of

# Kind -> grey of its inside, pattern of lines on it. What is missing is white.
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
# Kinds that figures tell apart and other pictures do not, by the hue of another kind.
HUES = {"pooling": "vermillion", "upsampling": "green", "merge": "orange", "input": "grey"}


@dataclass(frozen=True)
class Look:
    """Colours of one theme: "light", "dark" or "print"; `own` are those of kinds that differ.

    Examples
    --------
    >>> Look("print").box("pooling"), Look("print").text
    (('#B8B8B8', '#000000', ''), '#000000')
    """

    theme: str
    own: tuple[tuple[str, str], ...] = ()

    @property
    def printed(self) -> bool:
        """Whether it is black, white and grey."""
        return self.theme == "print"

    @property
    def text(self) -> str:
        """Colour of names and sizes."""
        return "#000000" if self.printed else PALETTES[self.theme].text

    @property
    def quiet(self) -> str:
        """Colour of words that stand back."""
        return "#333333" if self.printed else PALETTES[self.theme].quiet_text

    @property
    def edge(self) -> str:
        """Colour of arrows."""
        return "#000000" if self.printed else PALETTES[self.theme].edge

    @property
    def thin(self) -> str:
        """Colour of the many lines between neurons."""
        return "#777777" if self.printed else mixed(self.edge, self.ground, 0.25)

    @property
    def ground(self) -> str:
        """Colour behind a figure; it is not painted, what must hide something is."""
        return "#FFFFFF" if self.printed else PALETTES[self.theme].background

    @property
    def frame(self) -> tuple[str, str]:
        """Colours of a frame: inside, and of its line."""
        if self.printed:
            return "#FFFFFF", "#000000"
        palette = PALETTES[self.theme]
        return palette.group_fill, palette.group_line

    def accent(self, hue: str) -> str:
        """Colour of an arrow that is told apart from others (in print a grey, or by its dashes)."""
        if self.printed:
            return self.thin if hue == "grey" else "#000000"
        return PALETTES[self.theme].line(hue)

    def box(self, kind: str) -> tuple[str, str, str]:
        """Colours of the inside and of the line of a box, and the pattern on it."""
        if self.printed:
            fill, hatch = PRINTED.get(kind, ("#FFFFFF", ""))
            return fill, "#000000", hatch
        palette = PALETTES[self.theme]
        hue = dict(self.own).get(kind) or HUES.get(kind) or style_of(kind).hue
        return mixed(palette.fill(hue), palette.line(hue), 0.05), palette.line(hue), ""

    def shades(self, kind: str) -> tuple[str, str, str]:
        """Colours of the front, the top and the side of a volume."""
        fill, line, _ = self.box(kind)
        if self.printed:
            return fill, mixed(fill, "#FFFFFF", 0.6), mixed(fill, "#000000", 0.22)
        return fill, mixed(fill, self.ground, 0.45), mixed(fill, line, 0.25)
