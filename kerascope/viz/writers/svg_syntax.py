"""The syntax of SVG: numbers, attributes, elements and paths."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from kerascope.engine.node_ids import clean
from kerascope.printable import printable_xml

# A reader of XML turns it into a blank unless it is written as a number.
_KEPT = {ord("\n"): "&#10;"}


def number(value: float) -> str:
    """Return a length with at most two decimals and nothing that says nothing.

    Examples
    --------
    >>> number(3.0), number(2.50), number(-0.001)
    ('3', '2.5', '0')
    """
    if value % 1 == 0:
        return str(int(value))
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def attribute(text: str) -> str:
    """Return a text as the value of an attribute, in quotes.

    Examples
    --------
    >>> attribute('a "b" <c>')
    '"a &quot;b&quot; &lt;c&gt;"'
    """
    escaped = escape(text, quote=True)
    if not escaped.isprintable():
        escaped = printable_xml(clean(escaped)).translate(_KEPT)
    return f'"{escaped}"'


def element(name: str, text: str) -> str:
    """Return an element that holds a text.

    Examples
    --------
    >>> element("title", "a & b")
    '<title>a &amp; b</title>'
    """
    return f"<{name}>{escape(text, quote=False)}</{name}>"


def path_data(path: Sequence[tuple[float, float]]) -> str:
    """Return a path in SVG's words; straight pieces are lines.

    Examples
    --------
    >>> path_data(((0, 0), (0, 1), (0, 2), (0, 3), (0, 5), (2, 5), (2, 7)))
    'M0,0L0,3C0,5 2,5 2,7'
    """
    points = [f"{number(x)},{number(y)}" for x, y in path]
    parts = ["M" + points[0]]
    for i in range(0, len(points) - 1, 3):
        xs, ys = zip(*path[i : i + 4], strict=True)
        if len(set(xs)) == 1 or len(set(ys)) == 1:
            parts.append("L" + points[i + 3])
        else:
            parts.append("C" + " ".join(points[i + 1 : i + 4]))
    return "".join(parts)


def polyline_data(points: Sequence[tuple[float, float]]) -> str:
    """Return a line through points in SVG's words.

    Examples
    --------
    >>> polyline_data(((0, 0), (0, 3.25)))
    'M0,0L0,3.25'
    """
    return "M" + "L".join(f"{number(x)},{number(y)}" for x, y in points)
