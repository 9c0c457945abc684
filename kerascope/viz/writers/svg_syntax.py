"""The syntax of SVG: numbers, attributes, elements and paths."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from html import escape

from kerascope.engine.node_ids import clean
from kerascope.printable import printable_xml

# XML parsers replace a line break in an attribute by a space, unless it is a reference.
_KEPT = {ord("\n"): "&#10;"}


@lru_cache(maxsize=20_000)  # cached, because many marks of a picture share a coordinate
def number(value: float) -> str:
    """Return a length with at most two decimals and no trailing zeros.

    Examples
    --------
    >>> number(3.0), number(2.50), number(-0.001)
    ('3', '2.5', '0')
    """
    if value % 1 == 0:
        return str(int(value))
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


@lru_cache(maxsize=5_000)  # cached, because a box and its arrows write the same id
def attribute(text: str) -> str:
    """Return a text escaped and quoted as the value of an attribute.

    Examples
    --------
    >>> attribute('a "b" <c>')
    '"a &quot;b&quot; &lt;c&gt;"'
    """
    escaped = escape(text)
    if not escaped.isprintable():
        escaped = printable_xml(clean(escaped)).translate(_KEPT)
    return f'"{escaped}"'


@lru_cache(maxsize=5_000)
def content(text: str) -> str:
    """Return a text escaped as the content of an element.

    Examples
    --------
    >>> content('a & "b"')
    'a &amp; "b"'
    """
    return escape(text, quote=False)


def element(name: str, text: str) -> str:
    """Return an SVG element that contains a text.

    Examples
    --------
    >>> element("title", "a & b")
    '<title>a &amp; b</title>'
    """
    return f"<{name}>{content(text)}</{name}>"


def path_data(path: Sequence[tuple[float, float]]) -> str:
    """Return cubic Bezier curves as the data of an SVG path; straight curves become lines.

    Examples
    --------
    >>> path_data(((0, 0), (0, 1), (0, 2), (0, 3), (0, 5), (2, 5), (2, 7)))
    'M0,0L0,3C0,5 2,5 2,7'
    """
    parts = ["M", _point(path[0])]
    for i in range(0, len(path) - 1, 3):
        (x, y), (x1, y1), (x2, y2), (x3, y3) = path[i : i + 4]
        if x == x1 == x2 == x3 or y == y1 == y2 == y3:
            parts += ["L", _point(path[i + 3])]
        else:
            parts += ["C", " ".join(map(_point, path[i + 1 : i + 4]))]
    return "".join(parts)


def polyline_data(points: Sequence[tuple[float, float]]) -> str:
    """Return a line through points as the data of an SVG path.

    Examples
    --------
    >>> polyline_data(((0, 0), (0, 3.25)))
    'M0,0L0,3.25'
    """
    return "M" + "L".join(map(_point, points))


def _point(point: tuple[float, float]) -> str:
    x, y = point
    return f"{number(x)},{number(y)}"
