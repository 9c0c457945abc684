"""Run chapters, each in a separate process and a new folder, two at a time.

The folder contains copies of the examples and an empty `out/`. Random numbers are seeded, hashes
are fixed, and the network is blocked, so a chapter prints the same on every run and machine.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kerascope.lessons import examples_folder
from kerascope.lessons.lesson import Block, Chapter
from kerascope.lessons.sessions import PACKAGE_PARENT, fixed_environment
from kerascope.lessons.stops import name_places

# --- cleaning: remove what differs between machines and runs -------------------------------------
# Paths are shortened, times are removed, and addresses are numbered in the order of their first
# occurrence: `0x7f00aa10c`, and the keys `'140187463812304-2'` of `seen_nodes`, which contain an id
# and a depth. Other integers are results, however long, so a lesson that shows identities must
# print `hex(id(x))`.


ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{5,}\b")
ID_AND_DEPTH = re.compile(r"(?<=')\d{10,}(?=-\d+')")
_NAME = r"[\w.+@-]+(?: [\w.+@-]+)*"
PATH = re.compile(rf"(?<![\w:/.~])(?:(?:/{_NAME})+/|[A-Za-z]:\\(?:{_NAME}\\)*)([\w.+@-]+)")
TIME = re.compile(
    r"(?<![\w.])(?:\d+(?:\.\d+)?(?:e-?\d+)? ?(?:ms|us|µs|ns|s|sec|seconds)"
    r"(?:/(?:step|sample|epoch|batch))?|\d+:\d\d:\d\d)(?![\w/])"
)
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def clean(text: str, roots: Iterable[str] = ()) -> str:
    """Return an output without paths, times and addresses, as lessons store it.

    Parameters
    ----------
    text : str
    roots : iterable of str
        Folders whose names are removed from paths: the chapter's working folder and the parent of
        the package. Of any other path, only the file name remains.

    Examples
    --------
    >>> clean("> /home/me/keras/engine/node.py(9)f()", ["/home/me"])
    '> keras/engine/node.py(9)f()'
    >>> clean("<A at 0x7f00aa10c> <B at 0x7f00aa20c> <A at 0x7f00aa10c>")
    '<A at 0x1> <B at 0x2> <A at 0x1>'
    >>> clean("32/50 [=====>...] - 0s 12ms/step - loss: 0.5")
    '32/50 [=====>...] - loss: 0.5'
    """
    text = ANSI.sub("", text.replace("\r\n", "\n"))
    for root in roots:
        for ending in ("/", "\\"):
            text = text.replace(root.rstrip("/\\") + ending, "")
    text = PATH.sub(lambda match: match[1], text)
    return number_addresses(without_times(text))


def without_times(text: str) -> str:
    """Return a text without durations, and without the space or dash before each duration.

    Examples
    --------
    >>> without_times("done in 3.2 s; 7 ms/step")
    'done in;'
    """
    return re.sub(rf"(?: - | )?{TIME.pattern}", "", text)


def number_addresses(text: str) -> str:
    """Return a text with ids and addresses replaced by 1, 2, ... in the order of occurrence.

    An id becomes a number of ten digits, so that it still looks like an id.

    Examples
    --------
    >>> number_addresses("'140187463812304-0' '140187463812999-1' '140187463812304-2'")
    "'1000000001-0' '1000000002-1' '1000000001-2'"
    >>> number_addresses("38654705664 operations")
    '38654705664 operations'
    """
    seen: dict[str, int] = {}

    def number(found: str) -> int:
        return seen.setdefault(found, len(seen) + 1)

    text = ADDRESS.sub(lambda match: f"0x{number(match[0].lower())}", text)
    return ID_AND_DEPTH.sub(lambda match: str(1_000_000_000 + number(match[0])), text)


# --- running --------------------------------------------------------------------------------------


TIME_LIMIT = 240  # seconds for one chapter
WORKERS = 2


@dataclass(frozen=True)
class BlockRun:
    """The result of running one block.

    Attributes
    ----------
    printed : str
        The cleaned output; for a doctest, its source with the new outputs.
    error : str
        Why the block failed; empty if the block succeeded.
    files : tuple of str
        The files in `out/` that the block wrote.
    """

    printed: str
    error: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class ChapterRun:
    """The result of running a chapter.

    Attributes
    ----------
    chapter : Chapter
    blocks : dict of str to BlockRun
        Results by block id, in the order of running. After a failed block, no block is run.
    files : dict of str to bytes
        The files in `out/` at the end.
    crash : str
        The error output of the process if it failed, otherwise empty.
    """

    chapter: Chapter
    blocks: dict[str, BlockRun]
    files: dict[str, bytes] = field(default_factory=dict)
    crash: str = ""


def run_chapters(chapters: Sequence[Chapter], workers: int = WORKERS) -> Iterator[ChapterRun]:
    """Run chapters in parallel; yield results in order, each as soon as it is available."""
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
                name_places(clean(row["printed"], roots)),
                name_places(clean(row["error"], roots)),
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
    """Return the content to store for a file; in HTML, function names replace line numbers."""
    if path.suffix != ".html":
        return path.read_bytes()
    return name_places(path.read_text(encoding="utf-8")).encode()


def prepare_folder(folder: Path) -> None:
    """Create the working folder of a chapter: the examples, and an empty `out/`."""
    (folder / "out").mkdir(parents=True)
    for path in sorted(examples_folder().glob("*.py")):
        shutil.copyfile(path, folder / path.name)


def _run_child(blocks: list[Block], folder: Path, result: Path, home: Path) -> str:
    """Run the blocks in a new process; return its error output if it failed, otherwise ""."""
    try:
        finished = subprocess.run(
            [sys.executable, "-m", "kerascope.lessons.child", str(result)],
            input=json.dumps([asdict(block) for block in blocks]),
            cwd=folder,
            env=fixed_environment(home),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it was not done after {TIME_LIMIT} s"
    return finished.stderr.strip() if finished.returncode else ""
