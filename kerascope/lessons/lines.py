"""The lines of a text, as Python and Markdown count them in a file.

`str.splitlines` ends a line at a form feed, at U+2028 and at eight more signs. In a file they are
signs like any other, so that whatever counts lines must not use it.
"""

from __future__ import annotations

import re

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def lines_with_ends(text: str) -> list[str]:
    r"""Return the lines of a text, each with what ends it.

    Examples
    --------
    >>> lines_with_ends("a\n\n\x0cb")
    ['a\n', '\n', '\x0cb']
    """
    return _LINE.findall(text)


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text.

    Examples
    --------
    >>> lines_of("one\u2028still one\r\ntwo\n")
    ['one\u2028still one', 'two']
    """
    return [line.rstrip("\r\n") for line in lines_with_ends(text)]
