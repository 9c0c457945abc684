"""What is taken out of an output before it is stored: whatever belongs to one machine or one run.

Paths become what a reader sees of them, times are left out, and addresses are numbered in the order
in which they are first seen: `0x7f00aa10c`, and the keys `'140187463812304-2'` of `seen_nodes`, an
id and a depth. A whole number that stands elsewhere is a result, however long it is: a lesson that
wants to show who is who prints `hex(id(x))`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{5,}\b")
ID_AND_DEPTH = re.compile(r"(?<=')\d{10,}(?=-\d+')")
_NAME = r"[\w.+@-]+(?: [\w.+@-]+)*"
PATH = re.compile(rf"(?<![\w:/.~])(?:(?:/{_NAME})+/|[A-Za-z]:\\(?:{_NAME}\\)*)([\w.+@-]+)")
TIME = re.compile(
    r"(?<![\w.])(?:\d+(?:\.\d+)?(?:e-?\d+)? ?(?:ms|us|µs|ns|s|sec|seconds)"
    r"(?:/(?:step|sample|epoch|batch))?|\d+:\d\d:\d\d)(?![\w/])"
)
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def clean(text: str, roots: Iterable[str] = ()) -> str:
    """Return an output as it is stored in a lesson.

    Parameters
    ----------
    text : str
    roots : iterable of str
        Folders whose names are left out in front of their files: the chapter's working folder and
        the one that holds the package. Any other path is cut to its last name.

    Examples
    --------
    >>> clean("> /home/me/keras/engine/node.py(9)f()", ["/home/me"])
    '> keras/engine/node.py(9)f()'
    >>> clean("<A at 0x7f00aa10c> <B at 0x7f00aa20c> <A at 0x7f00aa10c>")
    '<A at 0x1> <B at 0x2> <A at 0x1>'
    >>> clean("32/50 [=====>...] - 0s 12ms/step - loss: 0.5")
    '32/50 [=====>...] - loss: 0.5'
    """
    text = ANSI.sub("", text.replace("\r\n", "\n"))
    for root in roots:
        for ending in ("/", "\\"):
            text = text.replace(root.rstrip("/\\") + ending, "")
    text = PATH.sub(lambda match: match[1], text)
    text = without_times(text)
    return numbered(text)


def without_times(text: str) -> str:
    """Return a text without durations, and without the space or the dash that led to each.

    Examples
    --------
    >>> without_times("done in 3.2 s; 7 ms/step")
    'done in;'
    """
    return re.sub(rf"(?: - | )?{TIME.pattern}", "", text)


def numbered(text: str) -> str:
    """Return a text whose ids and addresses are 1, 2, ... in the order of first sight.

    An id keeps ten digits, so that it still looks like one.

    Examples
    --------
    >>> numbered("'140187463812304-0' '140187463812999-1' '140187463812304-2'")
    "'1000000001-0' '1000000002-1' '1000000001-2'"
    >>> numbered("38654705664 operations")
    '38654705664 operations'
    """
    seen: dict[str, int] = {}

    def number(found: str) -> int:
        return seen.setdefault(found, len(seen) + 1)

    text = ADDRESS.sub(lambda match: f"0x{number(match[0].lower())}", text)
    return ID_AND_DEPTH.sub(lambda match: str(1_000_000_000 + number(match[0])), text)
