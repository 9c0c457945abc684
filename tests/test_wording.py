"""How messages and docstrings are written in the source: no cut messages, no files that are gone.

A message is broken where the line is full. A piece of a few letters in the middle is left of an
edit, and a search for the message does not find it.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "kerascope"
# A line with one short string, between a line that ends with a string and one that begins with one.
SHORT_PIECE = re.compile(r"""(?<=["']\n) *([frb]*(["']).{0,23}\2)\n(?= *[frb]*["'])""")
# Files of the real Keras, of which docstrings say what is in them, and one of `examples/`.
OTHERS = {
    "backend/common.py",
    "engine/topology.py",
    "engine/training_arrays.py",
    "engine/training.py",
    "example.py",
    "ops/function.py",
    "ops/node.py",
    "trainers/compile_utils.py",
    "layers/layer.py",
    "training_arrays.py",
    "training_generator.py",
}


def short_pieces(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each short piece in the middle of a text of several lines."""
    for found in SHORT_PIECE.finditer(source):
        yield source.count("\n", 0, found.start()) + 1, found[1]


def files_named(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each file that a source names and that is not there.

    A name without a folder means a file below the same top folder, or one beside it.
    """
    top = path.relative_to(PACKAGE).parts[0]
    near = {name.rpartition("/")[2] for name in files() if name.split("/")[0] == top}
    near |= {name for name in files() if "/" not in name}
    for line, words in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for found in re.findall(r"`([\w/]+\.py)`", words):
            name = found.removeprefix("kerascope/")
            is_there = any(one.endswith(f"/{name}") or one == name for one in files())
            if found not in OTHERS and not (is_there if "/" in name else name in near):
                yield line, found


@cache
def files() -> list[str]:
    """Return the paths of the package's files below its folder."""
    return [path.relative_to(PACKAGE).as_posix() for path in sorted(PACKAGE.rglob("*.py"))]


def test_no_message_is_cut_into_fragments() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, text in short_pieces(path.read_text(encoding="utf-8"))
    ]
    assert found == []
    planted = 'raise E(\n    f"{where}: a call of its "\n    "own. "\n    "Write it."\n)\n'
    assert list(short_pieces(planted)) == [(3, '"own. "')]


def test_files_that_docstrings_name_are_there() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, name in files_named(path)
    ]
    assert found == []
