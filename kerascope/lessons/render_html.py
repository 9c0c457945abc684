"""One page for each chapter, and an index: each a single file that asks for nothing else.

A page holds all languages of its chapter. What they share, code, outputs and pictures, stands there
once; their prose stands between it side by side, and the style sheet shows the one that is chosen.
So the switch works without a reload, and without the script; the script only writes the choice into
the page's address.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape

from kerascope.lessons.block_html import block_html
from kerascope.lessons.blocks import Block, Chapter, LessonError, Part, Picture, Prose, Section
from kerascope.lessons.page_style import NAMES, NO_NETWORK, TAGS, script, style_sheet
from kerascope.lessons.player.embedding import frame
from kerascope.lessons.prose_html import inline_html, prose_html
from kerascope.lessons.stops import numbered
from kerascope.lessons.twins import block_complaints

COURSE = {"en": "Keras from inside", "zh": "由内而观 Keras"}
WORDS = {
    "en": {"skip": "Skip to the text", "contents": "Contents", "course": "All chapters"},
    "zh": {"skip": "跳到正文", "contents": "目录", "course": "全部章节"},
}


def page_name(chapter: Chapter) -> str:
    """Return the name of a chapter's page: `07-dense.html`."""
    return f"{chapter.name}.html"


def chapter_page(chapter: Chapter, before: Chapter | None, after: Chapter | None) -> str:
    """Return the page of a chapter, with links to those beside it.

    Raises
    ------
    LessonError
        Its languages hold other blocks, so they cannot share a page.
    """
    wrong = [one for one in block_complaints(chapter) if len(chapter.lessons) > 1]
    if wrong:
        raise LessonError(wrong[0])
    languages = tuple(chapter.lessons)
    titles = {name: lesson.title for name, lesson in chapter.lessons.items()}
    body = "".join(
        _section(group, languages, chapter)
        for group in zip(*(one.sections for one in chapter.lessons.values()), strict=True)
    )
    main = f'<main id="text" tabindex="-1">\n{body}{_exercises(chapter)}'
    main += f"{_beside(before, after, languages)}</main>\n"
    contents = _contents(chapter, languages)
    return _page(titles, f'<div class="page with-contents">\n{contents}{main}</div>\n', languages)


def index_page(chapters: Sequence[Chapter]) -> str:
    """Return the page that lists the chapters."""
    languages = tuple(dict.fromkeys(name for one in chapters for name in one.lessons))
    rows = []
    for chapter in chapters:
        titles = _each({name: inline_html(one.title) for name, one in chapter.lessons.items()})
        page = page_name(chapter)
        number = f'<span class="number">{chapter.number}</span>'
        rows.append(
            f'<li><a href="{page}" data-page="{page}">{number}<span>{titles}</span></a></li>'
        )
    heading = _each({name: COURSE[name] for name in languages})
    body = f'<h1>{heading}</h1>\n<ol class="chapters">\n{chr(10).join(rows)}\n</ol>\n'
    main = f'<div class="page"><main id="text" tabindex="-1">\n{body}</main></div>\n'
    return _page({name: COURSE[name] for name in languages}, main, languages)


def _page(titles: dict[str, str], body: str, languages: tuple[str, ...]) -> str:
    first = languages[0]
    skip = _each({name: WORDS[name]["skip"] for name in languages})
    course = _each({name: COURSE[name] for name in languages})
    known = json.dumps(titles, ensure_ascii=False).replace("<", "\\u003c")
    return f"""<!DOCTYPE html>
<html lang="{TAGS[first]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{NO_NETWORK}">
<title>{escape(titles[first])}</title>
<style>
{style_sheet()}</style>
</head>
<body>
<a class="skip" href="#text">{skip}</a>
<header class="bar">
<nav aria-label="{COURSE[first]}"><a href="index.html" data-page="index.html">{course}</a></nav>
{_switch(languages)}</header>
{body}<script type="application/json" id="titles">{known}</script>
<script>
{script()}</script>
</body>
</html>
"""


def _switch(languages: tuple[str, ...]) -> str:
    """Return the choice of the language: radio buttons, which need no script."""
    rows = []
    for name in languages:
        checked = " checked" if name == languages[0] else ""
        rows.append(
            f'<label lang="{TAGS[name]}"><input type="radio" name="language" value="{name}" '
            f'id="language-{name}"{checked} autocomplete="off">{NAMES[name]}</label>'
        )
    legend = '<legend class="unseen">Language / 语言</legend>'
    return f'<fieldset class="switch">{legend}{"".join(rows)}</fieldset>\n'


def _each(texts: dict[str, str], tag: str = "span") -> str:
    """Return a text in each language, of which one is shown."""
    return "".join(
        f'<{tag} class="in-{name}" lang="{TAGS[name]}">{text}</{tag}>'
        for name, text in texts.items()
    )


def _contents(chapter: Chapter, languages: tuple[str, ...]) -> str:
    lists = []
    for name, lesson in chapter.lessons.items():
        rows = "".join(
            f'<li><a href="#{name}.{section.id}">{inline_html(section.title)}</a></li>'
            for section in lesson.sections
            if section.level == 2
        )
        lists.append(f'<ol class="in-{name}" lang="{TAGS[name]}">{rows}</ol>\n')
    words = _each({name: WORDS[name]["contents"] for name in languages})
    label = WORDS[languages[0]]["contents"]
    return (
        f'<nav class="contents" aria-label="{label}"><details><summary>{words}</summary>\n'
        f"{''.join(lists)}</details></nav>\n"
    )


def _exercises(chapter: Chapter) -> str:
    """Return a line about the chapter's exercises, nothing if it has none."""
    lines = {name: chapter.exercises_line(name) for name in chapter.lessons}
    if not all(words for words, _ in lines.values()):
        return ""
    texts = {name: f"{words} <code>{command}</code>" for name, (words, command) in lines.items()}
    return f"<p>{_each(texts)}</p>\n"


def _beside(before: Chapter | None, after: Chapter | None, languages: tuple[str, ...]) -> str:
    links = []
    for chapter, arrow in ((before, "← {}"), (after, "{} →")):
        if chapter is not None:
            titles = {
                name: arrow.format(inline_html(lesson.title))
                for name, lesson in chapter.lessons.items()
            }
            page = page_name(chapter)
            links.append(f'<a href="{page}" data-page="{page}">{_each(titles)}</a>')
    label = WORDS[languages[0]]["course"]
    return f'<nav class="beside" aria-label="{label}">{"".join(links)}</nav>\n' if links else ""


def _section(group: tuple[Section, ...], languages: tuple[str, ...], chapter: Chapter) -> str:
    """Return one section in all languages."""
    pieces = []
    for name, section in zip(languages, group, strict=True):
        tag = f"h{section.level}"
        pieces.append(
            f'<{tag} id="{name}.{section.id}" data-section="{section.id}" class="in-{name}" '
            f'lang="{TAGS[name]}">{inline_html(section.title)}</{tag}>\n'
        )
    rows = [list(_slots(section.parts)) for section in group]
    for slots in zip(*rows, strict=True):
        for name, (prose, _) in zip(languages, slots, strict=True):
            if prose:
                html = "".join(prose_html(one.text) for one in prose)
                pieces.append(f'<div class="in-{name}" lang="{TAGS[name]}">\n{html}</div>\n')
        pieces.append(_shared([part for _, part in slots], languages, chapter))
    return "".join(pieces)


def _slots(parts: tuple[Part, ...]) -> Iterator[tuple[list[Prose], Block | Picture | None]]:
    """Yield each block or picture with the prose before it, and at last the prose that remains."""
    prose: list[Prose] = []
    for part in parts:
        if isinstance(part, Prose):
            prose.append(part)
        else:
            yield prose, part
            prose = []
    yield prose, None


def _shared(
    parts: Sequence[Block | Picture | None], languages: tuple[str, ...], chapter: Chapter
) -> str:
    """Return what all languages share: a block, or a picture with a caption in each."""
    first = parts[0]
    if first is None:
        return ""
    if isinstance(first, Block):
        return block_html(first, languages)
    pictures = [part for part in parts if isinstance(part, Picture)]
    captions = dict(zip(languages, (inline_html(one.alt) for one in pictures), strict=True))
    return _figure(first, captions, chapter)


def _figure(picture: Picture, captions: dict[str, str], chapter: Chapter) -> str:
    path = chapter.folder / picture.path
    caption = f"<figcaption>{_each(captions)}</figcaption>"
    if picture.is_player:
        return f"<figure>{_player(picture, chapter)}{caption}</figure>\n"
    if path.suffix != ".svg" or not path.is_file():
        raise LessonError(
            f"{chapter.name}: picture {picture.path!r}; expected an SVG file that is there. "
            f"Run `kerascope lessons build --accept {chapter.name}`."
        )
    svg = path.read_text(encoding="utf-8")
    svg = svg[svg.index("<svg") :].replace("@media (prefers", "@media screen and (prefers")
    drawn = f'<div class="picture" style="--drawn: {_width(svg):g}px" tabindex="0">{svg}</div>'
    return f"<figure>{drawn}{caption}</figure>\n"


def _player(picture: Picture, chapter: Chapter) -> str:
    """Return a player in a frame; it speaks the language of the page."""
    path = chapter.folder / picture.path
    if not path.is_file():
        raise LessonError(
            f"{chapter.name}: player {picture.path!r} is not there. "
            f"Run `kerascope lessons build --accept {chapter.name}`."
        )
    titles = [
        other.alt
        for lesson in chapter.lessons.values()
        for other in lesson.pictures
        if other.path == picture.path
    ]
    page = numbered(path.read_text(encoding="utf-8"))
    return frame(page, " / ".join(dict.fromkeys(titles)))


def _width(svg: str) -> float:
    """Return how wide a picture is drawn; the style sheet lets it shrink a little, no more."""
    text = svg.partition(' width="')[2].partition('"')[0]
    return float(text.rstrip("ptx") or 0)
