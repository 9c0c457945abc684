"""Write a sheet as PDF or PNG, which Graphviz draws without computing a layout.

The marks become the background of an empty page, in Graphviz's language of drawing operations
[1]_. So a PDF embeds the system's font, as publishers require, and no other package is needed. Some
properties of Graphviz's output are corrected for print:

- Graphviz places characters at whole pixels of 1/96 inch, which gives uneven spacing at 6 pt. The
  sheet is passed `FINE` times as large and scaled down.
- Its pages are whole points wide. A PDF gets a page of the exact size (`with_page`).
- If a wider font replaces Helvetica, texts would exceed their boxes. In a PDF its characters are
  condensed, in a PNG they are smaller.
- A PDF contains rasters as images. In a PNG each cell is a rectangle with edges at whole pixels.

References
----------
.. [1] xdot, https://graphviz.org/docs/outputs/canon/#xdot
"""

from __future__ import annotations

import itertools
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from types import MappingProxyType
from typing import NamedTuple, TypeGuard

import numpy as np

from kerascope.viz.exports.graphviz import TIME_LIMIT, render
from kerascope.viz.layout.measures import text_width
from kerascope.viz.sheet import (
    Circle,
    Label,
    Line,
    Mark,
    Point,
    Polygon,
    Raster,
    Rectangle,
    Sheet,
    cells,
    flattened,
    plain_sheet,
)
from kerascope.viz.theme import FONT
from kerascope.viz.writers.svg_syntax import number

FINE = 100  # the sheet is drawn in hundredths of a point
SIZES_APART = 0.0002  # points
LONGEST_TEXT = 4000  # characters; Graphviz reads at most 16384 bytes
LETTERS = 1000.0  # font size at which a font is measured
NEAR, RAISED = 0.2, 2.0  # points by which Graphviz may misplace a text, horizontally and vertically


Outlined = Rectangle | Polygon | Circle | Line
DashStyle = tuple[float, tuple[float, ...]]  # the width of a line, and its dashes


class TextPlace(NamedTuple):
    """The position of a text, and the factor by which it is made narrower to fit its box."""

    x: float
    y: float
    closer: float = 1.0


def render_sheet(
    sheet: Sheet, format: str, theme: str = "light", *, dpi: float, time_limit: float = TIME_LIMIT
) -> bytes:
    """Return a sheet in the format "pdf" or "png", as bytes.

    Raises
    ------
    MissingToolError
        Graphviz is not installed.
    """

    def drawn(dot: str) -> bytes:
        return render(dot, format, dpi=dpi, engine="positions", time_limit=time_limit)

    sheet = plain_sheet(sheet, "dark" if theme == "dark" else "light")
    words = [mark for mark in sheet.marks if isinstance(mark, Label)]
    places = _places(words, _font_name(sheet))
    if format == "pdf":
        whole = drawn(dot_of_sheet(sheet, places, for_page=True))
        page = with_page(
            whole, sheet.width, sheet.height, places, _dash_styles(sheet), _rasters(sheet)
        )
        return drawn(dot_of_sheet(sheet, places)) if page is None else page
    return drawn(dot_of_sheet(sheet, places, 72 / dpi))


# --- DOT ------------------------------------------------------------------------------------------


def dot_of_sheet(
    sheet: Sheet, places: Sequence[TextPlace], pixel: float = 0.0, *, for_page: bool = False
) -> str:
    """Return DOT with a sheet as the background of an empty page.

    Parameters
    ----------
    sheet : Sheet
    places : sequence of TextPlace
        The positions of the texts of the sheet.
    pixel : float
        The size of a pixel in points; 0 for a PDF. The page has a whole number of pixels or points.
    for_page : bool
        Whether `with_page` will condense the characters of a wider font, dash the lines and insert
        the images. Otherwise the characters of a wider font are smaller, and each dash and each
        cell of an image is a separate mark.
    """
    background = _continued(_Operations(sheet, places, pixel, for_page))
    step = pixel or 1.0
    width, height = (math.ceil(side / step - 0.01) * step for side in (sheet.width, sheet.height))
    middle = f"{_fine(width / 2)},{_fine(sheet.height - height / 2)}"
    ground = sheet.ground or "transparent"
    viewport = f"{width:.5f},{height:.5f},{1 / FINE},{middle}"
    return (
        f'digraph {{\n  graph [margin=0, pad=0, viewport="{viewport}", bgcolor="{ground}", '
        f'_background="{background}"]\n'
        f'  page [pos="{middle}", shape=box, style=invis, fixedsize=true, label="", '
        f"width={width / 72 * FINE:.5f}, height={height / 72 * FINE:.5f}]\n}}\n"
    )


def _continued(operations: Iterable[str]) -> str:
    """Return drawing operations as one DOT string, with lines short enough for Graphviz.

    Concatenation in DOT (`"a" + "b"`) would take quadratic time.
    """
    lines: list[list[str]] = [[]]
    length = 0
    for operation in operations:
        length += len(operation) + 1
        if length > LONGEST_TEXT:
            lines.append([])
            length = len(operation) + 1
        lines[-1].append(operation)
    return " \\\n".join(" ".join([*line, ""]) for line in lines)


class _Operations:
    """The drawing operations of a sheet, with colours and line widths when they change.

    Parameters
    ----------
    sheet, places, pixel, for_page
        As for `dot_of_sheet`.
    """

    def __init__(
        self, sheet: Sheet, places: Iterable[TextPlace], pixel: float, for_page: bool
    ) -> None:
        self.sheet, self.pixel, self.for_page = sheet, pixel, for_page
        self.font = _quoted("", _font_name(sheet))
        self.apart = 0.0  # sizes differ slightly, since cairo would merge neighbours of equal size
        self.current: dict[str, str] = {}
        self.places = iter(places)
        self.colors = iter(_rasters(sheet))
        self.codes = {style: code for code, style in _dash_styles(sheet).items()}

    def __iter__(self) -> Iterator[str]:
        for mark in self.sheet.shapes:
            if isinstance(mark, Label):
                yield from self.text(mark)
            elif isinstance(mark, Raster):
                yield from self.image_place(mark) if self.for_page else self.image_cells(mark)
            else:
                yield from self.outlined(mark)

    def text(self, mark: Label) -> Iterator[str]:
        x, y, closer = next(self.places)
        self.apart = SIZES_APART - self.apart
        size = _fine((mark.size if self.for_page else mark.size * closer) + self.apart)
        yield from self.use(c=mark.color)
        yield f"F {size} {self.font} t {int(mark.bold)}"
        yield f"T {_fine(x)} {_fine(self.sheet.height - y)} -1 0 {_quoted('', mark.text)}"

    def image_place(self, mark: Raster) -> Iterator[str]:
        """Yield the rectangle that `with_page` will replace with an image."""
        color = f"#{next(self.colors):06X}"
        yield from self.use(S="setlinewidth(0)", c=color, C=color)
        # Half as wide, because cairo merges a rectangle with a frame of the same size.
        half = Rectangle(mark.x, mark.y, mark.width / 2, mark.height)
        yield f"P {self.points(half.points)}"

    def image_cells(self, mark: Raster) -> Iterator[str]:
        """Yield a rectangle for each cell of an image.

        The edges of the cells are moved to edges of pixels, because cairo leaves a visible seam
        between neighbours that share a pixel. Cells smaller than a pixel are not moved, because
        some of them would vanish.
        """
        rows, columns = mark.levels.shape
        is_large = min(mark.width / columns, mark.height / rows) >= self.pixel > 0
        for color, ends in cells(mark):
            yield from self.use(S="setlinewidth(0)", c=color, C=color)
            if is_large:
                ends = np.rint(ends / self.pixel) * self.pixel
            ends[:, 1::2] = self.sheet.height - ends[:, 1::2]
            for a, b, c, d in np.rint(ends * FINE).astype(int).tolist():
                yield f"P 4 {a} {b} {c} {b} {c} {d} {a} {d}"

    def outlined(self, mark: Outlined) -> Iterator[str]:
        fill = "" if isinstance(mark, Line) else mark.fill
        line = "" if _is_dashed(mark) else mark.line
        if fill or line:
            yield from self.use(S=f"setlinewidth({_fine(mark.line_width if line else 0)})")
            yield from self.use(c=line or fill, **({"C": fill} if fill else {}))
            yield _outline(mark, fill, self.points)
        if _is_dashed(mark):
            yield from self.dashed(mark)

    def dashed(self, mark: Line | Polygon) -> Iterator[str]:
        """Yield a solid line that `with_page` will dash, or each dash as a line."""
        if self.for_page:
            code = self.codes[mark.line_width, mark.dashes]
            yield from self.use(S=f"setlinewidth({number(code / FINE)})", c=mark.line)
            yield _outline(mark, "", self.points)
            return
        yield from self.use(S=f"setlinewidth({_fine(mark.line_width)})", c=mark.line)
        for piece in _dashed(mark):
            yield f"L {self.points(piece)}"

    def use(self, **wanted: str) -> Iterator[str]:
        """Yield operations that set line style (S), line colour (c) or fill (C), if they change."""
        for letter, value in wanted.items():
            if self.current.get(letter) != value:
                self.current[letter] = value
                yield _counted(letter, value)

    def points(self, path: Sequence[Point]) -> str:
        height = self.sheet.height
        return f"{len(path)} {' '.join([f'{_fine(x)} {_fine(height - y)}' for x, y in path])}"


def _outline(mark: Outlined, fill: str, points: Callable[[Sequence[Point]], str]) -> str:
    """Return the operation that draws the outline of a mark and, with `fill`, fills the mark."""
    if isinstance(mark, Circle):
        radius = _fine(mark.radius)
        center = points([(mark.x, mark.y)]).partition(" ")[2]
        return f"{'E' if fill else 'e'} {center} {radius} {radius}"
    if isinstance(mark, (Line, Polygon)) and mark.curved:
        return f"{'b' if fill else 'B'} {points(mark.points)}"
    letter = "L" if isinstance(mark, Line) else "P" if fill else "p"
    return f"{letter} {points(mark.points)}"


def _font_name(sheet: Sheet) -> str:
    """Return the font names for Graphviz, which finds substitutes for Helvetica itself."""
    return FONT.split(",")[0] if sheet.font == FONT else sheet.font


@lru_cache(maxsize=20_000)
def _fine(points: float) -> str:
    return number(points * FINE)


def _counted(letter: str, text: str) -> str:
    """Return a text in xdot syntax, preceded by its number of bytes."""
    return f"{letter} {len(text.encode('utf-8'))} -{text}".lstrip()


def _quoted(letter: str, text: str) -> str:
    """Return a text in xdot syntax, escaped for a DOT string."""
    return _counted(letter, text).replace("\\", "\\\\").replace('"', '\\"')


def _is_dashed(mark: Mark) -> TypeGuard[Line | Polygon]:
    return isinstance(mark, (Line, Polygon)) and bool(mark.dashes and mark.line)


def _dash_styles(sheet: Sheet) -> dict[int, DashStyle]:
    """Return the styles of dashed lines by the line widths that encode them in Graphviz's PDF.

    Graphviz's own dashes have a fixed length. So a dashed line is drawn solid with a unique width,
    a few ten-thousandths of a point wider, by which `with_page` recognizes it. Keys are widths in
    1/10000 of a point.
    """
    styles = dict.fromkeys(
        (mark.line_width, mark.dashes) for mark in sheet.marks if _is_dashed(mark)
    )
    return {round(style[0] * FINE) * FINE + i: style for i, style in enumerate(styles, 1)}


def _rasters(sheet: Sheet) -> dict[int, Raster]:
    """Return the rasters by the colours of the rectangles that mark their places in a PDF.

    The colours are numbers "#RRGGBB" that no other mark of the sheet has.
    """
    used = {getattr(mark, name, "") for mark in sheet.marks for name in ("fill", "line", "color")}
    free = (number for number in itertools.count(1) if f"#{number:06X}" not in used)
    return {next(free): mark for mark in sheet.marks if isinstance(mark, Raster)}


def _dashed(mark: Line | Polygon) -> Iterator[tuple[Point, ...]]:
    """Yield the dashes of a dashed line as separate lines."""
    path = [*flattened(mark.points)] if mark.curved else [*mark.points]
    return dashes([*path, path[0]] if isinstance(mark, Polygon) else path, mark.dashes)


def dashes(
    path: Sequence[Point], pattern: Sequence[float] = (2.4, 1.6)
) -> Iterator[tuple[Point, ...]]:
    """Yield the dashes of a dashed line along a path; the pattern alternates dashes and gaps.

    Examples
    --------
    >>> [*dashes([(0.0, 0.0), (3.0, 0.0), (3.0, 4.0)])]
    [((0.0, 0.0), (2.4, 0.0)), ((3.0, 1.0), (3.0, 3.4))]
    """
    piece: list[Point] = []
    lengths = itertools.cycle(pattern)
    left, inked = next(lengths), True  # the rest of the current dash or gap
    for (x0, y0), (x1, y1) in itertools.pairwise(path):
        length, gone = math.hypot(x1 - x0, y1 - y0), 0.0
        if inked and not piece:
            piece = [(x0, y0)]
        while length - gone >= left > 0:
            gone += left
            at = (x0 + (x1 - x0) * gone / length, y0 + (y1 - y0) * gone / length)
            if inked:
                yield (*piece, at)
            inked = not inked
            piece = [at] if inked else []
            left = next(lengths)
        left -= length - gone
        if inked:
            piece.append((x1, y1))
    if len(piece) > 1 and piece[0] != piece[-1]:
        yield tuple(piece)


# --- texts in another font ------------------------------------------------------------------------


def _places(words: Sequence[Label], font: str) -> list[TextPlace]:
    """Return the positions of texts. Texts wider than in Helvetica are made narrower."""
    widths = _measured(tuple({(mark.text, mark.bold): None for mark in words}), font)
    places = []
    for mark in words:
        natural = widths[mark.text, mark.bold] * mark.size / LETTERS
        wide = min(natural, mark.width)
        left = mark.x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[mark.anchor]
        places.append(TextPlace(left, mark.y, wide / natural if natural else 1.0))
    return places


@lru_cache(64)
def _measured(texts: tuple[tuple[str, bool], ...], font: str) -> Mapping[tuple[str, bool], float]:
    """Return the widths of texts in the system's font, as Graphviz measures them."""
    lines = []
    for i, (text, bold) in enumerate(texts):  # bold as in the drawing
        label = f"<B>{escape(text)}</B>" if bold else escape(text)
        lines.append(f'  {i} [pos="0,{i}", label=<{label}>]')
    name = font.replace("\\", "\\\\").replace('"', '\\"')
    letters = f'fontsize={LETTERS:g}, fontname="{name}"'
    source = "digraph {\n  node [shape=box, margin=0, width=0, height=0, %s]\n%s\n}\n"
    svg = render(source % (letters, "\n".join(lines)), "svg", engine="positions").decode("utf-8")
    boxes = re.findall(r'<polygon fill="none"[^>]* points="([-\d.]+),\S+ ([-\d.]+),', svg)
    if len(boxes) != len(texts):
        return {text: text_width(text[0], LETTERS, text[1]) for text in texts}
    return {
        text: abs(float(right) - float(left))
        for text, (right, left) in zip(texts, boxes, strict=True)
    }


# --- the page of a PDF ----------------------------------------------------------------------------

_ENTRY = re.compile(rb"(\d{10}) \d{5} n")
_MEDIA_BOX = re.compile(rb"/MediaBox \[ 0 0 \d+ \d+ \]")
_CONTENTS = re.compile(rb"/Contents (\d+) 0 R")
_RESOURCES = re.compile(rb"/Resources (\d+) 0 R")
_SIZE = re.compile(rb"/Size \d+")
_FILLED = re.compile(rb"([\d.]+) ([\d.]+) ([\d.]+) rg( /a0 gs)?\s+(?:-?[\d.]+ ){4}re f\n")
_STREAM = re.compile(rb"stream\r?\n(.*)\r?\nendstream", re.S)
_UPSIDE_DOWN = re.compile(rb"1 0 0 -1 0 \d+ cm\n")
_WIDTH = re.compile(rb"(?<![\d.])([\d.]+) w\n")
_SOLID = b"[] 0.0 d\n"
_TEXT = re.compile(rb"\bBT\n.*?\nET\n", re.S)
_PLACED = re.compile(rb"([-\d.]+) 0 0 ([-\d.]+) ([-\d.]+) ([-\d.]+) Tm|([-\d.]+) ([-\d.]+) Td")


def with_page(
    pdf: bytes,
    width: float,
    height: float,
    places: Sequence[TextPlace],
    dash_styles: Mapping[int, DashStyle] = MappingProxyType({}),
    rasters: Mapping[int, Raster] = MappingProxyType({}),
) -> bytes | None:
    """Return a PDF with a page of the exact size, condensed texts, dashed lines and images.

    Parameters
    ----------
    pdf : bytes
        A PDF with one page as cairo writes it, with a cross-reference table.
    width, height : float
        The new size in points, from the upper left corner.
    places : sequence of TextPlace
        The positions of the texts, in their order.
    dash_styles : mapping
        The result of `_dash_styles`.
    rasters : mapping
        The result of `_rasters`.

    Returns
    -------
    bytes or None
        None if the PDF has another structure and cannot be changed.
    """
    objects = _objects(pdf)
    page = next((one for one in objects.values() if _MEDIA_BOX.search(one)), b"")
    found = _CONTENTS.search(page)
    stream = _STREAM.search(objects.get(int(found[1]), b"")) if found else None
    if not (found and stream):
        return None
    content = zlib.decompress(stream[1])
    if not _UPSIDE_DOWN.match(content):
        return None
    content = _UPSIDE_DOWN.sub(b"1 0 0 -1 0 %.4f cm\n" % height, content, count=1)
    condensed = _with_condensed_texts(content, places)
    drawn = condensed and _with_dashes(condensed, dash_styles)
    drawn = drawn and _with_images(drawn, rasters)
    resources = _RESOURCES.search(page)
    if drawn is None or (rasters and not resources):
        return None
    place = next(key for key, one in objects.items() if one is page)
    objects[place] = _MEDIA_BOX.sub(b"/MediaBox [ 0 0 %.4f %.4f ]" % (width, height), page)
    objects[int(found[1])] = _stream_object(int(found[1]), drawn)
    if rasters and resources:
        _add_images(objects, int(resources[1]), [*rasters.values()])
    return _joined(pdf, objects)


def _stream_object(number: int, content: bytes, entries: bytes = b"") -> bytes:
    """Return an object of a PDF that contains compressed data, with entries of its dictionary."""
    packed = zlib.compress(content, 9)
    return (
        b"%d 0 obj\n<< /Length %d\n   /Filter /FlateDecode\n%s>>\nstream\n%s\nendstream\nendobj\n"
        % (number, len(packed), entries, packed)
    )


def _objects(pdf: bytes) -> dict[int, bytes]:
    """Return the objects of a PDF by number; empty if it has no cross-reference table."""
    table = pdf.rfind(b"\nxref\n0 ") + 1
    starts = [int(entry[1]) for entry in _ENTRY.finditer(pdf, table)] if table else []
    ends = dict(itertools.pairwise([*sorted(starts), table]))
    return {i: pdf[start : ends[start]] for i, start in enumerate(starts, 1)}


def _joined(pdf: bytes, objects: Mapping[int, bytes]) -> bytes:
    """Return a PDF with its objects replaced, and with a new cross-reference table."""
    table = pdf.rfind(b"\nxref\n0 ") + 1
    pieces = [pdf[: pdf.index(b"\n", pdf.index(b"\n") + 1) + 1]]  # the version, and a comment
    starts, length = [], len(pieces[0])
    for key in sorted(objects):
        starts.append(length)
        pieces.append(objects[key])
        length += len(objects[key])
    trailer = pdf[pdf.index(b"trailer", table) : pdf.index(b"startxref", table)]
    trailer = _SIZE.sub(b"/Size %d" % (len(starts) + 1), trailer)
    pieces.append(b"xref\n0 %d\n0000000000 65535 f \n" % (len(starts) + 1))
    pieces += [b"%010d 00000 n \n" % start for start in starts]
    return b"".join([*pieces, trailer, b"startxref\n%d\n%%%%EOF\n" % length])


def _with_condensed_texts(content: bytes, places: Sequence[TextPlace]) -> bytes | None:
    """Return the content of a PDF page with its texts moved and narrowed as `places` requires.

    Return None if the content does not have all these texts.
    """
    waiting = list(reversed(places))
    across, down, x, y = 1.0, 1.0, 0.0, 0.0
    place = TextPlace(0.0, 0.0)

    def placed(found: re.Match[bytes]) -> bytes:
        nonlocal across, down, x, y, place
        if found[1]:
            across, down, x, y = (float(found[i]) for i in (1, 2, 3, 4))
        else:
            x, y = x + float(found[5]) * across, y + float(found[6]) * down
        spacing = b""
        if waiting and abs(waiting[-1].x - x) < NEAR and abs(waiting[-1].y - y) < RAISED:
            place = waiting.pop()
            spacing = b"%.2f Tz " % (100.0 * place.closer)
        at = place.x + (x - place.x) * place.closer  # a second font continues there
        return b"%s%f 0 0 %f %f %f Tm" % (spacing, across, down, at, place.y)

    drawn = _TEXT.sub(lambda found: _PLACED.sub(placed, found[0]), content)
    return None if waiting else drawn


def _with_dashes(content: bytes, styles: Mapping[int, DashStyle]) -> bytes | None:
    """Return the drawing of a PDF page with dashed lines; None if a line width is missing in it.

    Cairo writes the line width only when it changes, and writes once, at the beginning, that lines
    are solid.
    """
    if not styles:
        return content
    found = set()

    def styled(match: re.Match[bytes]) -> bytes:
        code = round(float(match[1]) * FINE**2)
        if code not in styles:
            return match[0] + _SOLID
        found.add(code)
        width, dashes = styles[code]
        return f"{number(width)} w\n[{' '.join(map(number, dashes))}] 0 d\n".encode()

    drawn = _WIDTH.sub(styled, content.replace(_SOLID, b""))
    return drawn if found == set(styles) else None


def _with_images(content: bytes, rasters: Mapping[int, Raster]) -> bytes | None:
    """Return the drawing of a PDF page with an image in the place of each rectangle of `rasters`.

    Return None if a rectangle is missing.
    """
    names = {color: i for i, color in enumerate(rasters)}
    found = set()

    def placed(match: re.Match[bytes]) -> bytes:
        red, green, blue = (round(float(match[i]) * 255) for i in (1, 2, 3))
        color = red << 16 | green << 8 | blue
        if color not in names:
            return match[0]
        found.add(color)
        mark = rasters[color]
        place = (mark.width, -mark.height, mark.x, mark.y + mark.height)
        state = b"%s %s %s rg%s\n" % (match[1], match[2], match[3], match[4] or b"")
        return state + b"q %.4f 0 0 %.4f %.4f %.4f cm /I%d Do Q\n" % (*place, names[color])

    drawn = _FILLED.sub(placed, content)
    return drawn if found == set(rasters) else None


def _add_images(objects: dict[int, bytes], resources: int, rasters: Sequence[Raster]) -> None:
    """Add the images of rasters to the objects of a PDF, and their names to the resources."""
    palettes: dict[tuple[str, ...], int] = {}
    names = []
    for i, mark in enumerate(rasters):
        if mark.roles not in palettes:
            number = palettes[mark.roles] = max(objects) + 1
            colors = "".join(role[1:] for role in mark.roles).encode()
            space = b"[/Indexed /DeviceRGB %d <%s>]" % (len(mark.roles) - 1, colors)
            objects[number] = b"%d 0 obj\n%s\nendobj\n" % (number, space)
        rows, columns = mark.levels.shape
        entries = (
            b"   /Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent 8\n"
            b"   /ColorSpace %d 0 R /Interpolate false\n" % (columns, rows, palettes[mark.roles])
        )
        number = max(objects) + 1
        objects[number] = _stream_object(number, mark.levels.tobytes(), entries)
        names.append(b"/I%d %d 0 R" % (i, number))
    own = b"<<\n   /XObject << %s >>" % b" ".join(names)
    objects[resources] = objects[resources].replace(b"<<", own, 1)
