"""The smallest pieces of an SVG: numbers, attributes, elements, lines of text."""

from __future__ import annotations

from html import escape

from kerascope.engine.node_ids import clean
from kerascope.printable import printable_lines, printable_xml
from kerascope.viz.layout.text_width import text_width

# A reader of XML turns it into a blank unless it is written as a number.
_KEPT = {ord("\n"): "&#10;"}


def number(value: float) -> str:
    """Return a length with at most two decimals and nothing that says nothing.

    Examples
    --------
    >>> number(3.0), number(2.50), number(-0.001)
    ('3', '2.5', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def attribute(text: str) -> str:
    """Return a text as the value of an attribute, in quotes.

    Examples
    --------
    >>> attribute('a "b" <c>')
    '"a &quot;b&quot; &lt;c&gt;"'
    """
    return f'"{printable_xml(escape(clean(text), quote=True)).translate(_KEPT)}"'


def element(name: str, text: str) -> str:
    """Return an element that holds a text.

    Examples
    --------
    >>> element("title", "a & b")
    '<title>a &amp; b</title>'
    """
    return f"<{name}>{escape(printable_lines(text), quote=False)}</{name}>"


def text_element(
    kind: str, x: float, y: float, text: str, size: float, *, bold: bool = False
) -> str:
    """Return a line of text that begins at (x, y), pinned to the width that was computed for it."""
    width = text_width(text, size, bold)
    pinned = f' textLength="{number(width)}" lengthAdjust="spacingAndGlyphs"' if text else ""
    return (
        f'<text class="{kind}" x="{number(x)}" y="{number(y)}"{pinned}>'
        f"{escape(printable_lines(text), quote=False)}</text>"
    )
