"""The HTML page of a player: the page of a picture, with a time line and details of each moment.

The steps are also an ordered list in plain HTML. Without a script, this list is shown. With a
script, it provides the texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from kerascope.lessons.lesson import LANGUAGES
from kerascope.lessons.page_style import NAMES, TAGS
from kerascope.player.flows import ODD_SHADES, SHADES, shade_colors
from kerascope.player.picture import Picture, flow_colors, picture_rules, state_colors
from kerascope.player.words import PAGE_WORDS, WORDS, Text, words_for_script
from kerascope.viz.exports import page
from kerascope.viz.layout.ladder import is_ladder
from kerascope.viz.theme import PALETTES

PACKED_ABOVE = 120_000  # characters of data and steps; longer data are compressed
FOLDER = Path(__file__).with_name("page")
SCRIPTS = ("room", "flows", "player")
MOVES = {"first": "|◀", "previous": "◂", "play": "▶", "next": "▸", "last": "▶|"}
SKIPS = ("change", "stop")
KEYS = (
    ("← →", "one step"),
    ("Home, End", "the first, the last step"),
    ("Space", "play or pause"),
    ("c", "next change of state"),
    ("s", "next stop-point"),
)
# The units of a step that a reader can choose.
UNITS = ("all", "op", "call", "depth", "phase", "batch")
OF_THE_SCRIPT = (
    "step", "of", "play", "pause", "copied", "names", "name", "value", "new", "empty", "said",
    "build", "forward", "loss", "metrics", "backward", "update", "commit", "gradients",
    "get_updates", "now", "B", "E", "I", "state0", "state1", "state2", "state3", "state4",
    "zero", "arriving", "equal", "here", "since", "never",
)  # fmt: skip


class SideHtml(NamedTuple):
    """The HTML of one side of the page.

    Attributes
    ----------
    title : dict of str to str or None
        The title that distinguishes the two sides, or None.
    picture : Picture or None
        None for a page without a picture.
    steps : list of str
        The text of each step.
    style : str
        The CSS rules of its picture.
    """

    title: Text | None
    picture: Picture | None
    steps: list[str]
    style: str = ""


def page_html(
    title: Text,
    sides: Sequence[SideHtml],
    data: dict[str, Any],
    moments: int,
    stops: Sequence[tuple[int, Text]],
    about: Text | None = None,
) -> str:
    """Return the page of a player as HTML.

    Parameters
    ----------
    title : dict of str to str
        The title of the page in each language.
    sides : sequence of SideHtml
        One or two sides.
    data : dict
        The data for the script.
    moments : int
        Number of positions of the slider.
    stops : sequence of (int, dict of str to str)
        The stop-points: their positions on the slider, and their titles.
    about : dict of str to str, optional
        A text about the page: the number of events, and of those that are left out.
    """
    words = {name: text for name, text in words_for_script().items() if name in OF_THE_SCRIPT}
    shades = {"letters": [*SHADES, *ODD_SHADES.values()]} | {t: shade_colors(t) for t in PALETTES}
    data = {"title": title, "say": words, "translated": {"zh": PAGE_WORDS}, "theme": "auto",
            "shades": shades, **data}  # fmt: skip
    alone = " alone" if len(sides) == 1 else ""
    stored = json_lines(data)
    body = packed = "".join(_side(number, side, False) for number, side in enumerate(sides))
    if len(stored) + len(body) > PACKED_ABOVE:
        stored = _dense(data)
        body = f"<noscript><p>{_word('unpacked')}</p></noscript>"
    else:
        body, packed = "".join(_side(number, side, True) for number, side in enumerate(sides)), ""
    return page.page(
        title=escape(title["en"]),
        kind="player",
        theme="light",
        style=style(sides),
        heading=f"<h1>{each(title)}</h1>{_about(about)}",
        switch=_switch(),
        keys=KEYS,
        walking=[("↑ ↓", "against and along the arrows")],
        text=_tool,
        label=_tool_label,
        body=f'{_gate(data["gates"])}<div class="sides{alone}">\n{body}</div>\n'
        f"{_controls(moments, stops, len(sides) > 1)}"
        f'<p class="live unseen" role="status" aria-live="polite"></p>',
        data=stored,
        packed=packed,
        script=script(any(side.picture and is_ladder(side.picture.whole) for side in sides)),
    )


def _tool(english: str) -> str:
    """Return the HTML with the name of a button of the page, in each language."""
    return each({"en": english, "zh": PAGE_WORDS.get(english, english)})


def _tool_label(english: str) -> str:
    return " / ".join(dict.fromkeys([escape(english), escape(PAGE_WORDS.get(english, english))]))


def _about(about: Text | None) -> str:
    return f'<p class="about quiet">{each(about)}</p>' if about else ""


def style(sides: Sequence[SideHtml] = ()) -> str:
    """Return the style sheet, without comments."""
    colors = "".join(
        page.color_rules(
            theme, {**page.colors(palette), **state_colors(palette), **flow_colors(palette)}
        )
        for theme, palette in PALETTES.items()
    )
    pictures = dict.fromkeys(side.style for side in sides)
    base = page.part("viewer.css")
    rules = f"{colors}{''.join(pictures)}{picture_rules()}{page.lean(base + _read('player.css'))}"
    return re.sub(r"(?<=[{};:,])\s+|\s+(?=[{}])|;\s*(?=})", "", rules) + "\n"


def script(has_ladder: bool = False) -> str:
    """Return the script, without comments."""
    own = "".join(page.lean(_read(f"{name}.js")) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{page.scripts(has_ladder)}{own}}})();\n'


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def each(text: Text) -> str:
    """Return the HTML of a text in all languages. The style sheet shows only one of them."""
    return "".join(
        f'<span class="in-{name}" lang="{TAGS[name]}">{escape(text[name])}</span>'
        for name in LANGUAGES
    )


def _word(name: str) -> str:
    return each(dict(zip(LANGUAGES, WORDS[name], strict=True)))


def _switch() -> str:
    radios = "".join(
        f'<label lang="{TAGS[name]}"><input type="radio" name="language" value="{name}" '
        f'id="language-{name}"{" checked" if name == "en" else ""} autocomplete="off"> '
        f"{NAMES[name]}</label> "
        for name in LANGUAGES
    )
    return f'<fieldset><legend class="unseen">Language / 语言</legend>{radios}</fieldset>'


def _unit(name: str) -> str:
    """Return the HTML `<option>` for a size of steps, such as "op", with text in both languages."""
    english, chinese = map(escape, WORDS[f"unit {name}"])
    data = f'value="{name}" data-en="{english}" data-zh="{chinese}"'
    return f"<option {data}>{english}</option>"


def _controls(moments: int, stops: Sequence[tuple[int, Text]], are_two: bool) -> str:
    buttons = "".join(
        f'<button type="button" data-do="{name}" aria-label="{_both(name)}" '
        f'title="{_both(name)}">{sign}</button>'
        for name, sign in MOVES.items()
    )
    skips = "".join(
        f'<button type="button" data-do="{name}">{_word(name)}</button>'
        for name in (*SKIPS, *(["differs"] if are_two else []))
    )
    skips += '<output class="differing" for="moment"></output>' if are_two else ""
    units = "".join(map(_unit, UNITS))
    rows = "".join(
        f'<li><button type="button" data-go="{moment}">{each(text)}</button></li>'
        for moment, text in stops
    )
    listed = f"<details><summary>{_word('stops')}</summary><ol>{rows}</ol></details>"
    return (
        f'<div class="controls"><div class="buttons">{buttons}'
        f'<output class="count" for="moment"></output></div>\n'
        f'<div class="time"><div class="lanes moves" role="group" '
        f'aria-label="{_both("lanes")}"></div>\n'
        f'<input type="range" id="moment" min="0" max="{moments - 1}" value="0" step="1" '
        f'aria-label="{_both("step")}" autocomplete="off"></div>\n'
        f'<div class="more"><label>{_word("by")} <select id="unit" autocomplete="off">{units}'
        f'</select></label> {skips}<p class="keys">{_word("keys")}</p>{listed if rows else ""}'
        f"</div></div>\n"
    )


def _both(name: str) -> str:
    """Return a word in both languages, for HTML attributes, which a style sheet cannot hide."""
    return " / ".join(dict.fromkeys(WORDS[name]))


def _gate(gates: Sequence[dict[str, Any]]) -> str:
    """Return the HTML for questions to readers: a section that the page's script fills.

    A browser that runs no scripts shows a list of the questions and answers instead.
    """
    folded = "".join(
        f"<details><summary>{each(gate['ask'])}</summary><p>{each(gate['answer'])}</p></details>"
        for gate in gates
    )
    without = f"<noscript>{folded}</noscript>\n" if folded else ""
    label = " / ".join(WORDS["gate"])
    return (
        f'{without}<section class="gate" aria-label="{label}" tabindex="-1" hidden>'
        f'<p><strong>{_word("gate")}</strong></p><p class="ask"></p>'
        f'<form><div class="choices"></div><label class="free">{_word("answer")} '
        f'<input type="text" autocomplete="off"></label>'
        f'<button type="submit">{_word("show")}</button></form>'
        f'<div class="answer"><p class="yours"></p><p>{_word("is")} <strong class="is"></strong>'
        f"</p></div></section>\n"
    )


def _side(number: int, side: SideHtml, has_svg: bool) -> str:
    """Return the HTML of one side. Without `has_svg`, the script draws the picture."""
    title = f"<h2>{each(side.title)}</h2>\n" if side.title else ""
    steps = "".join(f"<li>{escape(step, quote=False)}</li>\n" for step in side.steps)
    return (
        f'<section class="side">\n{title}{_picture(number, side.picture, has_svg)}'
        f'<div class="now moves"><p class="sentence"><b class="lane"></b> '
        f'<span class="told"></span></p><p class="said quiet" lang="en"></p>'
        f'<p class="meaning quiet"></p><p class="path quiet" lang="en"></p></div>\n'
        f'<div class="panels">\n{page.panel(number, _tool_label("Details"))}{_source()}{_right()}'
        f'{_list(side.picture)}<details class="steps" open><summary>{_word("steps")}</summary>\n'
        f'<ol lang="en">\n{steps}</ol></details>\n{_copy()}</div>\n</section>\n'
    )


def _picture(number: int, picture: Picture | None, has_svg: bool) -> str:
    if picture is None:
        return ""
    svg = picture.svg if has_svg else '<svg role="group"></svg>\n'
    name = f"picture-{number + 1}" if number else "picture"
    return page.side(number, svg.replace("<svg ", f'<svg id="{name}" ', 1), _both("graph"))


def _list(picture: Picture | None) -> str:
    """Return an HTML list of the boxes of a picture, or "" without a picture."""
    if picture is None:
        return ""
    items = "".join(f"<li>{escape(words, quote=False)}</li>\n" for words in picture.words.values())
    return (
        f'<details open><summary>{_word("list")}</summary><ol class="listed">\n{items}</ol>'
        f"</details>\n"
    )


def _right() -> str:
    return (
        f'<div class="moves"><h2>{_word("tables")}</h2><div class="tables" tabindex="0" '
        f'role="group" aria-label="{" / ".join(WORDS["tables"])}"></div>\n'
        f'<h2>{_word("peek")}</h2><pre class="peek" tabindex="0" role="group" '
        f'aria-label="{" / ".join(WORDS["peek"])}"></pre></div>\n'
    )


def _source() -> str:
    pieces = "".join(
        f'<div class="{which}"><h2>{_word(word)} <span class="place"></span></h2>'
        f'<pre tabindex="0" role="group" aria-label="{" / ".join(dict.fromkeys(WORDS[word]))}">'
        f"<code></code></pre></div>\n"
        for which, word in (("user", "script"), ("engine", "engine"))
    )
    none = f'<p class="no-source quiet">{_word("none")}</p>'
    return f'<div class="source moves">{pieces}{none}</div>\n'


def _copy() -> str:
    return (
        f'<div class="copying moves"><button type="button" class="copy">{_word("copy")}</button> '
        f'<span class="quiet">{_word("how")}</span><pre class="commands"></pre></div>\n'
    )


def json_lines(data: Any) -> str:
    """Return data as JSON for a `<script>`, with a line for each item of a longer list."""
    text = re.sub(r"<", r"\\u003c", _lines(data))
    return f"{text}\n"


def _lines(data: Any) -> str:
    if isinstance(data, dict):
        rows = [f"{json.dumps(name)}:{_lines(value)}" for name, value in data.items()]
        return "{" + ",\n".join(rows) + "}"
    if isinstance(data, list) and any(isinstance(item, (list, dict)) for item in data):
        return "[" + ",\n".join(_lines(item) if isinstance(item, dict) else _dense(item)
                                for item in data) + "]"  # fmt: skip
    return _dense(data)


def _dense(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
