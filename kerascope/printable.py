r"""Names as they are printed: what moves the cursor, or turns the direction, becomes an escape.

A name is data: it may come from a file and hold anything, "\x1b[2J" too, which wipes a terminal. It
stays what it is in configurations and logs; wherever it is printed it passes through here. A file
that people read as well as programs (SVG, GraphML, JSON) holds such a character as its form writes
any character: programs read the name as it is, and people see what is in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable

JOINERS = "\u200c\u200d"
LAST_OF_ASCII = 0x7F


def printable(text: str) -> str:
    r"""Return text with each character that cannot be seen written as an escape.

    Examples
    --------
    >>> printable("größe [bold]"), printable("a" + chr(27) + "[2J"), printable("two" + chr(10))
    ('größe [bold]', 'a\\x1b[2J', 'two\\n')
    """
    return _written(text, "", lambda x: ascii(x)[1:-1])


def printable_lines(text: str) -> str:
    r"""Return text in which line breaks and tabs stay, and all else is `printable`.

    Examples
    --------
    >>> printable_lines("a" + chr(7) + chr(10) + "b") == r"a\x07" + chr(10) + "b"
    True
    """
    return _written(text, "\n\t", lambda x: ascii(x)[1:-1])


def printable_json(text: str) -> str:
    r"""Return a text of JSON that says the same, and in which each character can be seen.

    Examples
    --------
    >>> print(printable_json(json.dumps("größe" + chr(0x202E), ensure_ascii=False)))
    "größe\u202e"
    """
    return _written(
        text, "\n\t", lambda x: f"\\u{ord(x):04x}" if x == "\x7f" else json.dumps(x)[1:-1]
    )


def printable_xml(text: str) -> str:
    r"""Return text from inside of XML that says the same, and in which each character can be seen.

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
    if rest.isprintable():  # as nearly always, and a text may be a megabyte
        return text
    return "".join(
        x if x.isprintable() or x in kept or _joins(text, at) else escape(x)
        for at, x in enumerate(text)
    )


def _joins(text: str, at: int) -> bool:
    """Return whether a character only joins or parts two others, as in an emoji or in Persian."""
    beside = text[max(at - 1, 0) : at] + text[at + 1 : at + 2]
    seen = beside.isprintable() and min(map(ord, beside), default=0) > LAST_OF_ASCII
    return text[at] in JOINERS and len(beside) == 2 and seen
