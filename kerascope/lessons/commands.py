"""The commands `kerascope lessons check|build|html|notebook`. Only this module prints."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from kerascope.cli.usage import UsageError, given
from kerascope.errors import ArgumentError, UnavailableError
from kerascope.files import write_whole
from kerascope.learn.authoring import exercise_complaints
from kerascope.learn.exercises import all_exercises
from kerascope.lessons import tutorials_folder
from kerascope.lessons.checking import accept, complaints_of, read_glossary, stale_pictures
from kerascope.lessons.lesson import LANGUAGES, Chapter
from kerascope.lessons.notebook import notebook_text
from kerascope.lessons.parser import chapter_folders, find_chapter, read_chapter
from kerascope.lessons.render_html import chapter_page, index_page, page_name, with_neighbours
from kerascope.lessons.runner import ChapterRun, run_chapters
from kerascope.trace.records import counted

DONE, DIFFERS = 0, 1


def run_lessons(options: Namespace) -> int:
    """Run `kerascope lessons` with parsed options; return the exit code."""
    with given():
        tutorials = tutorials_folder(options.tutorials)
    folders = _chosen(options.chapters, tutorials)
    if options.action == "build" and options.translated and not options.accept:
        raise UsageError("--translated needs --accept.")
    return _ACTIONS[options.action](options, tutorials, [read_chapter(one) for one in folders])


def _chosen(names: Sequence[str], tutorials: Path) -> list[Path]:
    """Return the folders of the named chapters; without names, of all chapters."""
    folders = chapter_folders(tutorials)
    if not folders:
        raise UsageError(
            f"The folder {str(tutorials)!r} contains no chapters. Expected folders NN-topic with "
            f"lesson.en.md, lesson.zh.md, or both."
        )
    if not names:
        return folders
    with given():
        wanted = {find_chapter(name, tutorials) for name in names}
    return [folder for folder in folders if folder in wanted]


def _check(options: Namespace, tutorials: Path, chapters: list[Chapter]) -> int:
    """Run chapters, store changed outputs if `--accept` is given, and print all complaints."""
    glossary = tutorials / "glossary.toml"
    terms = read_glossary(glossary) if glossary.is_file() else []
    wrong = 0
    for run in run_chapters(chapters, options.jobs):
        if options.action == "build" and options.accept:
            for line in accept(run, options.translated):
                print(line)
            run = replace(run, chapter=read_chapter(run.chapter.folder))
        complaints = [*complaints_of(run, terms), *stale_pictures(run.chapter)]
        wrong += len(complaints)
        _print_run(run, complaints)
    if options.exercises:
        wrong += _check_exercises(chapters, options.jobs)
    verdict = f"{wrong} wrong" if wrong else "every printed line holds"
    print(f"{counted(len(chapters), 'chapter')}: {verdict}")
    return DIFFERS if wrong else DONE


def _check_exercises(chapters: list[Chapter], jobs: int) -> int:
    """Check the exercises of chapters, print all complaints, and return their number."""
    folders = [chapter.folder for chapter in chapters]
    exercises = [e for e in all_exercises(folders[0].parent) if e.folder in folders]
    wrong = 0
    for exercise, complaints in zip(exercises, exercise_complaints(exercises, jobs), strict=True):
        wrong += len(complaints)
        done = f"solution and {counted(len(exercise.wrong_answers), 'wrong answer')}"
        _print_state(exercise.id, done, complaints)
    return wrong


def _print_run(run: ChapterRun, complaints: list[str]) -> None:
    count = len(run.chapter.main.blocks)
    _print_state(run.chapter.name, f"{len(run.blocks)} of {count} blocks run", complaints)


def _print_state(name: str, done: str, complaints: list[str]) -> None:
    state = f"{len(complaints)} wrong" if complaints else "ok"
    print(f"{name:<24} {done}   {state}")
    for complaint in complaints:
        print(f"\n{complaint}")
    if complaints:
        print()
    sys.stdout.flush()


def _html(options: Namespace, tutorials: Path, chapters: list[Chapter]) -> int:
    """Write a page for each chapter, and an index of all pages in the output folder."""
    with given():
        folder = _output_folder(options.output)
    known = _with_a_page(folder, tutorials, chapters)
    for before, chapter, after in with_neighbours(known):
        if chapter in chapters:
            write_whole(folder / page_name(chapter), chapter_page(chapter, before, after))
    write_whole(folder / "index.html", index_page(known))
    print(f"{counted(len(chapters), 'chapter')} and the index: {folder / 'index.html'}")
    return DONE


def _with_a_page(folder: Path, tutorials: Path, chapters: list[Chapter]) -> list[Chapter]:
    """Return `chapters`, and all other chapters whose page is in the output folder.

    The result is in the order of the course.
    """
    chosen = {chapter.name: chapter for chapter in chapters}
    return [
        chosen.get(one.name) or read_chapter(one)
        for one in chapter_folders(tutorials)
        if one.name in chosen or (folder / f"{one.name}.html").is_file()
    ]


def _notebook(options: Namespace, tutorials: Path, chapters: list[Chapter]) -> int:
    """Write a notebook of each chapter, in one language or in all."""
    with given():
        folder = _output_folder(options.output)
    for chapter in chapters:
        for language in (options.lang,) if options.lang else LANGUAGES:
            if language in chapter.lessons:
                path = folder / f"{chapter.name}.{language}.ipynb"
                write_whole(path, notebook_text(chapter, language))
                print(path)
    return DONE


def _output_folder(name: str) -> Path:
    folder = Path(name)
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"--output: expected a folder, got the file {name!r}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(f"Cannot make the folder {name!r}: {error.strerror}.") from None
    return folder


_ACTIONS: dict[str, Callable[[Namespace, Path, list[Chapter]], int]] = {
    "check": _check,
    "build": _check,
    "html": _html,
    "notebook": _notebook,
}
