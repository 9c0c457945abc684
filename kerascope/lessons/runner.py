"""Runs chapters: each in a process and a clean folder of its own, two at a time.

The folder holds copies of the examples and an empty `out/`. Random numbers are seeded, hashes are
fixed, there is no network; so a chapter prints the same wherever and whenever it is run.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kerascope.lessons.blocks import Block, Chapter
from kerascope.lessons.cleaning import clean
from kerascope.lessons.places import examples_folder
from kerascope.lessons.sessions import PACKAGE_PARENT, calm_environment
from kerascope.lessons.stops import named

TIME_LIMIT = 240  # seconds for one chapter
WORKERS = 2


@dataclass(frozen=True)
class BlockRun:
    """What one block did.

    Attributes
    ----------
    printed : str
        Clean; for a doctest, the whole of it with what its lines say now.
    error : str
        Why it failed; empty if it did not.
    files : tuple of str
        Files below `out/` that it wrote.
    """

    printed: str
    error: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class ChapterRun:
    """What a chapter did.

    Attributes
    ----------
    chapter : Chapter
    blocks : dict of str to BlockRun
        By the id of the block, in the order in which they ran. It ends with one that failed.
    files : dict of str to bytes
        What stood in `out/` at the end.
    crash : str
        What the process said if it died; empty if it did not.
    """

    chapter: Chapter
    blocks: dict[str, BlockRun]
    files: dict[str, bytes] = field(default_factory=dict)
    crash: str = ""


def run_chapters(chapters: Sequence[Chapter], workers: int = WORKERS) -> Iterator[ChapterRun]:
    """Run chapters side by side; yield them in their order, each as soon as it is done."""
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(run_chapter, chapters)


def run_chapter(chapter: Chapter) -> ChapterRun:
    """Run all blocks of a chapter, once for all its languages."""
    with tempfile.TemporaryDirectory(prefix="kerascope-lesson-") as temporary:
        top = Path(temporary).resolve()
        folder, result = top / "work", top / "result.json"
        prepare_folder(folder)
        (top / "home").mkdir()
        crash = _run_child(chapter.main.blocks, folder, result, top / "home")
        rows = json.loads(result.read_text(encoding="utf-8")) if result.exists() else []
        roots = (str(folder), str(top), str(PACKAGE_PARENT))
        blocks = {
            row["id"]: BlockRun(
                named(clean(row["printed"], roots)),
                named(clean(row["error"], roots)),
                tuple(row["files"]),
            )
            for row in rows
        }
        files = {
            path.relative_to(folder).as_posix(): _stored(path)
            for path in sorted((folder / "out").rglob("*"))
            if path.is_file()
        }
    return ChapterRun(chapter, blocks, files, clean(crash, roots))


def _stored(path: Path) -> bytes:
    """Return a file that a chapter wrote as it is stored: a player shows places of our source."""
    if path.suffix != ".html":
        return path.read_bytes()
    return named(path.read_text(encoding="utf-8")).encode()


def prepare_folder(folder: Path) -> None:
    """Make a folder as the blocks of a chapter find it: the examples, and an empty `out/`."""
    (folder / "out").mkdir(parents=True)
    for path in sorted(examples_folder().glob("*.py")):
        shutil.copyfile(path, folder / path.name)


def _run_child(blocks: list[Block], folder: Path, result: Path, home: Path) -> str:
    """Run the blocks in a new process; return what it said if it died."""
    try:
        finished = subprocess.run(
            [sys.executable, "-m", "kerascope.lessons.child", str(result)],
            input=json.dumps([asdict(block) for block in blocks]),
            cwd=folder,
            env=calm_environment(home),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it was not done after {TIME_LIMIT} s"
    return finished.stderr.strip() if finished.returncode else ""
