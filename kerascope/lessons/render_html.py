"""Make an HTML page for each chapter, and an index. Each page is a single file.

A page contains all languages of its chapter. Code, outputs and pictures are shared; the prose is
there in each language, and the style sheet shows only the chosen one. So switching the language
works without a reload and without JavaScript. The script only stores the choice in the page's
address.

A block whose output the reader predicts keeps it in a closed `<details>`. The prose that answers
the question (`Section.steps`) is in the element `.answer` right after the block. The style sheet
hides it as long as the block contains a closed `<details>`; so a script that opens the `<details>`,
or takes it out of the block, shows both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kerascope.lessons import tutorials_folder
from kerascope.lessons.checking import SECTION, block_complaints
from kerascope.lessons.comparison import FREE
from kerascope.lessons.lesson import (
    LANGUAGES,
    SESSIONS,
    WIDE,
    Block,
    Chapter,
    LessonError,
    Picture,
    Section,
    lines_of,
)
from kerascope.lessons.page_style import NAMES, NO_NETWORK, TAGS, html_page, script
from kerascope.lessons.parser import markdown
from kerascope.lessons.references import CODE, Reference, reference_to, references_of
from kerascope.lessons.stops import number_places
from kerascope.player.player import frame

# --- a block, with its output ---------------------------------------------------------------------


LONG = 28  # longer blocks may be split at the end of a printed page
PIXELS_PER_MILLIMETRE = 4.3  # on a page, a figure for paper is larger, so that it can be read
PREDICT = {"en": "Say what it shows, then look", "zh": "先猜结果，再看"}
LABELS = {"en": ("Code", "Output"), "zh": ("代码", "输出")}
PROMPT = re.compile(r"^(?P<prompt>\((?:Pdb|Kdb|com)\)) ?(?P<command>.*)$")


def block_html(block: Block, languages: tuple[str, ...] = LANGUAGES) -> str:
    """Return the HTML of a block and of its output.

    A session is shown as in a terminal: the command that starts it, then each command after its
    prompt. An output that the reader should predict is collapsed.
    """
    output = number_places(block.output.text) if block.output else ""
    if block.kind in SESSIONS:
        body = _session(block, output, languages)
    else:
        body = _code(highlighted(block.code, "pycon" if block.kind == "pycon" else "python"))
        if output:
            body += _foldable(block, _printed(_printed_html(block, output)), languages)
    return f'<div class="block {block.kind}" id="block.{block.id}">\n{body}</div>\n'


def _session(block: Block, output: str, languages: tuple[str, ...]) -> str:
    title = f'<div class="title"><code>$ {escape(session_command(block))}</code></div>\n'
    transcript = _printed(transcript_html(output))
    if not block.predict:
        return title + transcript
    return title + _code(escape(block.code)) + _foldable(block, transcript, languages)


def session_command(block: Block) -> str:
    """Return the shell command that starts the session of a block.

    Examples
    --------
    >>> session_command(Block("pdb", "a", ("example.py",), "", 1, (0, 0)))
    'python3 -m pdb example.py'
    """
    program = "python3 -m pdb" if block.kind == "pdb" else "kerascope debug"
    return f"{program} {' '.join(block.words)}"


def transcript_html(text: str) -> str:
    r"""Return a transcript as HTML, with prompts, commands and stops marked.

    Examples
    --------
    >>> transcript_html("(Pdb) p 1 < 2\nTrue\n")
    '<span class="prompt">(Pdb)</span> <span class="command">p 1 &lt; 2</span>\nTrue\n'
    """
    lines = []
    for line in lines_of(text):
        found = PROMPT.match(line)
        if found:
            command = escape(found["command"])
            prompt = f'<span class="prompt">{found["prompt"]}</span>'
            lines.append(f'{prompt} <span class="command">{command}</span>')
        elif line.startswith("> "):
            lines.append(f'<span class="where">{escape(line)}</span>')
        else:
            lines.append(escape(line))
    return "\n".join(lines) + "\n"


def highlighted(code: str, lexer: str) -> str:
    """Return code as HTML, highlighted by pygments."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    formatter = HtmlFormatter(nowrap=True)
    return str(highlight(code, get_lexer_by_name(lexer, stripnl=False), formatter))


def _printed_html(block: Block, output: str) -> str:
    if block.kind != "raises":
        return escape(output)
    return re.sub(
        r"(?m)^([\w.]+(?:Error|Exception)\b)", r'<span class="gr">\1</span>', escape(output)
    )


def _code(html: str) -> str:
    return _pre(html, "", 0)


def _printed(html: str) -> str:
    return _pre(html, "printed", 1)


def _pre(html: str, name: str, label: int) -> str:
    """Return a `<pre>` element that scrolls, also by keys, with a label for screen readers."""
    names = f"{name} long".strip() if html.count("\n") > LONG else name
    shown_as = f' class="{names}"' if names else ""
    said = " / ".join(LABELS[language][label] for language in LANGUAGES)
    attributes = f'{shown_as} role="group" tabindex="0" aria-label="{said}"'
    return f"<pre{attributes}><code>{html}</code></pre>\n"


def _foldable(block: Block, html: str, languages: tuple[str, ...]) -> str:
    if not block.predict:
        return html
    words = "".join(
        f'<span class="in-{one}" lang="{one}">{PREDICT[one]}</span>' for one in languages
    )
    return f"<details><summary>{words}</summary>\n{html}</details>\n"


# --- prose ----------------------------------------------------------------------------------------


# How many characters of a table fit side by side on a phone; the most that a column needs, because
# words wrap; and the padding of a column.
TABLE_SIGNS, COLUMN_SIGNS, AIR = 62, 16, 3
LESSON_LINK = re.compile(r"(?:\.\./)?(?P<chapter>[\w-]+)/lesson\.\w+\.md(?:#[\w.-]*)?")


class Codes(NamedTuple):
    """What is needed to link codes such as R38 and S4:51 in the prose of one chapter.

    Attributes
    ----------
    references : dict of str to Reference
        The explanations of all codes (`references.py`); empty for a course without appendix.
    chapter : str
        The name of the chapter's folder.
    language : str
    """

    references: dict[str, Reference]
    chapter: str
    language: str


NO_CODES = Codes({}, "", "")


def prose_html(text: str, codes: Codes = NO_CODES) -> str:
    """Return the HTML of a piece of prose.

    A link to another lesson, `../05-node/lesson.en.md`, points to its page. A table with much text
    has the class "wordy", and each cell has the heading of its column as an attribute: in a narrow
    window, the style sheet shows each row as a card. A code such as R38 or S4:51 becomes a link to
    its row in the appendix, with its explanation as the title; in the appendix, the code of a fact
    becomes a link to the table of the chapter that shows it.

    Examples
    --------
    >>> prose_html("It has 4{.free} *joints*.").strip()
    '<p>It has 4 <em>joints</em>.</p>'
    """
    reader = markdown()
    _add_rules(reader)
    return str(reader.render(shown_text(text), {"codes": codes}))


def inline_html(text: str) -> str:
    """Return the HTML of a heading or a caption, without a paragraph around it."""
    return str(markdown().renderInline(shown_text(text)))


def shown_text(text: str) -> str:
    """Return Markdown without `{.free}` marks, with Chinese lines joined without a space."""
    text = text.replace(FREE, "")
    return re.sub(rf"(?<={WIDE})\n(?={WIDE})", "", text)


def _add_rules(reader: MarkdownIt) -> None:
    rules: Any = reader.renderer
    plain = rules.renderToken

    def link(tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        found = LESSON_LINK.fullmatch(str(tokens[index].attrs.get("href", "")))
        if found:
            tokens[index].attrs["href"] = f"{found['chapter']}.html"
            tokens[index].attrs["data-page"] = f"{found['chapter']}.html"
        return str(plain(tokens, index, options, env))

    def table(tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        name = "scroll wordy" if _is_wordy(_label_cells(tokens, index)) else "scroll"
        return f'<div class="{name}" tabindex="0">' + str(plain(tokens, index, options, env))

    def words(tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        before = [token.type for token in tokens[:index]]
        if before.count("link_open") > before.count("link_close"):
            return escape(tokens[index].content)
        return with_links(tokens[index].content, env["codes"])

    def row(tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        codes = env["codes"]
        first = tokens[index + 2].content
        found = reference_to(first, codes.references)
        if found and found.appendix == codes.chapter and found.place == first:
            tokens[index].attrs["id"] = f"{codes.language}.{first}"
        return str(plain(tokens, index, options, env))

    def table_end(tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return str(plain(tokens, index, options, env)) + "</div>\n"

    rules.rules |= {"link_open": link, "table_open": table, "table_close": table_end}
    rules.rules |= {"text": words, "tr_open": row}


def with_links(text: str, codes: Codes) -> str:
    """Return a text as HTML, in which codes of the documents, such as R38, link to their rows."""

    def link(match: re.Match[str]) -> str:
        code = match[0]
        found = reference_to(code, codes.references)
        page, place = (found.appendix, found.place) if found else ("", "")
        if found and found.appendix == codes.chapter:
            page, place = found.chapter, SECTION
        if not found or not page:
            return code
        target = f"{page}.html#{codes.language}.{place}"
        return f'<a class="code" href="{escape(target)}" title="{escape(found.says)}">{code}</a>'

    return CODE.sub(link, escape(text))


def _label_cells(tokens: Sequence[Token], begin: int) -> list[int]:
    """Label each table cell with the heading of its column; return the widths of the columns.

    A Chinese character counts as two. The first cell of a row is not wrapped, unless it is long.
    """
    heads: list[str] = []
    needs: list[int] = []
    column = 0
    for index in range(begin, len(tokens)):
        token = tokens[index]
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            column = 0
        if token.type not in ("th_open", "td_open"):
            continue
        text = "".join(child.content for child in tokens[index + 1].children or [])
        if token.type == "th_open":
            heads.append(text)
            needs.append(0)
        else:
            token.attrs["data-head"] = heads[column]
            if column == 0 and len(text) > COLUMN_SIGNS:
                token.attrs["class"] = "long"
        needs[column] = max(needs[column], len(text) + len(re.findall(WIDE, text)))
        column += 1
    return needs


def _is_wordy(needs: list[int]) -> bool:
    """Return whether a table is too wide for a phone because of several columns of text."""
    return sum(min(need, COLUMN_SIGNS) + AIR for need in needs) > TABLE_SIGNS


# --- pages ----------------------------------------------------------------------------------------


T = TypeVar("T")  # a chapter, or its folder
COURSE = {"en": "Keras from inside", "zh": "由内而观 Keras"}
WORDS = {
    "en": {"skip": "Skip to the text", "contents": "Contents", "course": "All chapters"},
    "zh": {"skip": "跳到正文", "contents": "目录", "course": "全部章节"},
}


def course_title(tutorials: Path) -> dict[str, str]:
    """Return the title of a course in each language; for a teacher's own course, its folder's name.

    Parameters
    ----------
    tutorials : Path
        The folder that contains the chapters.
    """
    folder = tutorials.resolve()
    is_ours = folder == tutorials_folder().resolve()
    return COURSE if is_ours else dict.fromkeys(COURSE, folder.name)


def page_name(chapter: Chapter) -> str:
    """Return the name of a chapter's page: `07-dense.html`."""
    return f"{chapter.name}.html"


@dataclass(frozen=True)
class Extras:
    """What a page on a server or a site has in addition to a page that is opened as a file.

    Attributes
    ----------
    policy : str
        The content security policy in the page; "" if the server sends one.
    head : str
        HTML for the end of the page's head: style sheets and scripts.
    bar : str
        HTML for the navigation at the top: links to the other pages of the site.
    end : str
        HTML for the end of a chapter.
    """

    policy: str = NO_NETWORK
    head: str = ""
    bar: str = ""
    end: str = ""


NO_EXTRAS = Extras()


def with_neighbours(items: Sequence[T]) -> list[tuple[T | None, T, T | None]]:
    """Return each item between the one before it and the one after it; None at the ends.

    Examples
    --------
    >>> with_neighbours(["a", "b", "c"])
    [(None, 'a', 'b'), ('a', 'b', 'c'), ('b', 'c', None)]
    """
    padded = [None, *items, None]
    return list(zip(padded, items, padded[2:], strict=False))


def chapter_page(
    chapter: Chapter, before: Chapter | None, after: Chapter | None, extras: Extras = NO_EXTRAS
) -> str:
    """Return the page of a chapter, with links to the previous and the next one.

    Raises
    ------
    LessonError
        The blocks of the chapter's languages differ, so the languages cannot share a page. Or the
        file of a picture or player is missing.
    """
    wrong = [one for one in block_complaints(chapter) if len(chapter.lessons) > 1]
    if wrong:
        raise LessonError(wrong[0])
    languages = tuple(chapter.lessons)
    titles = {name: lesson.title for name, lesson in chapter.lessons.items()}
    groups = zip(*(one.sections for one in chapter.lessons.values()), strict=True)
    body = "".join(_section(group, languages, chapter) for group in groups)
    main = f'<main id="text" tabindex="-1">\n{body}{_exercises(chapter)}{extras.end}'
    main += f"{_beside(before, after, languages)}</main>\n"
    body = f'<div class="page with-contents">\n{_contents(chapter, languages)}{main}</div>\n'
    return _page(course_title(chapter.folder.parent), titles, body, languages, extras)


def index_page(chapters: Sequence[Chapter], extras: Extras = NO_EXTRAS) -> str:
    """Return the index page: the chapters, with what each is about and how long it takes."""
    languages = tuple(dict.fromkeys(name for one in chapters for name in one.lessons))
    rows = []
    for chapter in chapters:
        titles = _each({name: inline_html(one.title) for name, one in chapter.lessons.items()})
        page = page_name(chapter)
        number = f'<span class="number">{chapter.number}</span>'
        rows.append(
            f'<li><a href="{page}" data-page="{page}">{number}<span>{titles}</span></a>'
            f"{_introduction(chapter, has_for_whom=False)}</li>"
        )
    course = course_title(chapters[0].folder.parent)
    heading = _each({name: escape(course[name]) for name in languages})
    body = f'<h1>{heading}</h1>\n<ol class="chapters">\n{chr(10).join(rows)}\n</ol>\n'
    main = f'<div class="page"><main id="text" tabindex="-1">\n{body}</main></div>\n'
    return _page(course, {name: course[name] for name in languages}, main, languages, extras)


def _page(
    course: dict[str, str],
    titles: dict[str, str],
    body: str,
    languages: tuple[str, ...],
    extras: Extras,
) -> str:
    first = languages[0]
    skip = _each({name: WORDS[name]["skip"] for name in languages})
    start = _each({name: escape(course[name]) for name in languages})
    known = json.dumps(titles, ensure_ascii=False).replace("<", "\\u003c")
    links = f'<a href="index.html" data-page="index.html">{start}</a>{extras.bar}'
    whole = f"""\
<a class="skip" href="#text">{skip}</a>
<header class="bar">
<nav aria-label="{escape(course[first])}">{links}</nav>
{_switch(languages)}</header>
{body}<script type="application/json" id="titles">{known}</script>
<script>
{script()}</script>
"""
    return html_page(first, titles[first], whole, extras.head, extras.policy)


def _switch(languages: tuple[str, ...]) -> str:
    """Return the radio buttons that choose the language; they work without a script."""
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
    """Return an HTML element for each language; the style sheet shows only the chosen one."""
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
    """Return the HTML line about a chapter's exercises; "" for a chapter without exercises."""
    lines = {name: chapter.exercises_line(name) for name in chapter.lessons}
    if not all(words for words, _ in lines.values()):
        return ""
    texts = {name: f"{words} <code>{command}</code>" for name, (words, command) in lines.items()}
    return f'<p id="exercises">{_each(texts)}</p>\n'


def _introduction(chapter: Chapter, has_for_whom: bool) -> str:
    """Return the introduction of a chapter in each language; "" without a `chapter.toml`."""
    texts = {name: chapter.introduction_text(name, has_for_whom) for name in chapter.lessons}
    html = _prose(texts, chapter)
    return f'<div class="introduction">\n{html}</div>\n' if html else ""


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
    """Return the HTML of one section in all languages."""
    pieces = []
    for name, section in zip(languages, group, strict=True):
        tag = f"h{section.level}"
        pieces.append(
            f'<{tag} id="{name}.{section.id}" data-section="{section.id}" class="in-{name}" '
            f'lang="{TAGS[name]}">{inline_html(section.title)}</{tag}>\n'
        )
    if group[0].level == 1:
        pieces.append(_introduction(chapter, has_for_whom=True))
    for steps in zip(*(section.steps for section in group), strict=True):
        named = dict(zip(languages, steps, strict=True))
        pieces.append(_prose({name: step.before for name, step in named.items()}, chapter))
        pieces.append(_shared([step.part for step in steps], languages, chapter))
        answer = _prose({name: step.answer for name, step in named.items()}, chapter)
        pieces.append(f'<div class="answer">\n{answer}</div>\n' if answer else "")
    return "".join(pieces)


def _prose(texts: dict[str, str], chapter: Chapter) -> str:
    """Return the HTML of a piece of prose in each language; "" without any text."""
    tutorials = chapter.folder.parent
    codes = {name: Codes(references_of(tutorials, name), chapter.name, name) for name in texts}
    return _each(
        {name: prose_html(text, codes[name]) for name, text in texts.items() if text}, "div"
    )


def _shared(
    parts: Sequence[Block | Picture | None], languages: tuple[str, ...], chapter: Chapter
) -> str:
    """Return the HTML of a block, or of a picture with a caption in each language."""
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
            f"{chapter.name}: picture {picture.path!r} is missing or not an SVG file. "
            f"Run `kerascope lessons build --accept {chapter.name}`."
        )
    svg = path.read_text(encoding="utf-8")
    svg = svg[svg.index("<svg") :].replace("@media (prefers", "@media screen and (prefers")
    drawn = f'<div class="picture" style="--drawn: {_width(svg):g}px" tabindex="0">{svg}</div>'
    return f"<figure>{drawn}{caption}</figure>\n"


def _player(picture: Picture, chapter: Chapter) -> str:
    """Return a player in an HTML frame. The player uses the language of the page."""
    path = chapter.folder / picture.path
    if not path.is_file():
        raise LessonError(
            f"{chapter.name}: player {picture.path!r} is missing. "
            f"Run `kerascope lessons build --accept {chapter.name}`."
        )
    titles = [
        other.alt
        for lesson in chapter.lessons.values()
        for other in lesson.pictures
        if other.path == picture.path
    ]
    page = number_places(path.read_text(encoding="utf-8"))
    return frame(page, " / ".join(dict.fromkeys(titles)))


def _width(svg: str) -> float:
    """Return the width of an SVG in pixels, as its page shows it; 0 if it declares none."""
    text = svg.partition(' width="')[2].partition('"')[0]
    scale = PIXELS_PER_MILLIMETRE if text.endswith("mm") else 1.0
    return float(text.rstrip("ptxm") or 0) * scale
