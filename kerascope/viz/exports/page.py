"""The page in one file in which a picture opens and closes, or a step is played.

There is one: its tools, its picture and its panel are in `viewer/`. A picture by itself
(`to_html`) is the page with the time line left out; `kerascope.player` adds that, and its own
scripts. The page holds its style, its scripts and its data, and asks no network for anything; a
policy in it forbids that too.
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

# In this order they make one script; each uses what stands before it. Then come the scripts of the
# page itself: what starts it.
SCRIPTS = (
    "words", "graph", "showing", "levels", "places", "strands", "routes", "labels", "arrange",
    "svg", "boxes", "picture", "view", "walking", "searching", "details", "viewer", "tools",
)  # fmt: skip
# Only in a page with a ladder.
LADDER_SCRIPTS = ("rails", "ladder", "ladder_lines", "ladder_places", "ladder_picture")
WALKING = (
    ("↑ ↓", "against and along the arrows (← → where the picture goes left to right)"),
    ("← →", "along the row"),
    ("Home, End", "the first, the last box"),
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
    """Return the page.

    Parameters
    ----------
    title : str
        Of the window.
    kind : str
        The class of the whole: what is left out, and where things stand.
    theme : {"light", "dark"}
        Until the script has asked the reader's system.
    style, script : str
    body, heading, switch : str
        HTML: what stands below the tools, before and behind them.
    data : str
        JSON that may stand in a script element.
    keys, walking : sequence of (str, str)
        Keys with what they do, beside those that every page has: of this page, and those that walk
        from box to box.
    text, label : callable
        From a text of the page to HTML that shows it in each language, and to the value of an
        attribute.
    packed : str, optional
        What the place `.sides` in the body holds. It is compressed, with data and script; then the
        body says so, for who has no script.
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
    """Return the place of a picture and of the panel that tells of its boxes.

    Parameters
    ----------
    number : int
        From 0: a page may have several.
    drawn : str
        The SVG, as it is until the script draws.
    label : str
        What the place is called, as the value of an attribute.
    """
    name = f"-{number + 1}" if number else ""
    return (
        f'<div class="canvas" id="canvas{name}" role="group" aria-label="{label}">\n{drawn}</div>\n'
    )


def panel(number: int, label: str) -> str:
    """Return the place where the page tells of the chosen box."""
    name = f"-{number + 1}" if number else ""
    return f'<aside class="details" id="details{name}" aria-label="{label}" hidden></aside>\n'


def _policy(allowed: Sequence[str]) -> str:
    """Return what the page may do: run its own scripts and use its own style, nothing else."""
    digests = (hashlib.sha256(script.encode()).digest() for script in allowed)
    named = " ".join(f"'sha256-{base64.b64encode(one).decode()}'" for one in digests)
    return (
        f"default-src 'none'; script-src {named}; style-src 'unsafe-inline'; "
        f"base-uri 'none'; form-action 'none'"
    )


@cache
def part(name: str) -> str:
    """Return one of the files of the page."""
    return (files("kerascope.viz.exports") / "viewer" / name).read_text(encoding="utf-8")


@cache
def scripts(has_ladder: bool) -> str:
    """Return the scripts that draw, without what only their reader needs."""
    before = SCRIPTS.index("viewer")
    names = (*SCRIPTS[:before], *(LADDER_SCRIPTS if has_ladder else ()), *SCRIPTS[before:])
    return "".join(lean(part(f"{name}.js")) for name in names)


def lean(script: str) -> str:
    r"""Return a script without indentation, empty lines and comments that fill their lines.

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
    """Return the colours of what stands around a picture, by the names of the style sheet."""
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
    """Return the rule that gives colours their names in one theme."""
    said = "".join(f"--{name}:{color};" for name, color in named.items())
    return f':root[data-theme="{theme}"]{{color-scheme:{theme};{said}}}\n'
