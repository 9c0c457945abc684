"""From the Markdown of a lesson's prose to HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kerascope.lessons.numbers import FREE
from kerascope.lessons.parser import markdown

# Signs between which a line of the file ends without a space: Chinese has none.
WIDE = r"[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uff00-\uffef]"
LESSON_LINK = re.compile(r"(?:\.\./)?(?P<chapter>[\w-]+)/lesson\.\w+\.md(?:#[\w.-]*)?")


def prose_html(text: str) -> str:
    """Return the HTML of a piece of prose.

    A link to another lesson, `../05-node/lesson.en.md`, leads to its page. A table scrolls by
    itself where the window is narrow.

    Examples
    --------
    >>> prose_html("It has 4{.free} *joints*.").strip()
    '<p>It has 4 <em>joints</em>.</p>'
    """
    reader = markdown()
    _add_rules(reader)
    return str(reader.render(shown_text(text)))


def inline_html(text: str) -> str:
    """Return the HTML of a heading or a caption, without a paragraph around it."""
    return str(markdown().renderInline(shown_text(text)))


def shown_text(text: str) -> str:
    """Return Markdown as it is shown: without marks, Chinese lines joined without a space."""
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
        return '<div class="scroll" tabindex="0">' + str(plain(tokens, index, options, env))

    def table_end(tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return str(plain(tokens, index, options, env)) + "</div>\n"

    rules.rules |= {"link_open": link, "table_open": table, "table_close": table_end}
