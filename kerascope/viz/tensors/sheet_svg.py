"""A sheet as SVG: shapes are elements, rasters are images of a byte for each number.

The image of a raster is a PNG with a palette, written here: index 0 to 250 are the levels of the
scale, 251 is NaN, 252 and 253 are the infinities. So the numbers can be read back to a part in 500
of the scale, and the light and the dark image differ in the palette alone.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable, Iterator
from html import escape

import numpy as np

from kerascope.printable import printable_lines
from kerascope.viz.exports.to_svg import attribute, element, number
from kerascope.viz.layout.measures import text_width
from kerascope.viz.tensors.scales import LEVELS, ODD_LEVELS, color_of
from kerascope.viz.tensors.sheet import Box, Raster, Shape, Sheet, Stroke, Words
from kerascope.viz.theme import FONT

BOTH = ("light", "dark")


def svg_of_sheet(sheet: Sheet, theme: str = "auto") -> str:
    """Return a sheet as an SVG text; "auto" is light or dark as the reader's system wants it."""
    themes = BOTH if theme == "auto" else (theme,)
    size = f"{number(sheet.width)} {number(sheet.height)}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="kerascope tensors {theme}" '
        f'width="{number(sheet.width)}" height="{number(sheet.height)}" viewBox="0 0 {size}" '
        f'role="img" aria-label={attribute(sheet.title)}>',
        element("title", sheet.title),
        element("desc", sheet.description),
        f"<style>{_style_sheet(sheet, theme)}</style>",
        '<rect class="f-ground" width="100%" height="100%"/>',
    ]
    for shape in sheet.shapes:
        lines += _drawn(shape, themes)
    return printable_lines("\n".join([*lines, "</svg>", ""]))


def _drawn(shape: Shape, themes: Iterable[str]) -> Iterator[str]:
    if isinstance(shape, Box):
        classes = [f"f-{shape.fill or 'none'}", *([f"l-{shape.line}"] if shape.line else [])]
        place = "".join(
            f' data-{name}="{at}"'
            for name, at in zip(("row", "column"), shape.place, strict=bool(shape.place))
        )
        yield (
            f'<rect class="{" ".join(classes)}" x="{number(shape.x)}" y="{number(shape.y)}" '
            f'width="{number(shape.width)}" height="{number(shape.height)}"{place}/>'
        )
    elif isinstance(shape, Words):
        yield _words(shape)
    elif isinstance(shape, Stroke):
        points = " ".join(f"{number(x)},{number(y)}" for x, y in shape.points)
        dashes = f' stroke-dasharray="{" ".join(map(number, shape.dashes))}"'
        name = f" data-name={attribute(shape.name)}" if shape.name else ""
        yield (
            f'<polyline class="l-{shape.role}" points="{points}" fill="none" '
            f'stroke-width="{number(shape.width)}"{dashes if shape.dashes else ""}{name}/>'
        )
    else:
        for theme in themes:
            yield _image(shape, theme)


def _words(words: Words) -> str:
    anchor = "" if words.anchor == "start" else f' text-anchor="{words.anchor}"'
    bold = ' font-weight="bold"' if words.bold else ""
    width = text_width(words.text, words.size, words.bold)
    pinned = f' textLength="{number(width)}" lengthAdjust="spacingAndGlyphs"'
    return (
        f'<text class="f-{words.role}" x="{number(words.x)}" y="{number(words.y)}" '
        f'font-size="{number(words.size)}"{anchor}{bold}{pinned if words.text else ""}>'
        f"{escape(words.text, quote=False)}</text>"
    )


def _image(raster: Raster, theme: str) -> str:
    colors = [color_of(f"{raster.letter}-{level}", theme) for level in range(LEVELS)]
    colors += [color_of(role, theme) for role in ODD_LEVELS.values()]
    data = base64.b64encode(palette_png(raster.levels, colors)).decode("ascii")
    return (
        f'<image class="is-{theme}" data-name={attribute(raster.name)} x="{number(raster.x)}" '
        f'y="{number(raster.y)}" width="{number(raster.width)}" height="{number(raster.height)}" '
        f'preserveAspectRatio="none" href="data:image/png;base64,{data}">'
        f"{element('title', raster.name)}</image>"
    )


def palette_png(levels: np.ndarray, colors: list[str]) -> bytes:
    r"""Return a PNG of a byte for each number, which is a place among the colours.

    Examples
    --------
    >>> palette_png(np.array([[0, 1]], "uint8"), ["#000000", "#FFFFFF"])[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    height, width = levels.shape
    rows = np.zeros((height, width + 1), "uint8")  # each row begins with its filter: none
    rows[:, 1:] = levels
    palette = b"".join(bytes.fromhex(color[1:]) for color in colors)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


# --- the style sheet ------------------------------------------------------------------------------


def _style_sheet(sheet: Sheet, theme: str) -> str:
    fills: dict[str, None] = {"ground": None}
    lines: dict[str, None] = {}
    for shape in sheet.shapes:
        if isinstance(shape, Words):
            fills[shape.role] = None
        elif isinstance(shape, Box):
            fills[shape.fill] = None
            lines[shape.line] = None
        elif isinstance(shape, Stroke):
            lines[shape.role] = None

    def rules(name: str) -> str:
        one = [f".f-{role}{{fill:{color_of(role, name)}}}" for role in fills if role]
        return "".join([*one, *(f".l-{x}{{stroke:{color_of(x, name)}}}" for x in lines if x)])

    first = f"text{{font-family:{FONT}}}.f-none{{fill:none}}image{{image-rendering:pixelated}}"
    parts = [first, rules("dark" if theme == "dark" else "light")]
    has_images = any(isinstance(shape, Raster) for shape in sheet.shapes)
    if theme == "auto":
        hidden = ".is-light{display:none}.is-dark{display:inline}" if has_images else ""
        parts += [".is-dark{display:none}"] if has_images else []
        parts.append(f"@media (prefers-color-scheme:dark){{{hidden}{rules('dark')}}}")
    return _scoped("".join(parts), theme)


def _scoped(rules: str, theme: str) -> str:
    """Return rules that hold for this picture and for no other on the same page."""
    place = f".kerascope.tensors.{theme} "
    scoped = rules.replace("}.", f"}}{place}.").replace("}image", f"}}{place}image")
    return place + scoped.replace("{.", f"{{{place}.")
