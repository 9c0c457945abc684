r"""Names as they are printed: what moves the cursor, or turns the direction, becomes an escape.

A name is data: it may come from a file and hold anything, "\x1b[2J" too, which wipes a terminal. It
stays what it is in configurations, files and logs; wherever it is printed it passes through here.
"""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Return text with each character that cannot be seen written as an escape.

    Examples
    --------
    >>> printable("größe [bold]"), printable("a" + chr(27) + "[2J"), printable("two" + chr(10))
    ('größe [bold]', 'a\\x1b[2J', 'two\\n')
    """
    if text.isprintable():
        return text
    return "".join(x if x.isprintable() else ascii(x)[1:-1] for x in text)


def printable_lines(text: str) -> str:
    r"""Return text in which line breaks and tabs stay, and all else is `printable`.

    Examples
    --------
    >>> printable_lines("a" + chr(7) + chr(10) + "b") == r"a\x07" + chr(10) + "b"
    True
    """
    if text.isprintable():
        return text
    return "".join(x if x.isprintable() or x in "\n\t" else ascii(x)[1:-1] for x in text)
