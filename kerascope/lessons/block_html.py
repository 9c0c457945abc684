"""From a block, with its output, to HTML."""

from __future__ import annotations

import re
from html import escape

from kerascope.lessons.blocks import LANGUAGES, SESSIONS, Block
from kerascope.lessons.lines import lines_of
from kerascope.lessons.stops import numbered

LONG = 40  # lines from which a block may be cut by the end of a printed page
PREDICT = {"en": "Say what it shows, then look", "zh": "先猜结果，再看"}
LABELS = {"en": ("Code", "Output"), "zh": ("代码", "输出")}
PROMPT = re.compile(r"^(?P<prompt>\((?:Pdb|Kdb|com)\)) ?(?P<command>.*)$")


def block_html(block: Block, languages: tuple[str, ...] = LANGUAGES) -> str:
    """Return a block and its output.

    A session is shown as it looks in a terminal, commands behind their prompts, under the command
    that begins it. What the reader should predict is folded away.
    """
    output = numbered(block.output.text) if block.output else ""
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
    """Return what a person types to begin the session of a block.

    Examples
    --------
    >>> session_command(Block("pdb", "a", ("example.py",), "", 1, (0, 0)))
    'python3 -m pdb example.py'
    """
    program = "python3 -m pdb" if block.kind == "pdb" else "kerascope debug"
    return f"{program} {' '.join(block.words)}"


def transcript_html(text: str) -> str:
    r"""Return a transcript with its prompts, its commands and the places of its stops marked.

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
    """Return code as HTML with the classes of pygments."""
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
    """Return a piece that scrolls by itself, also by keys, and says what it is."""
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
