"""The languages, the palettes (light and dark) and the style sheet that all pages share.

The contrast of each text color to both backgrounds, of the page and of code, is 4.5:1 or more, as
WCAG requires. A test computes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

FOLDER = Path(__file__).with_name("page")
NAMES = {"en": "English", "zh": "中文"}
TAGS = {"en": "en", "zh": "zh-Hans"}
NO_NETWORK = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
)
GROUNDS = ("ground", "code-ground")
PALETTES: dict[str, dict[str, str]] = {
    "light": {
        "ground": "#FFFFFF",
        "code-ground": "#F5F7FA",
        "line": "#C4CCD4",
        "text": "#1F2933",
        "quiet": "#52606D",
        "link": "#0550AE",
        "keyword": "#A0111F",
        "string": "#0A5C36",
        "number": "#0550AE",
        "name": "#6639BA",
        "builtin": "#8A3A00",
        "prompt": "#0A5C36",
    },
    "dark": {
        "ground": "#0F141A",
        "code-ground": "#18202A",
        "line": "#3B4754",
        "text": "#E4EAF0",
        "quiet": "#A3B0BD",
        "link": "#7CC0FF",
        "keyword": "#FF8F88",
        "string": "#86DBA6",
        "number": "#7CC0FF",
        "name": "#D2A8FF",
        "builtin": "#FFB077",
        "prompt": "#86DBA6",
    },
}
# The color of each kind of token, by the short names of pygments.
TOKENS = {
    "keyword": ("k", "kn", "kc", "kd", "kr", "ow"),
    "string": ("s", "s1", "s2", "sa", "sd", "si", "se", "sb", "sr"),
    "number": ("m", "mi", "mf", "mh", "mo"),
    "name": ("nf", "nc", "nd", "fm"),
    "builtin": ("nb", "bp", "ne", "gr"),
    "quiet": ("c", "c1", "cm", "gt", "where"),
    "prompt": ("gp", "prompt"),
}


def html_page(
    language: str, title: str, body: str, head: str = "", policy: str = NO_NETWORK
) -> str:
    """Return an HTML page with the shared style sheet.

    Parameters
    ----------
    language : str
        "en" or "zh".
    title : str
        The title, as plain text.
    body, head : str
        The HTML of the page's body, and HTML for the end of its head.
    policy : str
        The content security policy in the page; "" for none.
    """
    name = "Content-Security-Policy"
    rule = f'<meta http-equiv="{name}" content="{policy}">\n' if policy else ""
    return f"""<!DOCTYPE html>
<html lang="{TAGS[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{rule}<title>{escape(title)}</title>
<style>
{style_sheet()}</style>
{head}</head>
<body>
{body}</body>
</html>
"""


def style_sheet() -> str:
    """Return the style sheet of a page: its palettes, its layout, and the colors of code."""
    tokens = "\n".join(
        f"{', '.join(f'pre .{name}' for name in names)} {{ color: var(--{color}); }}"
        for color, names in TOKENS.items()
    )
    return f"{palette_rules()}{_read('page.css')}{tokens}\npre .command {{ font-weight: 700; }}\n"


def palette_rules() -> str:
    """Return the CSS rules that define the colors as variables, for light and dark mode."""
    light, dark = (_variables(PALETTES[name]) for name in ("light", "dark"))
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )


def script() -> str:
    """Return the JavaScript of a page."""
    return _read("page.js")


def _variables(palette: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {color};" for name, color in palette.items())


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
