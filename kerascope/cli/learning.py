"""`kerascope learn` and `kerascope examples`: the exercises and scripts of the course."""

from __future__ import annotations

import ast
import json
import os
import shlex
from argparse import Namespace
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from kerascope.cli.options import LEARN_ACTIONS
from kerascope.cli.usage import UsageError, given
from kerascope.errors import UnknownNameError
from kerascope.files import check_writable, write_whole
from kerascope.learn import commands, pages
from kerascope.learn.class_report import (
    class_csv,
    class_json,
    class_table,
    folders_of_class,
    workbook_in,
)
from kerascope.learn.commands import StudentSession, at_folder
from kerascope.learn.exercises import (
    Exercise,
    Workbook,
    all_exercises,
    default_folder,
    find_exercises,
)
from kerascope.learn.running import SECONDS
from kerascope.learn.servers import check_files
from kerascope.learn.verdicts import Outcome, language_of_environment
from kerascope.learn.web import check_extra
from kerascope.lessons import examples_folder, shown_number, tutorials_folder
from kerascope.lessons.lesson import languages_of
from kerascope.lessons.parser import chapter_folders, find_chapter
from kerascope.registry import did_you_mean
from kerascope.trace.records import counted

_DO: dict[str, Callable[[StudentSession, list[Exercise]], int]] = {
    "next": commands.show_next,
    "list": commands.show_list,
    "run": commands.run_chosen,
    "check": commands.check_chosen,
    "hint": commands.show_hint,
    "reset": commands.reset_chosen,
    "solution": commands.show_solution,
    "watch": commands.watch_chosen,
}
_ONE_AT_A_TIME = ("run", "hint", "reset", "solution", "watch")


def run_learn(options: Namespace) -> int:
    """Run an action of `kerascope learn` and return the exit code.

    Raises
    ------
    UsageError
        The action or exercise is unknown, or the options are not valid.
    """
    with given():
        tutorials = tutorials_folder(options.tutorials)
        exercises = all_exercises(tutorials)
    own = tutorials if options.tutorials else None
    folder = Path(options.folder[0]) if len(options.folder) == 1 else None
    at = at_folder(folder, own)
    action, words = _action_of(options.script_words, exercises, at)
    _check_options(options, action, words)
    chosen = [] if action in ("read", "web") else _chosen(exercises, words, at)
    if action in _ONE_AT_A_TIME and len(chosen) > 1:
        names = ", ".join(exercise.name for exercise in chosen)
        raise UsageError(f"learn {action}: expected one exercise, got {names}.")
    folders = _folders(options)
    if not exercises and action not in ("read", "web"):
        raise UsageError(
            f"learn {action}: the folder {str(tutorials)!r} contains no exercises. Expected files "
            f"NN-topic/exercises/NAME.toml in it."
        )
    if options.json or options.csv or len(folders) > 1 or options.class_folder:
        language = _language(options, None, tutorials)
        return _check_for_teachers(options, folders, chosen or exercises, language)
    workbook = Workbook(folders[0], exercises)
    language = _language(options, workbook.language, tutorials)
    _refuse_files_elsewhere(workbook, words, chosen)
    session = StudentSession(workbook, language, options.time_limit, own)
    if action == "read":
        return _read(words, session, at)
    if action == "web":
        return _serve(session, words, options, tutorials)
    if action == "report":
        with given():
            target = check_writable(options.output or "report.html")
        return commands.write_report(session, target, options.name or "", options.date or "")
    _prepare(session, action)
    if not chosen and action in ("check", *_ONE_AT_A_TIME):
        following = workbook.next_exercise()
        if following is None and not options.all:
            session.say(pages.ALL_DONE)
            return commands.DONE
        chosen = exercises if options.all or following is None else [following]
    return _DO[action](session, chosen)


def _refuse_files_elsewhere(workbook: Workbook, words: list[str], chosen: list[Exercise]) -> None:
    """Raise if an argument names an existing file that does not belong to the workbook.

    Without this error, the workbook's file of the same exercise would be checked instead.
    """
    own = [path.resolve() for path in map(workbook.path_of, chosen)]
    for word in words:
        path = Path(word)
        if path.suffix == ".py" and path.is_file() and path.resolve() not in own:
            (meant,) = [one for one in map(workbook.path_of, chosen) if one.name == path.name]
            raise UsageError(
                f"learn: expected the file of the workbook, {shlex.quote(str(meant))}, got "
                f"{word}. Copy yours there, or give only the name of the exercise: {path.stem}."
            )


def _language(options: Namespace, stored: str | None, tutorials: Path) -> str:
    """Return the language to use: of the option, stored in the workbook, or of the terminal.

    If the course is not written in this language, return the language of the course.

    Raises
    ------
    UsageError
        The option names a language in which the course is not written.
    """
    language = options.lang or stored or language_of_environment(os.environ)
    known = languages_of(tutorials)
    if options.lang and known and options.lang not in known:
        raise UsageError(f"learn: --lang: the course in {str(tutorials)!r} is only in {known[0]}.")
    return str(language if language in known or not known else known[0])


def _read(words: list[str], session: StudentSession, at: str) -> int:
    """Print the named chapter; without a name, that of the next exercise, or of the last one.

    In a course without exercises, print the first chapter.
    """
    workbook = session.workbook
    current = [e.chapter for e in (workbook.next_exercise(), *workbook.exercises[-1:]) if e]
    first = [folder.name for folder in chapter_folders(session.tutorials)[:1]]
    chapter = [*words, *current, *first, "1"][0]
    try:
        return commands.read_chapter(chapter, session.language, at, session.tutorials)
    except UnknownNameError as error:
        raise UsageError(f"learn read: {error}") from None


def _serve(session: StudentSession, words: list[str], options: Namespace, tutorials: Path) -> int:
    """Serve the chapters for the browser until Ctrl-C; open the chapter named, or the contents."""
    with given():
        page = f"{find_chapter(words[0], tutorials).name}.html" if words else "index.html"
    check_extra()
    _prepare(session, "web")
    opens = not options.no_browser
    return commands.serve_pages(session, page, tutorials, options.port or 0, opens)


def _prepare(session: StudentSession, action: str) -> None:
    """Copy the exercises that the student does not have yet."""
    workbook = session.workbook
    if workbook.notice:
        session.say(f"kerascope: {workbook.notice}")
    with given():
        written = workbook.prepare(session.language)
    if written:
        session.say(pages.welcome(workbook.folder, len(written)))
    if written and len(written) == len(workbook.exercises):
        chapters = chapter_folders(session.tutorials)
        if action not in ("next", "list"):
            session.say(pages.ELSEWHERE)
        elif chapters:
            session.say(pages.first_chapter(shown_number(chapters[0].name), session.at))


def _action_of(words: list[str], exercises: list[Exercise], at: str) -> tuple[str, list[str]]:
    """Return the action of `kerascope learn` and the words after it; by default, "next"."""
    if not words:
        return "next", []
    first, *rest = words
    if first in LEARN_ACTIONS:
        return first, rest
    if find_exercises(exercises, first)[0]:
        return "next", words
    hint = did_you_mean(first, [*LEARN_ACTIONS, *(e.name for e in exercises)])
    raise UsageError(
        f"learn: unknown action or exercise {first!r}. {hint}`kerascope learn list{at}` "
        f"shows the exercises. Actions: {', '.join(LEARN_ACTIONS)}."
    )


def _chosen(exercises: list[Exercise], words: list[str], at: str) -> list[Exercise]:
    chosen: list[Exercise] = []
    for word in words:
        found, hint = find_exercises(exercises, word)
        if not found:
            raise UsageError(
                f"learn: unknown exercise {word!r}. {hint}`kerascope learn list{at}` shows "
                f"the exercises."
            )
        chosen += [exercise for exercise in found if exercise not in chosen]
    return chosen


def _check_options(options: Namespace, action: str, words: list[str]) -> None:
    """Raise for options that the action does not take."""
    belongs = {
        "check": {
            "--all": options.all,
            "--json": options.json,
            "--class": options.class_folder,
            "--csv": options.csv,
            "--jobs": options.jobs,
            "several --folder": len(options.folder) > 1,
        },
        "web": {"--port": options.port is not None, "--no-browser": options.no_browser},
        "report": {"-o": options.output, "--name": options.name, "--date": options.date},
    }
    for owner, own_options in belongs.items():
        for name, is_given in own_options.items():
            if is_given and action != owner:
                raise UsageError(f"learn {action}: {name} belongs to `kerascope learn {owner}`.")
    if options.port is not None and not 0 < options.port < 65536:
        raise UsageError(f"--port: expected a number from 1 to 65535, got {options.port}.")
    if action == "report" and words:
        raise UsageError(f"learn report: expected no exercise, got {words[0]!r}. Use -o FILE.")
    if options.all and words:
        raise UsageError(f"learn check: expected --all or {words[0]!r}, got both.")
    if action in ("read", "web") and len(words) > 1:
        raise UsageError(f"learn {action}: expected one chapter, got {' '.join(words)}.")
    if options.class_folder and options.folder:
        raise UsageError("learn check: expected --class or --folder, got both.")
    if options.csv:
        with given():
            check_writable(options.csv)


def _folders(options: Namespace) -> list[Path]:
    if options.class_folder:
        folder = Path(options.class_folder)
        if not folder.is_dir():
            raise UsageError(f"learn check: there is no folder {options.class_folder!r}.")
        students = folders_of_class(folder)
        if not students:
            raise UsageError(f"learn check: {options.class_folder!r} contains no student's folder.")
        return students
    if not options.folder:
        return [default_folder(Path.cwd())]
    return [Path(name) for name in options.folder]


def _check_for_teachers(
    options: Namespace, folders: list[Path], chosen: list[Exercise], language: str
) -> int:
    """Check the work of several students without changing their folders."""
    missing = [folder for folder in folders if not folder.is_dir()]
    if missing:
        raise UsageError(f"learn check: there is no folder '{missing[0]}'.")
    books = [Workbook(folder, chosen) for folder in map(workbook_in, folders)]
    files = [(exercise, book.path_of(exercise)) for book in books for exercise in chosen]
    outcomes = _outcomes(files, options)
    checked = iter([(*file, one) for file, one in zip(files, outcomes, strict=True)])
    results = [(book.folder, list(islice(checked, len(chosen)))) for book in books]
    if options.json:
        print(json.dumps(class_json(results), ensure_ascii=False, indent=1))
    else:
        print(class_table(results, language))
    if options.csv:  # with the mark by which Excel recognises UTF-8
        write_whole(options.csv, class_csv(results, language).encode("utf-8-sig"))
    return commands.code_of(outcomes)


def _outcomes(files: list[tuple[Exercise, Path]], options: Namespace) -> list[Outcome]:
    """Return the outcome of each file; on a terminal, show the progress in the error output."""
    checking = check_files(files, options.time_limit or SECONDS, options.jobs or 2)
    console = Console(stderr=True)
    with closing(checking):
        if not console.is_terminal:
            return list(checking)
        with Progress(console=console, transient=True) as progress:
            return list(progress.track(checking, total=len(files), description="learn check"))


# --- kerascope examples: the scripts that the course reads ----------------------------------------


def run_examples(options: Namespace) -> int:
    """Copy or list the examples and return the exit code.

    Raises
    ------
    UsageError
        The target is not a folder, or cannot be created.
    UnavailableError
        This installation has no examples, or a file cannot be written.
    """
    examples = sorted(examples_folder().glob("*.py"))
    if options.list:
        width = max(len(path.name) for path in examples)
        for path in examples:
            print(f"{path.name:<{width}}  {_about(path)}")
        return commands.DONE
    folder = Path(options.folder)
    _make(folder, examples)
    for line in _copy(examples, folder, options.force):
        print(line)
    return commands.DONE


def _about(path: Path) -> str:
    """Return the first line of a script's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_bytes())) or ""
    return docstring.partition("\n")[0]


def _make(folder: Path, examples: list[Path]) -> None:
    if folder.name in {path.name for path in examples}:
        raise UsageError(
            f"examples: expected a folder, got the name of an example {str(folder)!r}. "
            f"`kerascope examples` copies all examples."
        )
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"examples: expected a folder, got the file {str(folder)!r}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"examples: cannot make the folder {str(folder)!r}: {error.strerror}."
        ) from None


def _copy(examples: list[Path], folder: Path, is_forced: bool) -> list[str]:
    """Copy the examples that the folder lacks; overwrite different files only if `is_forced`.

    Return lines that report which files were copied and which were kept.
    """
    copied, same, kept = [], [], []
    for path in examples:
        target, content = folder / path.name, path.read_bytes()
        if target.is_file() and target.read_bytes() == content:
            same.append(path.name)
        elif target.exists() and not (is_forced and target.is_file()):
            kept.append(path.name)
        else:
            write_whole(target, content)
            copied.append(path.name)
    lines = []
    if copied:
        lines.append(f"{counted(len(copied), 'example')} copied to {folder}")
    if same:
        lines.append(f"{counted(len(same), 'example')} already in {folder}")
    if kept:
        lines.append(f"kept your own files: {', '.join(kept)} (--force overwrites them)")
    if copied:
        lines.append(f"start with: kerascope run {folder / 'example.py'}")
    return lines
