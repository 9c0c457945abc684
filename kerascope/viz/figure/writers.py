"""From a sheet to SVG, to TikZ, and to DOT from which Graphviz makes PDF and PNG.

No format has all that another has, so a sheet holds only what all of them have: polygons, circles,
lines and words. Graphviz draws them without laying out anything: they are the background of a page
that is empty otherwise, in its language of drawing operations [1]_. So a PDF has the machine's font
embedded, as publishers want it, and no further package is needed.

References
----------
.. [1] xdot, https://graphviz.org/docs/outputs/canon/#xdot
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from html import escape

from kerascope.printable import printable_lines
from kerascope.viz.exports.to_svg import attribute, element, number
from kerascope.viz.figure.marks import Circle, Data, Mark, Point, Polygon, Sheet, Stroke, Words
from kerascope.viz.theme import FONT

POINTS_PER_MM = 72 / 25.4
DASHES = "2.4 1.6"
LONGEST_TEXT = 4000  # characters; a reader of DOT has room for 16384 bytes

# --- SVG ------------------------------------------------------------------------------------------


def svg_of_sheet(sheet: Sheet, title: str) -> str:
    """Return a figure as SVG on a transparent ground, as large as it is printed."""
    width, height = (number(side / POINTS_PER_MM) for side in (sheet.width, sheet.height))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="kerascope figure" width="{width}mm" '
        f'height="{height}mm" viewBox="0 0 {number(sheet.width)} {number(sheet.height)}" '
        f'font-family="{FONT}" stroke-linejoin="round" role="img" aria-label={attribute(title)}>',
        element("title", title),
        element("desc", sheet.legend),
        *map(_svg, sheet.drawn()),
        "</svg>\n",
    ]
    return printable_lines("\n".join(lines))


def _svg(mark: Mark) -> str:
    data = "".join(f" data-{key}={attribute(value)}" for key, value in mark.data.items())
    if isinstance(mark, Words):
        bold = ' font-weight="bold"' if mark.bold else ""
        anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
        return (
            f'<text x="{number(mark.x)}" y="{number(mark.y)}" font-size="{number(mark.size)}"'
            f'{anchor}{bold} fill="{mark.color}" textLength="{number(mark.width)}" '
            f'lengthAdjust="spacingAndGlyphs"{data}>{escape(mark.text, quote=False)}</text>'
        )
    if isinstance(mark, Circle):
        where = f'cx="{number(mark.x)}" cy="{number(mark.y)}" r="{number(mark.radius)}"'
        ink = f'fill="{mark.fill}" stroke="{mark.line}" stroke-width="{number(mark.width)}"'
        return f"<circle {where} {ink}{data}/>"
    path = "L".join(f"{number(x)},{number(y)}" for x, y in mark.points)
    dashes = f' stroke-dasharray="{DASHES}"' if mark.dashed else ""
    fill, end = (mark.fill or "none", "Z") if isinstance(mark, Polygon) else ("none", "")
    line = f' stroke="{mark.line}" stroke-width="{number(mark.width)}"' if mark.line else ""
    return f'<path d="M{path}{end}" fill="{fill}"{line}{dashes}{data}/>'


# --- DOT, for PDF and PNG -------------------------------------------------------------------------


def dot_of_sheet(sheet: Sheet) -> str:
    """Return DOT with a figure as the background of an empty page."""
    background = " + ".join(f'"{piece}"' for piece in _quoted(_operations(sheet)))
    center = f"{number(sheet.width / 2)},{number(sheet.height / 2)}"
    return (
        f'digraph {{\n  graph [margin=0, pad=0, bgcolor="transparent", _background={background}]'
        f'\n  page [pos="{center}", shape=box, style=invis, fixedsize=true, label="", '
        f"width={sheet.width / 72:.5f}, height={sheet.height / 72:.5f}]\n}}\n"
    )


def _quoted(operations: Iterable[str]) -> Iterator[str]:
    """Yield the operations in texts that are not longer than what Graphviz can read as one."""
    piece = ""
    for operation in operations:
        escaped = operation.replace("\\", "\\\\").replace('"', '\\"')
        if piece and len(piece) + len(escaped) > LONGEST_TEXT:
            yield piece
            piece = ""
        piece += escaped + " "
    yield piece


def _operations(sheet: Sheet) -> Iterator[str]:
    def points(path: Iterable[Point]) -> str:
        listed = [f"{number(x)} {number(sheet.height - y)}" for x, y in path]
        return f"{len(listed)} {' '.join(listed)}"

    for mark in sheet.drawn():
        if isinstance(mark, Words):
            at = f"{number(mark.x)} {number(sheet.height - mark.y)}"
            side = {"start": -1, "middle": 0, "end": 1}[mark.anchor]
            yield _counted("c", mark.color)
            yield f"F {number(mark.size)} {_counted('', FONT.split(',')[0])} t {int(mark.bold)}"
            yield f"T {at} {side} {number(mark.width)} {_counted('', mark.text)}"
            continue
        yield _counted("S", f"setlinewidth({number(mark.width)})")
        yield _counted("S", "dashed" if getattr(mark, "dashed", False) else "solid")
        yield _counted("c", mark.line or getattr(mark, "fill", ""))
        if isinstance(mark, Stroke):
            yield f"L {points(mark.points)}"
            continue
        if mark.fill:
            yield _counted("C", mark.fill)
        letter = "P" if mark.fill else "p"
        if isinstance(mark, Circle):
            radius = number(mark.radius)
            center = f"{number(mark.x)} {number(sheet.height - mark.y)}"
            yield f"{'E' if mark.fill else 'e'} {center} {radius} {radius}"
        else:
            yield f"{letter} {points(mark.points)}"


def _counted(letter: str, text: str) -> str:
    """Return a text as xdot has it: with the number of its bytes before it."""
    return f"{letter} {len(text.encode('utf-8'))} -{text}".lstrip()


# --- TikZ -----------------------------------------------------------------------------------------

_IN_TEX = {
    **{character: f"\\{character}" for character in "#$%&_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"\u00d7": r"\texttimes{}", "\u00b7": r"\textperiodcentered{}"},  # in the text's own font
    **{"\u00b2": r"\texttwosuperior{}", "\u00b3": r"\textthreesuperior{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
    **{"\u2192": r"$\to$", "\u2026": r"\dots{}"},
}
_ANCHORS = {"start": "base west", "middle": "base", "end": "base east"}


def tikz_of_sheet(sheet: Sheet) -> str:
    """Return a figure as a `tikzpicture`, for a document that loads tikz."""
    colors = dict.fromkeys(color for mark in sheet.drawn() for color in _colors(mark))
    names = {color: f"kscolor{color[1:]}" for color in colors}
    lines = [
        "\\begin{tikzpicture}[x=1bp, y=-1bp, line join=round, inner sep=0pt, outer sep=0pt]",
        # In front of the picture the end of each of these lines would be a blank beside it.
        *(f"  \\definecolor{{{names[one]}}}{{HTML}}{{{one[1:]}}}" for one in sorted(colors)),
        f"  \\useasboundingbox (0,0) rectangle ({number(sheet.width)},{number(sheet.height)});",
        *(f"  {_tikz(mark, names.__getitem__)}" for mark in sheet.drawn()),
        "\\end{tikzpicture}\n",
    ]
    return "\n".join(lines)


def tex_of_sheet(sheet: Sheet) -> str:
    """Return a figure as a whole LaTeX document of its own size."""
    return (
        "\\documentclass[border=0pt]{standalone}\n\\usepackage[T1]{fontenc}\n"
        "\\usepackage[utf8]{inputenc}\n\\usepackage{textcomp}\n\\usepackage{tikz}\n"
        "\\usepackage[scaled]{helvet}\n"
        "\\renewcommand{\\familydefault}{\\sfdefault}\n\\begin{document}\n"
        f"{tikz_of_sheet(sheet)}\\end{{document}}\n"
    )


def _colors(mark: Mark) -> list[str]:
    found = [mark.color] if isinstance(mark, Words) else [mark.line, getattr(mark, "fill", "")]
    return [color for color in found if color]


def _tikz(mark: Mark, name: Callable[[str], str]) -> str:
    if isinstance(mark, Words):
        font = f"\\fontsize{{{number(mark.size)}bp}}{{{number(mark.size * 1.2)}bp}}\\selectfont"
        bold = "\\bfseries" if mark.bold else ""
        options = f"anchor={_ANCHORS[mark.anchor]}, text={name(mark.color)}, font={{{font}{bold}}}"
        return f"\\node[{options}] at ({number(mark.x)},{number(mark.y)}) {{{tex(mark.text)}}};"
    options = ", ".join(_tikz_ink(mark, name))
    if isinstance(mark, Circle):
        center, radius = f"({number(mark.x)},{number(mark.y)})", number(mark.radius)
        return f"\\path[{options}] {center} circle[radius={radius}bp];"
    path = " -- ".join(f"({number(x)},{number(y)})" for x, y in mark.points)
    return f"\\path[{options}] {path}{' -- cycle' if isinstance(mark, Polygon) else ''};"


def _tikz_ink(mark: Polygon | Circle | Stroke, name: Callable[[str], str]) -> Iterator[str]:
    fill = getattr(mark, "fill", "")
    if fill:
        yield f"fill={name(fill)}"
    if mark.line:
        yield f"draw={name(mark.line)}"
        yield f"line width={number(mark.width)}bp"
    if getattr(mark, "dashed", False):
        yield "dash pattern=on 2.4bp off 1.6bp"


def tex(text: str) -> str:
    r"""Return a text as LaTeX writes it.

    Examples
    --------
    >>> tex("conv_1: 3\u00d73")
    'conv\\_1: 3\\texttimes{}3'
    """
    return "".join(_IN_TEX.get(character, character) for character in text)


def data_of(layers: Iterable[str], shape: str = "", **more: str) -> Data:
    """Return what a mark says of the layers that it stands for."""
    found = {"layers": "\n".join(layers), "shape": shape, **more}
    return {key: value for key, value in found.items() if value}
