"""The commands of `kerascope learn`, such as `check` and `hint`, which the student types."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from kerascope.errors import UnavailableError
from kerascope.files import write_whole
from kerascope.learn import pages
from kerascope.learn.engine import parts_of
from kerascope.learn.exercises import Exercise, Workbook, default_folder
from kerascope.learn.reader import page_through
from kerascope.learn.running import SECONDS, check_file, only_defines, run_engine, run_file
from kerascope.learn.verdicts import Outcome, Text, Verdict
from kerascope.lessons import tutorials_folder
from kerascope.lessons.lesson import BREAK, BREAKS

# --- waiting for a file to change -----------------------------------------------------------------


SECONDS_BETWEEN_LOOKS = 0.3


def changes_of(path: Path, wait: float = SECONDS_BETWEEN_LOOKS) -> Iterator[None]:
    """Yield None each time a file is saved after this call, without end.

    The size and the modification time of the file are polled. So this also works with editors
    that replace the file.
    """
    before = _state(path)
    while True:
        time.sleep(wait)
        now = _state(path)
        if now is not None and now != before:
            time.sleep(wait / 3)  # let an editor finish
            before = _state(path)
            yield


def _state(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size


# --- the commands ---------------------------------------------------------------------------------


WIDTH, WIDEST = 80, 100  # columns of a chapter: in a pipe, and the maximum
SECONDS_FOR_REPORT = 120.0
DONE, FAILED, NOT_ATTEMPTED, TOO_LONG = 0, 1, 5, 124
_SERVER = "kerascope.learn.web.server"  # can be imported only with the extra `web`
_REPORT = "kerascope.learn.report"  # loaded for the report only
_READING = ("kerascope.lessons.reading", "chapter_pages")


def at_folder(folder: Path | None, tutorials: Path | None = None) -> str:
    """Return the options ` --folder NAME --tutorials DIR` to append to a command.

    The default folder (or None) and our own course (None) need no option.

    Examples
    --------
    >>> at_folder(Path("ann lee"), Path("my_course"))
    " --folder 'ann lee' --tutorials my_course"
    """
    words = ""
    if folder is not None and folder != default_folder(Path.cwd()):
        words = f" --folder {shlex.quote(str(folder))}"
    return words + (f" --tutorials {shlex.quote(str(tutorials))}" if tutorials else "")


@dataclass
class StudentSession:
    """A student's folder and language, with methods that print texts and check exercises.

    Attributes
    ----------
    workbook : Workbook
    language : str
        "en" or "zh".
    seconds : float or None
        The time limit for the student's file; None for the default of the command.
    tutorials : Path or None
        The folder of the teacher's own course (`--tutorials`); None for our course.
    """

    workbook: Workbook
    language: str
    seconds: float | None = None
    tutorials: Path | None = None

    @property
    def at(self) -> str:
        """The options that select this folder and course: ` --folder ann`; "" for the defaults."""
        return at_folder(self.workbook.folder, self.tutorials)

    def say(self, text: Text | str = "") -> None:
        """Print a text in the student's language. On a terminal, wrap its lines between words."""
        words = text if isinstance(text, str) else text.within(self.language)
        if sys.stdout.isatty():
            text = BREAKS.sub(BREAK, pages.unwrapped(words))
            print("\n".join(pages.wrapped(text, shutil.get_terminal_size().columns)))
        else:
            print(words, flush=True)

    def page(self, exercise: Exercise) -> Text:
        """Return the text about an exercise: task, file, and the commands for this folder."""
        workbook = self.workbook
        more = "" if exercise == workbook.next_exercise() else f" {exercise.name}"
        return pages.exercise_page(exercise, workbook.path_of(exercise), more + self.at, self.at)

    def check(self, exercise: Exercise) -> Outcome:
        """Check the student's file of an exercise; return the outcome."""
        return check_file(exercise, self.workbook.path_of(exercise), self.seconds or SECONDS)


def show_next(session: StudentSession, chosen: list[Exercise]) -> int:
    """Show the chosen exercises; without a choice, the next exercise that is not passed."""
    workbook = session.workbook
    following = workbook.next_exercise()
    session.say(pages.progress_line(workbook))
    for exercise in chosen or [e for e in (following,) if e]:
        session.say()
        session.say(session.page(exercise))
    if following is None:
        session.say(pages.ALL_DONE)
    return DONE


def show_list(session: StudentSession, chosen: list[Exercise]) -> int:
    """Print a table of the chosen exercises, by default of all, with their verdicts."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else pages.WIDEST_TABLE
    session.say(pages.table(session.workbook, chosen or session.workbook.exercises, width))
    return DONE


def check_chosen(session: StudentSession, chosen: list[Exercise]) -> int:
    """Check exercises and print the verdict on each; return the exit code."""
    outcomes = []
    for exercise in chosen:
        path = session.workbook.path_of(exercise)
        session.say(pages.being_checked(exercise, path))
        outcome = session.check(exercise)
        session.workbook.remember(exercise, outcome)
        session.say(pages.outcome_page(exercise, outcome, path))
        outcomes.append(outcome)
    if len(outcomes) > 1:
        session.say(pages.counted(outcomes))
    following = session.workbook.next_exercise(chosen[-1])
    if len(outcomes) == 1 and outcomes[0].verdict is Verdict.PASS:
        session.say(pages.compare(chosen[0], session.at))
    if outcomes[-1].verdict is Verdict.PASS and following is not None:
        is_first = following == session.workbook.next_exercise()
        more = "" if is_first else f" {following.name}"
        session.say(pages.what_next(following, more + session.at))
    return code_of(outcomes)


def code_of(outcomes: list[Outcome]) -> int:
    """Return 1 if a verdict is FAIL; otherwise 5 if a verdict is NOT ATTEMPTED; otherwise 0."""
    verdicts = {outcome.verdict for outcome in outcomes}
    if Verdict.FAIL in verdicts:
        return FAILED
    return NOT_ATTEMPTED if Verdict.NOT_ATTEMPTED in verdicts else DONE


def run_chosen(session: StudentSession, chosen: list[Exercise]) -> int:
    """Run the student's file as a program, without checking it; return its exit code."""
    (exercise,) = chosen
    path = session.workbook.path_of(exercise)
    seconds = session.seconds or 60.0
    session.say(Text(f"running {path}", f"正在运行 {path}"))
    code = run_file(path, seconds)
    if code is None:
        session.say(
            Text(f"ended: it ran longer than {seconds:g} s", f"运行超过 {seconds:g} 秒，已终止")
        )
        return TOO_LONG
    if code == DONE and (name := only_defines(path.read_bytes())):
        session.say(pages.nothing_called(name))
    return code


def show_hint(session: StudentSession, chosen: list[Exercise]) -> int:
    """Print the next hint of an exercise; after the last hint, print the last one again."""
    (exercise,) = chosen
    number = session.workbook.next_hint(exercise)
    session.say(pages.hint_page(exercise, number, session.at))
    return DONE


def reset_chosen(session: StudentSession, chosen: list[Exercise]) -> int:
    """Restore the stub of an exercise; the student's answer is kept under another name."""
    (exercise,) = chosen
    kept = session.workbook.reset(exercise, session.language)
    path = session.workbook.path_of(exercise)
    session.say(Text(f"{path} is as it was given to you", f"{path} 已恢复为最初的样子"))
    if kept is not None:
        session.say(Text(f"what you had written is kept in {kept}", f"你原来写的内容保存在 {kept}"))
    return DONE


def show_solution(session: StudentSession, chosen: list[Exercise]) -> int:
    """Print the reference solution of an exercise, or why it is not shown yet."""
    (exercise,) = chosen
    if not session.workbook.may_see_solution(exercise):
        path = session.workbook.path_of(exercise)
        session.say(pages.no_solution_yet(exercise, path, session.at))
        return NOT_ATTEMPTED
    session.say(Text(f"# {exercise.id}: one way to do it", f"# {exercise.id}：一种写法"))
    print(exercise.solution.read_text(encoding="utf-8").rstrip())
    session.say()
    seen = pages.seen(exercise)
    # As comments, so that the output is a valid Python file.
    print(f"# {seen.within(session.language)}", flush=True)
    return DONE


def watch_chosen(session: StudentSession, chosen: list[Exercise]) -> int:
    """Check an exercise each time its file changes; continue with the next when it passes."""
    exercise: Exercise | None = chosen[0]
    session.say(Text("watching; Ctrl-C ends it", "正在监视文件；按 Ctrl-C 结束"))
    try:
        while exercise is not None:
            path = session.workbook.path_of(exercise)
            session.say()
            session.say(session.page(exercise))
            for _ in changes_of(path):
                if check_chosen(session, [exercise]) == DONE:
                    break
            exercise = session.workbook.next_exercise(exercise)
    except KeyboardInterrupt:
        session.say()
        return DONE
    session.say(pages.ALL_DONE)
    return DONE


def write_report(session: StudentSession, target: Path, name: str, date: str) -> int:
    """Write the page of `kerascope learn report`.

    The engine is run if one of its parts is the student's.
    """
    workbook, seconds = session.workbook, session.seconds or SECONDS_FOR_REPORT
    proof: dict[str, Any] = {}
    if any(part.is_own for part in parts_of(workbook).values()):
        session.say(Text("running your engine ...", "正在运行你的引擎……"))
        proof = run_engine(workbook.folder, session.language, seconds)
    report_page = import_module(_REPORT).report_page
    tutorials = tutorials_folder(session.tutorials)
    page: str = report_page(workbook, tutorials, session.language, proof, name, date)
    write_whole(target, page.encode("utf-8"))
    session.say(Text(f"report: {target}", f"学习报告：{target}"))
    return DONE


def read_chapter(word: str, language: str, at: str = "", tutorials: Path | None = None) -> int:
    """Print a chapter; `at` is appended to each `kerascope learn` command in it.

    On a terminal, the chapter is shown section by section (`reader.py`); in a pipe, at once.
    `tutorials` is the folder of the teacher's own course, or None.

    Raises
    ------
    UnavailableError
        The chapters are not in this installation.
    UnknownNameError
        The chapter does not exist.
    """
    module, name = _READING
    try:
        chapter_pages: Callable[..., list[list[str]]] = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UnavailableError(
            f"learn: chapter {word} cannot be read: the chapters are not in this installation "
            f"of kerascope ({error}). Install the wheel again."
        ) from None
    is_terminal = sys.stdout.isatty()
    width = min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDEST) if is_terminal else WIDTH
    asks = is_terminal and sys.stdin.isatty()
    sections = chapter_pages(
        word, language, width=width, color=is_terminal, at=at, tutorials=tutorials, asks=asks
    )
    if asks:
        page_through(sections, language)
    else:
        print("\n".join(text for section in sections for text in section))
    return DONE


def serve_pages(session: StudentSession, page: str, tutorials: Path, port: int, opens: bool) -> int:
    """Serve the chapters and exercises for a browser on this machine, until Ctrl-C.

    Parameters
    ----------
    session : StudentSession
    page : str
        The page to open: `index.html`, or that of a chapter.
    tutorials : Path
        The folder of the chapters.
    port : int
        0 for any free port.
    opens : bool
        Whether the browser is opened.
    """
    server = import_module(_SERVER)

    def report(address: str) -> None:
        session.say(Text(f"open {address}", f"请打开 {address}"))
        session.say(Text("Ctrl-C ends it", "按 Ctrl-C 结束"))
        if opens:
            webbrowser.open(address)

    room = server.Classroom(session.workbook, tutorials, session.seconds)
    server.serve(room, f"{page}#{session.language}", port, report)
    session.say(Text("ended; your work is kept", "已结束，你的内容都已保存"))
    return DONE
