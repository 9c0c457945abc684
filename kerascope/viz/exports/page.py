"""The HTML page in one file, in which frames of a picture open and close, or a step is played.

The tools, the picture and the panel of the page are in `viewer/`. `to_html` writes a page without a
time line; `kerascope.player` adds the time line and its scripts. The page contains its style,
scripts and data. It loads nothing from the network, and its content security policy forbids that.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from string import Template

from kerascope.viz.theme import Palette

# These scripts are joined in this order, because each uses the scripts before it. The script that
# starts the page follows.
SCRIPTS = (
    "words", "graph", "showing", "levels", "places", "strands", "routes", "labels", "arrange",
    "svg", "boxes", "picture", "view", "walking", "searching", "details", "viewer", "tools",
)  # fmt: skip
# Only for pages with a ladder.
LADDER_SCRIPTS = ("rails", "ladder", "ladder_lines", "ladder_places", "ladder_picture")
WALKING = (
    ("↑ ↓", "against and along the arrows (← → if the picture runs from left to right)"),
    ("← →", "along the row"),
    ("Home, End", "to the first, to the last box"),
)


def page(
    *,
    title: str,
    kind: str,
    theme: str,
    style: str,
    body: str,
    data: str,
    script: str,
    heading: str = "",
    switch: str = "",
    keys: Sequence[tuple[str, str]] = (),
    walking: Sequence[tuple[str, str]] = WALKING,
    text: Callable[[str], str] = escape,
    label: Callable[[str], str] = escape,
    packed: str = "",
) -> str:
    """Return the HTML of a page.

    Parameters
    ----------
    title : str
        The title of the window.
    kind : str
        The CSS class of the page, on which its layout and tools depend.
    theme : {"light", "dark"}
        The theme of the page until its script has read the setting of the reader's system.
    style, script : str
        The CSS rules, and the code of the script.
    body, heading, switch : str
        HTML: `body` is below the tools, `heading` before them, and `switch` after them.
    data : str
        JSON that is safe inside a script element.
    keys, walking : sequence of (str, str)
        Keys with their descriptions, in addition to those of every page: keys of this page, and
        keys that move from box to box.
    text, label : callable
        Functions that translate a text of the page into HTML with all languages, and into the value
        of an attribute.
    packed : str, optional
        The HTML content of the element `.sides` in the body. It is compressed together with the
        data and the script; the body then contains a note for readers without JavaScript.
    """
    allowed = [script]
    if packed:
        parts = {"body": packed, "data": data, "script": script}
        held = base64.b64encode(gzip.compress(json.dumps(parts).encode(), 9, mtime=0)).decode()
        stored = f'<script type="application/octet-stream" id="packed">{held}</script>'
        script = lean(part("unpack.js"))
        allowed.append(script)
    else:
        stored = f'<script type="application/json" id="data">\n{data}</script>'
    rows = (
        "".join(f"<dt>{escape(key)}</dt><dd>{text(does)}</dd>\n" for key, does in some)
        for some in (keys, walking)
    )
    words = re.sub(r"\{(.+?)\}", lambda found: text(found[1]), part("page.html"))
    words = re.sub(r"(?<=[\"])\[(.+?)\]", lambda found: label(found[1]), words)
    return Template(words).substitute(
        title=title, kind=kind, theme=theme, policy=_policy(allowed), style=style, heading=heading,
        switch=switch, body=body, data=stored, script=script, keys=next(rows), walking=next(rows),
    )  # fmt: skip


def side(number: int, drawn: str, label: str) -> str:
    """Return the HTML element that contains a picture.

    Parameters
    ----------
    number : int
        The index of the picture in the page, from 0.
    drawn : str
        The SVG that is shown until the script draws.
    label : str
        The name for screen readers, escaped for an attribute.
    """
    name = f"-{number + 1}" if number else ""
    return (
        f'<div class="canvas" id="canvas{name}" role="group" aria-label="{label}">\n{drawn}</div>\n'
    )


def panel(number: int, label: str) -> str:
    """Return the HTML element of the panel with details of the selected box."""
    name = f"-{number + 1}" if number else ""
    return f'<aside class="details" id="details{name}" aria-label="{label}" hidden></aside>\n'


def _policy(allowed: Sequence[str]) -> str:
    """Return the content security policy: only the page's own scripts, style and images."""
    digests = (hashlib.sha256(script.encode()).digest() for script in allowed)
    named = " ".join(f"'sha256-{base64.b64encode(one).decode()}'" for one in digests)
    return (
        f"default-src 'none'; script-src {named}; style-src 'unsafe-inline'; img-src data:; "
        f"base-uri 'none'; form-action 'none'"
    )


@cache
def part(name: str) -> str:
    """Return the text of a file in `viewer/`, such as "page.html"."""
    return (files("kerascope.viz.exports") / "viewer" / name).read_text(encoding="utf-8")


@cache
def scripts(has_ladder: bool) -> str:
    """Return the scripts of a page, joined, without comments and indentation."""
    before = SCRIPTS.index("viewer")
    names = (*SCRIPTS[:before], *(LADDER_SCRIPTS if has_ladder else ()), *SCRIPTS[before:])
    return "".join(lean(part(f"{name}.js")) for name in names)


def lean(script: str) -> str:
    r"""Return a script without indentation, empty lines and comments on separate lines.

    Examples
    --------
    >>> lean("/** Say it. */\nfunction f() {\n  // Why.\n  return 1;\n}\n")
    'function f() {\nreturn 1;\n}\n'
    """
    script = re.sub(r"^\s*/\*\*.*?\*/\n", "", script, flags=re.DOTALL | re.MULTILINE)
    lines = (line.strip() for line in script.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


# --- style ----------------------------------------------------------------------------------------


def colors(palette: Palette) -> dict[str, str]:
    """Return the colours of the page around a picture, by their names in the style sheet."""
    return {
        "background": palette.background,
        "panel": palette.group_fill,
        "text": palette.text,
        "quiet": palette.quiet_text,
        "line": palette.group_line,
        "accent": palette.line("blue"),
        "accent-text": palette.sign("blue"),
        "found": palette.line("vermillion"),
    }


def color_rules(theme: str, named: dict[str, str]) -> str:
    """Return the CSS rule that defines the named colours of one theme."""
    said = "".join(f"--{name}:{color};" for name, color in named.items())
    return f':root[data-theme="{theme}"]{{color-scheme:{theme};{said}}}\n'
