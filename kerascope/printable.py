r"""Printing names safely: control and direction characters become escapes.

A name may come from a file and contain any characters, also "\x1b[2J", which clears a terminal.
Configurations and logs keep names unchanged. This module escapes all printed names. Files that
people and programs read (SVG, GraphML, JSON) contain such characters in the format's own escape
notation: programs read the original name, and people see every character.
"""

from __future__ import annotations

import json
from collections.abc import Callable

JOINERS = "\u200c\u200d"
LAST_OF_ASCII = 0x7F


def printable(text: str) -> str:
    r"""Return the text with invisible characters as escapes.

    Examples
    --------
    >>> printable("größe [bold]"), printable("a" + chr(27) + "[2J"), printable("two" + chr(10))
    ('größe [bold]', 'a\\x1b[2J', 'two\\n')
    """
    return _written(text, "", lambda x: ascii(x)[1:-1])


def printable_lines(text: str) -> str:
    r"""Return the text with invisible characters as escapes, except line breaks and tabs.

    Examples
    --------
    >>> printable_lines("a" + chr(7) + chr(10) + "b") == r"a\x07" + chr(10) + "b"
    True
    """
    return _written(text, "\n\t", lambda x: ascii(x)[1:-1])


def printable_json(text: str) -> str:
    r"""Return an equivalent JSON text with invisible characters as JSON escapes.

    Examples
    --------
    >>> print(printable_json(json.dumps("größe" + chr(0x202E), ensure_ascii=False)))
    "größe\u202e"
    """
    return _written(
        text, "\n\t", lambda x: f"\\u{ord(x):04x}" if x == "\x7f" else json.dumps(x)[1:-1]
    )


def printable_xml(text: str) -> str:
    r"""Return equivalent XML content with invisible characters as character references.

    Examples
    --------
    >>> printable_xml("größe" + chr(0x202E))
    'größe&#8238;'
    """
    return _written(text, "\n", lambda x: f"&#{ord(x)};")


def _written(text: str, kept: str, escape: Callable[[str], str]) -> str:
    rest = text
    for character in kept:
        rest = rest.replace(character, "")
    if rest.isprintable():  # the usual case, checked first because a text may have a megabyte
        return text
    return "".join(
        x if x.isprintable() or x in kept or _joins(text, at) else escape(x)
        for at, x in enumerate(text)
    )


def _joins(text: str, at: int) -> bool:
    """Return whether an invisible character only joins or separates letters, as in Persian."""
    beside = text[max(at - 1, 0) : at] + text[at + 1 : at + 2]
    seen = beside.isprintable() and min(map(ord, beside), default=0) > LAST_OF_ASCII
    return text[at] in JOINERS and len(beside) == 2 and seen
