"""Write a sheet as SVG.

No font is embedded and no program is needed. Roles and looks become CSS classes with a style sheet,
so that one file can be light or dark; colours "#RRGGBB" become attributes. A raster becomes a PNG
with a palette and one byte per number, which indexes the roles of the raster. So numbers can be
read back with an error of at most 1/500 of the scale, and the light and the dark image differ only
in their palettes.

The module contains the picture, its marks, the images of arrays and the style sheet.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from kerascope.printable import printable_lines
from kerascope.viz.roles import color_of
from kerascope.viz.sheet import (
    Circle,
    Data,
    Group,
    Ink,
    Label,
    Line,
    Mark,
    Polygon,
    Raster,
    Rectangle,
    Sheet,
)
from kerascope.viz.theme import FONT
from kerascope.viz.writers.svg_syntax import (
    attribute,
    content,
    element,
    number,
    path_data,
    polyline_data,
)

BOTH = ("light", "dark")
MILLIMETRE = 72 / 25.4  # points


def svg_of_sheet(sheet: Sheet, theme: str = "light") -> str:
    """Return a sheet as SVG text; the theme "auto" follows the reader's system."""
    rules = graph_rules(sheet) if sheet.inks else _role_rules(sheet, theme)
    kind = " ".join(["kerascope", sheet.kind, *([theme] if rules and not sheet.inks else [])])
    size = f"{number(sheet.width)} {number(sheet.height)}"
    width, height = (_length(side, sheet) for side in (sheet.width, sheet.height))
    font = "" if rules else f'font-family="{FONT}" stroke-linejoin="round" '
    ground = "ground" if sheet.inks else f"f-{sheet.ground}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" width="{width}" '
        f'height="{height}" viewBox="0 0 {size}" {font}role="{"group" if sheet.inks else "img"}" '
        f"aria-label={attribute(sheet.label or sheet.title)}>",
        element("title", sheet.title),
        element("desc", sheet.description),
        *([f"<style>{rules}</style>"] if rules else []),
        *([arrow_heads(sheet.heads, sheet.kind)] if sheet.inks else []),
        *([f'<rect class="{ground}" width="100%" height="100%"/>'] if sheet.ground else []),
        *(svg_mark(mark, sheet.kind if sheet.inks else theme) for mark in sheet.drawn()),
    ]
    return printable_lines("\n".join([*lines, "</svg>", ""]))


def _length(side: float, sheet: Sheet) -> str:
    return f"{number(side * sheet.unit / MILLIMETRE)}mm" if sheet.on_paper else number(side)


def arrow_heads(looks: Iterable[str], scope: str) -> str:
    """Return the SVG definitions of arrow heads, whose ids contain the CSS class of the picture."""
    shape = '<path d="M0,0.6L8,4L0,7.4Z"/>'
    markers = [
        f'<marker id="kerascope-{scope}-{look}" class="head {look}" viewBox="0 0 8 8" refX="7.6" '
        f'refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" '
        f'orient="auto">{shape}</marker>'
        for look in looks
    ]
    return f"<defs>{''.join(markers)}</defs>"


# --- one mark -------------------------------------------------------------------------------------


def svg_mark(mark: Mark, scope: str = "light") -> str:
    """Return a mark as SVG elements.

    Parameters
    ----------
    mark : Mark
    scope : str
        For a picture of a graph: its CSS class, which is a part of the ids of arrow heads. For
        other pictures: the theme in which images are drawn.
    """
    return WRITERS[type(mark)](mark, scope)


def _rectangle(mark: Rectangle, scope: str) -> str:
    classes, ink = _ink(mark)
    corner = f' rx="{number(mark.corner)}"' if mark.corner else ""
    return (
        f'<rect{classes} x="{number(mark.x)}" y="{number(mark.y)}" width="{number(mark.width)}" '
        f'height="{number(mark.height)}"{corner}{ink}{_data(mark.data)}/>'
    )


def _circle(mark: Circle, scope: str) -> str:
    classes, ink = _ink(mark)
    place = f'cx="{number(mark.x)}" cy="{number(mark.y)}" r="{number(mark.radius)}"'
    return f"<circle{classes} {place}{ink}{_data(mark.data)}/>"


def _polygon(mark: Polygon, scope: str) -> str:
    classes, ink = _ink(mark)
    drawn = (path_data if mark.curved else polyline_data)(mark.points)
    return f'<path{classes} d="{drawn}Z"{ink}{_dashes(mark.dashes)}{_data(mark.data)}/>'


def _line(mark: Line, scope: str) -> str:
    classes, ink = _ink(mark)
    drawn = (path_data if mark.curved else polyline_data)(mark.points)
    drawn += "Z" * mark.closed + "".join(map(polyline_data, mark.more))
    head = f' marker-end="url(#kerascope-{scope}-{mark.head})"' if mark.head else ""
    end = f">{element('title', mark.tooltip)}</path>" if mark.tooltip else "/>"
    data = _data(mark.data)
    return f'<path{classes} d="{drawn}"{head}{ink}{_dashes(mark.dashes)}{data}{end}'


def _dashes(lengths: tuple[float, ...]) -> str:
    return f' stroke-dasharray="{" ".join(map(number, lengths))}"' if lengths else ""


def _data(data: Data | None) -> str:
    text = ""
    for key, value in data.items() if data else ():
        text += f" data-{key}={attribute(str(value))}"
    return text


def _group(group: Group, scope: str) -> str:
    inside = [WRITERS[type(mark)](mark, scope) for mark in group.marks]
    if not group.look:
        return "\n".join(inside)
    data = _data(group.data)
    if group.label is not None:
        data = f' role="img"{data} aria-label={attribute(group.label)}'
    tooltip = [element("title", group.tooltip)] if group.tooltip else []
    return "\n".join([f'<g class="{group.look}"{data}>', *tooltip, *inside, "</g>"])


def _text(mark: Label, scope: str) -> str:
    place = f'x="{number(mark.x)}" y="{number(mark.y)}"'
    anchor = f' text-anchor="{mark.anchor}"' if mark.anchor != "start" else ""
    if mark.look:
        own = f' class="{mark.look}" {place}{anchor}'
    else:
        classes, ink = _ink(mark)
        bold = ' font-weight="bold"' if mark.bold else ""
        own = f'{classes} {place} font-size="{number(mark.size)}"{anchor}{bold}{ink}'
    if mark.text and mark.pinned:
        own += f' textLength="{number(mark.width)}" lengthAdjust="spacingAndGlyphs"'
    return f"<text{own}{_data(mark.data)}>{content(mark.text)}</text>"


def _ink(mark: Rectangle | Polygon | Circle | Line | Label) -> tuple[str, str]:
    """Return the CSS classes of a mark, and the attributes of its colours and line width."""
    if mark.look:
        width = mark.line_width if isinstance(mark, Line) else 0
        own = f' style="stroke-width:{number(width)}px"' if width else ""
        return f' class="{mark.look}"', own
    fill, line, wide = getattr(mark, "fill", ""), getattr(mark, "line", ""), ""
    if isinstance(mark, Label):
        fill = mark.color
    elif line and not (isinstance(mark, Rectangle) and mark.line_width == 1):
        wide = f' stroke-width="{number(mark.line_width)}"'
    roles = [f"f-{fill}"] if fill[:1] != "#" and fill else []
    roles += [f"l-{line}"] if line[:1] != "#" and line else []
    if roles:
        return f' class="{" ".join(roles if fill else ["f-none", *roles])}"', wide
    return "", f' fill="{fill or "none"}"' + (f' stroke="{line}"' if line else "") + wide


# --- images of arrays -----------------------------------------------------------------------------


def _images(raster: Raster, theme: str) -> str:
    return "\n".join(_image(raster, theme))


def _image(raster: Raster, theme: str) -> Iterator[str]:
    for one in BOTH if theme == "auto" else (theme,):
        colors = [color_of(role, one) for role in raster.roles]
        data = base64.b64encode(palette_png(raster.levels, colors)).decode("ascii")
        size = f'width="{number(raster.width)}" height="{number(raster.height)}"'
        yield (
            f'<image class="is-{one}" data-name={attribute(raster.name)} x="{number(raster.x)}" '
            f'y="{number(raster.y)}" {size} '
            f'preserveAspectRatio="none" href="data:image/png;base64,{data}">'
            f"{element('title', raster.name)}</image>"
        )


def palette_png(levels: np.ndarray, colors: list[str]) -> bytes:
    r"""Return a PNG with a palette, in which each level is an index into the colours.

    Examples
    --------
    >>> palette_png(np.array([[0, 1]], "uint8"), ["#000000", "#FFFFFF"])[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    height, width = levels.shape
    rows = np.zeros((height, width + 1), "uint8")  # each row begins with its filter type, 0
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


WRITERS: dict[type, Callable[[Any, str], str]] = {
    Group: _group, Rectangle: _rectangle, Circle: _circle, Polygon: _polygon, Line: _line,
    Label: _text, Raster: _images,
}  # fmt: skip


# --- the style sheet ------------------------------------------------------------------------------


def graph_rules(sheet: Sheet) -> str:
    """Return the CSS rules of a sheet, those for the dark theme last."""
    return css(sheet.inks, sheet.dark_inks, sheet.kind)


def css(inks: Iterable[Ink], dark_inks: Iterable[Ink], scope: str) -> str:
    """Return CSS rules for pictures with the class `scope`; rules for the dark theme come last."""
    lines = [_rule(ink, scope) for ink in inks]
    dark = "".join(_rule(ink, scope) for ink in dark_inks)
    return "\n".join([*lines, f"@media (prefers-color-scheme:dark){{{dark}}}"] if dark else lines)


@cache
def _rule(ink: Ink, scope: str) -> str:
    names = ("fill", "stroke", "stroke-width", "stroke-dasharray")
    parts = [f"{name}:{value}" for name, value in zip(names, ink[1:5], strict=True) if value]
    scoped = ",".join(f".kerascope.{scope} {selector}" for selector in ink.where.split(","))
    return f"{scoped}{{{';'.join([*parts, *filter(None, [ink.more])])}}}"


def _role_rules(sheet: Sheet, theme: str) -> str:
    """Return the CSS rules of the roles in a sheet; "" if it has only colours "#RRGGBB"."""
    fills, lines = dict.fromkeys([sheet.ground]), dict[str, None]()
    for mark in sheet.shapes:
        if isinstance(mark, Label):
            fills[mark.color] = None
        elif not isinstance(mark, Raster):
            fills[getattr(mark, "fill", "")] = lines[mark.line] = None
    fills, lines = (
        {role: None for role in roles if role and role[0] != "#"} for roles in (fills, lines)
    )
    if not (fills or lines or sheet.has_rasters):
        return ""

    def rules(name: str) -> str:
        one = [f".f-{role}{{fill:{color_of(role, name)}}}" for role in fills]
        return "".join([*one, *(f".l-{x}{{stroke:{color_of(x, name)}}}" for x in lines)])

    first = f"text{{font-family:{FONT}}}.f-none{{fill:none}}image{{image-rendering:pixelated}}"
    parts = [first, rules("dark" if theme == "dark" else "light")]
    if theme == "auto":
        hidden = ".is-light{display:none}.is-dark{display:inline}" if sheet.has_rasters else ""
        parts += [".is-dark{display:none}"] if sheet.has_rasters else []
        parts.append(f"@media (prefers-color-scheme:dark){{{hidden}{rules('dark')}}}")
    return _scoped("".join(parts), f".kerascope.{sheet.kind}.{theme} ")


def _scoped(rules: str, place: str) -> str:
    """Return CSS rules restricted to the picture with the CSS selector `place`."""
    scoped = rules.replace("}.", f"}}{place}.").replace("}image", f"}}{place}image")
    return place + scoped.replace("{.", f"{{{place}.")
