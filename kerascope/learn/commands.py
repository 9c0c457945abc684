"""What a student can type after `kerascope learn`."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from rich.console import Console

from kerascope.errors import UnavailableError
from kerascope.learn import pages
from kerascope.learn.exercises import Exercise, Workbook, default_folder
from kerascope.learn.running import check_file, only_defines, run_file
from kerascope.learn.verdicts import Outcome, Text, Verdict

# --- waiting for a file to change -----------------------------------------------------------------


SECONDS_BETWEEN_LOOKS = 0.3


def changes_of(path: Path, wait: float = SECONDS_BETWEEN_LOOKS) -> Iterator[None]:
    """Yield whenever a file has other contents; editors that write a new file are understood.

    The first time is when it differs from what it is now: a file that nobody touches yields never.
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


WIDTH, WIDEST = 80, 100  # columns of a chapter: in a pipe, and at most
DONE, FAILED, NOT_ATTEMPTED, TOO_LONG = 0, 1, 5, 124
_READING = ("kerascope.lessons.reading", "chapter_text")


def at_folder(folder: Path) -> str:
    """Return what is typed after a command for a folder, "" if that one is found anyway.

    Examples
    --------
    >>> at_folder(Path("ann lee"))
    " --folder 'ann lee'"
    """
    if folder == default_folder(Path.cwd()):
        return ""
    return f" --folder {shlex.quote(str(folder))}"


@dataclass
class Desk:
    """A student at work: the folder, the language, and how to speak.

    Attributes
    ----------
    workbook : Workbook
    language : str
        "en" or "zh".
    seconds : float or None
        Time limit; None is that of the command.
    """

    workbook: Workbook
    language: str
    seconds: float | None = None

    @property
    def at(self) -> str:
        """What is typed after each command so that it is about this folder: ` --folder ann`."""
        return at_folder(self.workbook.folder)

    def say(self, text: Text | str = "") -> None:
        """Write in the student's language; a terminal gets lines that end between two words."""
        words = text if isinstance(text, str) else text.within(self.language)
        if sys.stdout.isatty():
            Console(highlight=False).print(words, markup=False, emoji=False)
        else:
            print(words, flush=True)

    def page(self, exercise: Exercise) -> Text:
        """Return the page of an exercise; its commands are those for this folder."""
        workbook = self.workbook
        more = "" if exercise == workbook.next_exercise() else f" {exercise.name}"
        return pages.exercise_page(exercise, workbook.path_of(exercise), more + self.at, self.at)

    def check(self, exercise: Exercise) -> Outcome:
        """Return the verdict on the student's file of an exercise."""
        path = self.workbook.path_of(exercise)
        if self.seconds is None:
            return check_file(exercise, path)
        return check_file(exercise, path, self.seconds)


def show_next(desk: Desk, chosen: list[Exercise]) -> int:
    """Show the exercise that comes next, or the ones that were named."""
    workbook = desk.workbook
    passed = sum(map(workbook.is_passed, workbook.exercises))
    desk.say(pages.how_far(passed, len(workbook.exercises)))
    for exercise in chosen or [e for e in (workbook.next_exercise(),) if e]:
        desk.say()
        desk.say(desk.page(exercise))
    if passed == len(workbook.exercises):
        desk.say(pages.ALL_DONE)
    return DONE


def show_list(desk: Desk, chosen: list[Exercise]) -> int:
    """List the exercises and their verdicts."""
    desk.say(pages.table(desk.workbook, chosen or desk.workbook.exercises))
    return DONE


def check_chosen(desk: Desk, chosen: list[Exercise]) -> int:
    """Check some exercises; say of each its verdict."""
    outcomes = []
    for exercise in chosen:
        path = desk.workbook.path_of(exercise)
        desk.say(pages.being_checked(exercise, path))
        outcome = desk.check(exercise)
        desk.workbook.remember(exercise, outcome)
        desk.say(pages.outcome_page(exercise, outcome, path))
        outcomes.append(outcome)
    if len(outcomes) > 1:
        desk.say(pages.counted(outcomes))
    following = desk.workbook.next_exercise()
    if len(outcomes) == 1 and outcomes[0].verdict is Verdict.PASS:
        desk.say(pages.compare(chosen[0], desk.at))
    if outcomes[-1].verdict is Verdict.PASS and following is not None:
        desk.say(pages.what_next(following, desk.at))
    return code_of(outcomes)


def code_of(outcomes: list[Outcome]) -> int:
    """Return the exit code: 0 all passed, 1 one failed, 5 none failed but one was not attempted."""
    verdicts = {outcome.verdict for outcome in outcomes}
    if Verdict.FAIL in verdicts:
        return FAILED
    return NOT_ATTEMPTED if Verdict.NOT_ATTEMPTED in verdicts else DONE


def run_chosen(desk: Desk, chosen: list[Exercise]) -> int:
    """Run the student's file as a program."""
    (exercise,) = chosen
    path = desk.workbook.path_of(exercise)
    seconds = desk.seconds or 60.0
    desk.say(Text(f"running {path}", f"正在运行 {path}"))
    code = run_file(path, seconds)
    if code is None:
        desk.say(
            Text(f"ended: it ran longer than {seconds:g} s", f"运行超过 {seconds:g} 秒，已终止")
        )
        return TOO_LONG
    if code == DONE and (name := only_defines(path.read_bytes())):
        desk.say(pages.nothing_called(name))
    return code


def show_hint(desk: Desk, chosen: list[Exercise]) -> int:
    """Show one more hint."""
    (exercise,) = chosen
    progress = desk.workbook.progress(exercise)
    progress.hints = min(progress.hints + 1, len(exercise.hints))
    desk.workbook.save()
    desk.say(pages.hint_page(exercise, progress.hints, desk.at))
    return DONE


def reset_chosen(desk: Desk, chosen: list[Exercise]) -> int:
    """Put the stub back, keeping what the student wrote."""
    (exercise,) = chosen
    kept = desk.workbook.reset(exercise, desk.language)
    path = desk.workbook.path_of(exercise)
    desk.say(Text(f"{path} is as it was given to you", f"{path} 已恢复为最初的样子"))
    if kept is not None:
        desk.say(Text(f"what you had written is kept in {kept}", f"你原来写的内容保存在 {kept}"))
    return DONE


def show_solution(desk: Desk, chosen: list[Exercise]) -> int:
    """Print a solution."""
    (exercise,) = chosen
    desk.say(Text(f"# {exercise.id}: one way to do it", f"# {exercise.id}：一种写法"))
    print(exercise.solution.read_text(encoding="utf-8").rstrip())
    desk.say()
    seen = pages.seen(exercise)
    # As comments, so that the whole can be kept as a file.
    print(f"# {seen.within(desk.language)}", flush=True)
    return DONE


def watch_chosen(desk: Desk, chosen: list[Exercise]) -> int:
    """Check an exercise whenever its file changes; go on to the next one when it passes."""
    exercise: Exercise | None = chosen[0]
    desk.say(Text("watching; Ctrl-C ends it", "正在监视文件；按 Ctrl-C 结束"))
    try:
        while exercise is not None:
            path = desk.workbook.path_of(exercise)
            desk.say()
            desk.say(desk.page(exercise))
            for _ in changes_of(path):
                if check_chosen(desk, [exercise]) == DONE:
                    break
            exercise = desk.workbook.next_exercise()
    except KeyboardInterrupt:
        desk.say()
        return DONE
    desk.say(pages.ALL_DONE)
    return DONE


def read_chapter(word: str, language: str, at: str = "") -> int:
    """Show a chapter in the terminal; `at` is typed after each command.

    Raises
    ------
    UnavailableError
        The chapters are not in this installation.
    UnknownNameError
        There is no such chapter.
    """
    module, name = _READING
    try:
        chapter_text: Callable[..., str] = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UnavailableError(
            f"learn: chapter {word} cannot be read: the chapters are not in this installation "
            f"of kerascope ({error}). Install the wheel again."
        ) from None
    is_terminal = sys.stdout.isatty()
    width = min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDEST) if is_terminal else WIDTH
    print(chapter_text(word, language, width=width, color=is_terminal, at=at))
    return DONE
