"""The texts that `kerascope learn` prints, in both languages. The functions return them."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.table import Table

from kerascope.learn.exercises import Exercise, Workbook, when_solutions_are_shown
from kerascope.learn.verdicts import NOTHING, Outcome, Text, Verdict, counts
from kerascope.lessons import appendix_number, shown_number
from kerascope.lessons.lesson import BREAK, BREAKS, lines_of

LINES_SHOWN = 20
LONGEST_LINE = 120
WIDEST_TABLE = 1000  # columns: in a pipe, no title is wrapped
LINE = 96  # columns of a line in tasks and hints: the next word would make it longer
# The beginning of a line that is never joined to the one before: code, output, an item of a list.
OWN_LINE = re.compile(r" {4}| *(?:[-|]|\d+\.|`\w+\(.*?\)`[:：])")
ALL_DONE = Text(en="You have passed every exercise of the course.", zh="你已通过本课程的全部练习。")


def welcome(folder: Path, number: int) -> Text:
    """Return the message that `number` exercises were copied into the student's folder."""
    were = "exercise was" if number == 1 else "exercises were"
    return Text(
        en=f"{number} {were} copied to {folder}; write your answers there.",
        zh=f"已将 {number} 个练习复制到 {folder}，请在那里作答。",
    )


ELSEWHERE = Text(
    en="(if you have begun in another folder, go there, or name it with --folder DIR)",
    zh="（如果你已在别的文件夹里开始，请到那里去，或用 --folder DIR 指定）",
)


def first_chapter(number: str, at: str = "") -> Text:
    """Return the message that names the first chapter of the course, and the command to read it.

    `at` is appended to the command.
    """
    return Text(
        en=f"(the course begins with chapter {number}: kerascope learn read {number}{at})",
        zh=f"（课程从第 {number} 章开始：kerascope learn read {number}{at}）",
    )


def progress_line(workbook: Workbook) -> Text:
    """Return the line with the number of passed exercises and the number of all exercises."""
    passed, number = sum(map(workbook.is_passed, workbook.exercises)), len(workbook.exercises)
    return Text(f"{passed} of {number} exercises passed", f"已通过 {passed} / {number} 个练习")


def exercise_page(exercise: Exercise, path: Path, more: str = "", at: str = "") -> Text:
    """Return the task of an exercise, the file to write in, and the commands.

    `more` is appended to commands that take an exercise, `at` to the others.
    """
    numbers = _numbers(exercise)
    chapter = shown_number(exercise.folder.name)
    en = f"""\
{f"{exercise.id}  {numbers.en}".rstrip()}
{exercise.task.en}

write in      {path}
check it      kerascope learn check{more}
stuck?        kerascope learn hint{more}
the chapter   kerascope learn read {chapter}{at}"""
    zh = f"""\
{f"{exercise.id}   {numbers.zh}".rstrip()}
{exercise.task.zh}

作答文件   {path}
检查       kerascope learn check{more}
提示       kerascope learn hint{more}
本章课文   kerascope learn read {chapter}{at}"""
    appendix = appendix_number(exercise.folder.parent) if exercise.facts else ""
    if appendix:
        first = exercise.facts[0]
        label = Text(f"{first}, ...", f"{first} 等") if exercise.facts[1:] else Text(first, first)
        en += f"\n{label.en:<14}what the documents say: kerascope learn read {appendix}{at}"
        zh += f"\n{set_cell_size(label.zh, 11)}文档里的说法：kerascope learn read {appendix}{at}"
    return Text(en, zh)


def what_next(exercise: Exercise, at: str = "") -> Text:
    """Return the line about the next exercise and its command, to which `at` is appended."""
    title = exercise.title
    return Text(
        f"next: {exercise.id}  {title.en}  (kerascope learn{at})",
        f"下一个：{exercise.id}  {title.zh}（kerascope learn{at}）",
    )


def compare(exercise: Exercise, at: str = "") -> Text:
    """Return the line with the command for the reference solution, printed after a PASS."""
    return Text(
        f"compare: kerascope learn solution {exercise.name}{at}",
        f"对照参考答案：kerascope learn solution {exercise.name}{at}",
    )


def no_solution_yet(exercise: Exercise, path: Path, at: str = "") -> Text:
    """Return the reason why a solution is not shown, and the command that leads further.

    `path` is the student's file. `at` is appended to the command.
    """
    if when_solutions_are_shown(exercise.folder.parent) == "never":
        command = f"kerascope learn hint {exercise.name}{at}"
        return Text(
            f"Your teacher has not released the solutions yet; {command} shows a hint.",
            f"老师还没有公布参考答案；{command} 可以查看提示。",
        )
    command = f"kerascope learn check {exercise.name}{at}"
    return Text(
        f"The solution is shown after an attempt of your own: write your answer in {path}, and "
        f"check it with {command}.",
        f"请先自己试一试：在 {path} 里作答，用 {command} 检查之后，就可以查看参考答案。",
    )


def nothing_called(name: str) -> Text:
    """Return the advice for a student's file that only defines functions, and so prints nothing."""
    return Text(
        f"nothing was printed: the file defines {name} and does not call it.\n"
        "Call it at the end of the file and print the result. The check is not affected.",
        f"没有输出：文件只定义了 {name}，没有调用它。\n"
        "可在文件末尾调用它并用 print 输出结果，不影响检查。",
    )


def being_checked(exercise: Exercise, path: Path) -> Text:
    """Return the line that is printed before the student's file is checked."""
    return Text(f"checking {exercise.id}: {path}", f"正在检查 {exercise.id}：{path}")


def outcome_page(exercise: Exercise, outcome: Outcome, path: Path) -> Text:
    """Return the report of a check: the output of the student's file, verdict and message."""
    return Text(*(_outcome(exercise, outcome, path, language) for language in ("en", "zh")))


def _outcome(exercise: Exercise, outcome: Outcome, path: Path, language: str) -> str:
    lines = []
    if outcome.printed.strip():
        head = Text("your file printed:", "你的文件输出：")
        lines += [f"  {head.within(language)}", *_quoted(outcome.printed)]
    if outcome.details:
        lines += _quoted(outcome.details.replace(str(path), path.name))
    verdict, message = outcome.verdict.text.within(language), outcome.message.within(language)
    lines.append(f"{verdict}  {message}".rstrip())
    if outcome.verdict is Verdict.PASS:
        met = Text(f"({outcome.checks} requirements met)", f"（满足 {outcome.checks} 项要求）")
        lines[-1] += f"  {met.within(language)}"
        lines.append(seen(exercise).within(language))
    return "\n".join(lines)


def _quoted(text: str) -> list[str]:
    lines = lines_of(text.rstrip())
    shown = [_cut(line) for line in lines[:LINES_SHOWN]]
    more = len(lines) - len(shown)
    return [f"  | {line}" for line in shown] + ([f"  | ... (+{more})"] if more else [])


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}..."


def seen(exercise: Exercise) -> Text:
    """Return the sentence that a student reads after a PASS, with numbers of facts as in (R38)."""
    numbers = _numbers(exercise)
    return Text(f"{exercise.seen.en}{numbers.en}", f"{exercise.seen.zh}{numbers.zh}")


def _numbers(exercise: Exercise) -> Text:
    """Return the numbers of the exercise's facts in brackets; "" without facts."""
    numbers = ", ".join(exercise.facts)
    return Text(f" ({numbers})", f"（{numbers}）") if numbers else NOTHING


def counted(outcomes: Sequence[Outcome]) -> Text:
    """Return a line about a check of several exercises: how many got each verdict."""
    both = []
    for language in ("en", "zh"):
        words = [f"{n} {v.text.within(language)}" for v, n in counts(outcomes).items()]
        both.append((", " if language == "en" else "，").join(words))
    return Text(*both)


def hint_page(exercise: Exercise, number: int, at: str = "") -> Text:
    """Return the text of hint `number`, counted from 1.

    The last hint also names the command for the solution, to which `at` is appended.
    """
    of = len(exercise.hints)
    hint = exercise.hints[number - 1]
    last = Text("", "")
    if number == of:
        command = f"kerascope learn solution {exercise.name}{at}"
        last = Text(
            f"\n(that was the last one; {command} shows a solution after your own attempt)",
            f"\n（这是最后一条提示；自己试过之后，{command} 可以查看参考答案）",
        )
    return Text(
        f"{exercise.id}, hint {number} of {of}:\n{hint.en}{last.en}",
        f"{exercise.id}，提示 {number} / {of}：\n{hint.zh}{last.zh}",
    )


def table(workbook: Workbook, exercises: Sequence[Exercise], width: int = WIDEST_TABLE) -> Text:
    """Return a table with a row for each exercise: its verdict, id and title.

    A title that does not fit into the width continues below its own column.
    """
    return Text(*("\n".join(_rows(workbook, exercises, one, width)) for one in ("en", "zh")))


def _rows(
    workbook: Workbook, exercises: Sequence[Exercise], language: str, width: int
) -> list[str]:
    following = workbook.next_exercise()
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(min_width=9)
    grid.add_column(no_wrap=True)
    for exercise in exercises:
        verdict = Verdict(workbook.progress(exercise).verdict)
        words = "" if verdict is Verdict.NOT_ATTEMPTED else verdict.text.within(language)
        arrow = ">" if exercise == following else " "
        mark = f"{arrow} {words}{'*' if workbook.is_changed(exercise) else ''}"
        title = BREAKS.sub(BREAK, exercise.title.within(language))
        grid.add_row(mark, f"{exercise.id} ", title)
    rows = wrapped(grid, width)
    rows.append(progress_line(workbook).within(language))
    if any(workbook.is_changed(e) for e in exercises):
        changed = Text("* changed since it was checked", "* 检查之后又有改动")
        rows.append(changed.within(language))
    return rows


def wrapped(content: RenderableType, width: int) -> list[str]:
    """Return the lines of a text or table at a given width; Chinese is wrapped between words, too.

    The text must contain `BREAK` where its Chinese may be divided.
    """
    out = io.StringIO()
    console = Console(file=out, width=width, markup=False, emoji=False, highlight=False)
    console.print(content)
    return [line.rstrip() for line in lines_of(out.getvalue().replace(BREAK, ""))]


def unwrapped(text: str) -> str:
    r"""Return a text with the lines of each paragraph joined, so that a terminal can wrap them.

    Tasks and hints have lines of about `LINE` columns. A line whose first word did not fit there
    belongs to the line before it.

    Examples
    --------
    >>> unwrapped(f"{'word ' * 19}word\nand more\nnext").count("\n")
    1
    """
    lines: list[str] = []
    before = ""
    for line in lines_of(text):
        first = re.match(r"\s*([!-~]+|\S|$)", line)
        word = first[1] if first and not OWN_LINE.match(line) else ""
        if word and before and cell_len(f"{before} {word}") > LINE:
            is_chinese = cell_len(before[-1]) == cell_len(word[0]) == 2
            lines[-1] += line.strip() if is_chinese else f" {line.strip()}"
        else:
            lines.append(line)
        before = line
    return "\n".join(lines)
