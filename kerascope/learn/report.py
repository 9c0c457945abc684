"""`kerascope learn report`: one page that shows what a student has done.

The page is a single file. It has the pictures of the student's own engine and of its training
(`proof.py`), and the exercises that passed in each chapter. It fits on two sheets of paper.
"""

from __future__ import annotations

import tokenize
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from kerascope.learn.engine import Part, parts_of
from kerascope.learn.exercises import Workbook
from kerascope.learn.pages import progress_line
from kerascope.learn.verdicts import Text
from kerascope.lessons import shown_number
from kerascope.lessons.page_style import html_page
from kerascope.lessons.parser import read_lesson
from kerascope.lessons.render_html import course_title, prose_html

SMALL, SHOWN = 1e-6, "1e\u20116"  # the largest difference of losses that counts as agreement
STYLE = """
.page { max-width: 60rem; }
.in-a-row { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: center; }
.in-a-row figure { flex: 1 1 18rem; }
@media print {
  h1 { margin-top: 0; }
  h2 { margin-top: 1em; }
  p, table, figure { margin-bottom: 6pt; }
  td, th { padding: 1pt 6pt; }
}
"""


def report_page(
    workbook: Workbook,
    tutorials: Path,
    language: str,
    proof: dict[str, Any],
    name: str = "",
    date: str = "",
) -> str:
    """Return the report as an HTML page.

    Parameters
    ----------
    workbook : Workbook
    tutorials : Path
        The folder of the course.
    language : str
        "en" or "zh".
    proof : dict
        What `run_engine` returned; empty if no part of the engine is the student's.
    name, date : str
        The name of the student, and the date of the report. Without them, the page has none.
    """
    parts = parts_of(workbook)
    title = course_title(tutorials)[language] + Text(": report", "：学习报告").within(language)
    passed = progress_line(workbook)
    heading = Text("Exercises passed in each chapter", "各章通过的练习").within(language)
    pieces = [f"<h1>{escape(title)}</h1>"]
    pieces += [f"<p>{escape(line)}</p>" for line in (name, date, passed.within(language)) if line]
    if parts:
        pieces += [f"<h2>{Text('My own engine', '我自己的引擎').within(language)}</h2>"]
        pieces += [_engine(parts, proof.get("picture", ""), language)]
        pieces += [_proof(proof, parts, language)]
    pieces += [f"<h2>{heading}</h2>", prose_html(_chapters(workbook, language))]
    body = "\n".join(pieces)
    main = f'<main class="page report">\n{body}\n</main>\n'
    return html_page(language, title, main, head=f"<style>{STYLE}</style>\n")


# --- the engine -----------------------------------------------------------------------------------


def _engine(parts: dict[str, Part], picture: str, language: str) -> str:
    """Return a sentence about the parts of the engine, their table, and the picture of a model."""
    own = [part for part in parts.values() if part.is_own]
    lines = sum(code_lines(part.path) for part in own)
    count = Text(
        f"{len(own)} of {len(parts)} parts are my own, {lines} lines of code.",
        f"{len(parts)} 个部分中有 {len(own)} 个是我自己写的，共 {lines} 行代码。",
    )
    others = Text(" The others are kerascope's solutions.", "其余部分用的是参考答案。")
    text = count.within(language) + (others.within(language) if 0 < len(own) < len(parts) else "")
    heads = Text("part|chapter|written by|lines", "部分|章|作者|行数").within(language)
    table = f"|{heads}|\n|---|---|---|---|\n"
    for part in parts.values():
        whose = Text("me", "我") if part.is_own else Text("kerascope", "kerascope")
        chapter = shown_number(part.exercise.folder.name)
        cells = [f"`{part.exercise.part}`", chapter, whose.within(language)]
        table += f"|{'|'.join(cells)}|{code_lines(part.path)}|\n"
    drawn = Text("A model of this engine, drawn by kerascope", "这个引擎的模型，由 kerascope 画出")
    figure = _figure(picture, drawn.within(language)) if picture else ""
    return f'<p>{text}</p>\n<div class="in-a-row">{prose_html(table)}{figure}</div>'


def code_lines(path: Path) -> int:
    """Return the number of lines of a Python file without blank lines, comments and docstrings."""
    counted = (tokenize.NAME, tokenize.OP, tokenize.NUMBER)
    with open(path, "rb") as file:
        return len({t.start[0] for t in tokenize.tokenize(file.readline) if t.type in counted})


def _proof(proof: dict[str, Any], parts: dict[str, Part], language: str) -> str:
    """Return the learning curves of the engine, and how closely it agrees with kerascope."""
    if not proof:
        first = next(iter(parts.values())).exercise
        text = Text(
            "No part is my own yet, so no engine was run. The first part: "
            f"<code>kerascope learn {first.name}</code>",
            "还没有一个部分是我自己写的，所以没有运行引擎。第一个部分："
            f"<code>kerascope learn {first.name}</code>",
        )
        return f'<p class="none">{text.within(language)}</p>'
    if "error" in proof:
        text = Text("The engine did not run to its end:", "引擎没有运行到底：")
        return f"<p>{text.within(language)} <code>{escape(proof['error'])}</code></p>"
    right, losses, difference = proof["right"], proof["losses"], proof["difference"]
    is_equal = difference <= SMALL
    agrees = Text(
        f"Ten steps from the same weights: the losses of this engine and of kerascope differ by at "
        f"most {difference:.1g}. They {'agree' if is_equal else 'do not agree'} "
        f"(required: {SHOWN}).",
        f"从同样的权重出发走十步：这个引擎与 kerascope 的损失最多相差 {difference:.1g}，"
        f"{'两者一致' if is_equal else '两者不一致'}（要求不超过 {SHOWN}）。",
    )
    trained = Text(
        f"Trained with this engine: {len(losses)} epochs on 1,437 handwritten digits. The loss "
        f"fell from {losses[0]:.3f} to {losses[-1]:.3f}; {right[-1]:.1%} of the 360 test digits "
        f"are right.",
        f"用这个引擎训练：1437 个手写数字，{len(losses)} 轮。损失从 {losses[0]:.3f} 降到 "
        f"{losses[-1]:.3f}；360 个测试数字中 {right[-1]:.1%} 判断正确。",
    )
    # Another class than the picture of the model, whose style would make the titles smaller.
    curves = "".join(_figure(svg.replace("kerascope", "curves")) for svg in proof["curves"])
    texts = "".join(f"<p>{text.within(language)}</p>\n" for text in (trained, agrees))
    return f'{texts}<div class="in-a-row">{curves}</div>'


def _figure(svg: str, caption: str = "") -> str:
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f'<figure><div class="picture">{svg}</div>{below}</figure>'


# --- the chapters ---------------------------------------------------------------------------------


def _chapters(workbook: Workbook, language: str) -> str:
    """Return a table in Markdown: the chapters, and how many exercises of each have passed."""
    heads = Text("chapter|title|passed", "章|标题|通过").within(language)
    table = f"|{heads}|\n|---|---|---|\n"
    for folder, exercises in groupby(workbook.exercises, key=lambda exercise: exercise.folder):
        own = list(exercises)
        path = folder / f"lesson.{language}.md"
        title = read_lesson(path).title if path.is_file() else f"`{folder.name}`"
        passed = sum(map(workbook.is_passed, own))
        mark = "✓ " if passed == len(own) else ""
        table += f"|{shown_number(folder.name)}|{title}|{mark}{passed}/{len(own)}|\n"
    return table
