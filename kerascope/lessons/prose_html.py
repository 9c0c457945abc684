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
# How many signs of a table fit side by side on a phone. A column of words is content with few: it
# wraps. The air beside a column counts as well.
TABLE_SIGNS, COLUMN_SIGNS, AIR = 62, 16, 3
LESSON_LINK = re.compile(r"(?:\.\./)?(?P<chapter>[\w-]+)/lesson\.\w+\.md(?:#[\w.-]*)?")


def prose_html(text: str) -> str:
    """Return the HTML of a piece of prose.

    A link to another lesson, `../05-node/lesson.en.md`, leads to its page. A table of many words
    has the class "wordy", and each of its cells knows the head of its column: where the window is
    narrow, the style sheet makes a card of each row.

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
        name = "scroll wordy" if _is_wordy(_label_cells(tokens, index)) else "scroll"
        return f'<div class="{name}" tabindex="0">' + str(plain(tokens, index, options, env))

    def table_end(tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return str(plain(tokens, index, options, env)) + "</div>\n"

    rules.rules |= {"link_open": link, "table_open": table, "table_close": table_end}


def _label_cells(tokens: Sequence[Token], begin: int) -> list[int]:
    """Give each cell of a table the head of its column; return how many signs each column needs.

    A sign of Chinese counts as two. The first cell of a row stays in one line, unless it is long.
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
    """Return whether a table would be squeezed on a phone: it has several columns of words."""
    return sum(min(need, COLUMN_SIGNS) + AIR for need in needs) > TABLE_SIGNS
