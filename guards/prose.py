"""The guard of the English counts stiff phrases in each folder, which may only become fewer.

    python -m guards.prose                       compare each folder with its stored ceiling
    python -m guards.prose --write               lower the ceilings to what is counted now
    python -m guards.prose --lines [FOLDER ...]  print each phrase found with its place
    python -m guards.prose --sample 20 --seed 7  print docstrings at random, to be read

It reads docstrings, comments, messages and documents. The count is a thermometer: a low count does
not make a sentence good. Read the sample without the code: a docstring that does not say what its
function is for has to be rewritten.
"""

from __future__ import annotations

import argparse
import ast
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FILE = Path(__file__).with_name("prose.txt")
OK, TOO_MANY, WRONG_USAGE = 0, 1, 2
# Marks in a thousand sentences: of a folder without a stored ceiling, and the lowest ceiling, since
# such a phrase is right now and then.
NEW_FOLDER, LOWEST = 10, 5
READ = [
    *("kerascope", "guards", "benchmarks", "examples", "docs", "tutorials", "dev.py"),
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md"),
]
HEADER = """\
# Stiff phrases in a thousand sentences, at most; written by
#     python -m guards.prose --write
"""

# What to write instead is in CONTRIBUTING.md.
MARKS = {
    "code that tells": r"\b(?:is|are|was|were|be) told\b"
    r"|\bTell (?:whether|of|that|what|which|from)\b|\btells? (?:of|whether|who|what)\b",
    "code that hears": r"\b(?:is|are|was|be|to) heard\b|\bhears? (?:of|that|all)\b|\bunheard\b",
    "who, for if you": r"(?:^|[.:;,] )[Ww]ho(?:ever)? (?:only )?(?:\w+s|does|has|is)\b",
    "somebody, nobody": r"\b(?:[Ss]omebody|[Nn]obody|[Ss]omeone|[Nn]o one)\b",
    "stands, lies, for is": r"\b(?:stand|lie)s? "
    r"(?:in|at|on|for|behind|before|above|below|under|beside|there|where)\b",
    "goes on, beside": r"\bgo(?:es)? on\b|\bbeside\b(?![=:])|\bbehind (?:it|them|that)\b",
    "is no": r"\b(?:is|are) no (?!longer\b|more\b|less\b|lower\b|need\b|way\b)\w+\b",
    "so many, of which": r"\bsuch (?:as|that) (?:have|has|are|is|come|were)\b"
    r"|\bso many\b|\bof (?:which|whom|whose)\b",
    "if none is": r"\bif (?:none|any|one) is\b",
    "what, for a noun": r"\b(?:Return|Give|Show|Say|Write|Keep|Make|Note) what\b|\bof what\b"
    r"|\bwhat (?:is|was|has been) (?:given|fed|made|computed|drawn|left|known|read|asked|shown)\b",
    "let, shall, made good": r"\bLet an? \w+\b|\bshall\b|\bmade good\b",
    "one that, ones": r"\bone that\b|\b(?:known|such|own|old|new) ones\b",
}
PATTERNS = {name: re.compile(pattern, re.MULTILINE) for name, pattern in MARKS.items()}


class Passage(NamedTuple):
    """A docstring, comment, message or line of a document.

    Attributes
    ----------
    path : str
        The file, from the root of the project.
    line : int
        The line, from 1.
    kind : {"docstring", "comment", "message", "text"}
    text : str
    """

    path: str
    line: int
    kind: str
    text: str

    @property
    def sentences(self) -> int:
        """The number of sentences in the passage, at least 1."""
        return max(1, len(re.findall(r"[.!?:](?:\s|$)", self.text)))

    def marks(self) -> Iterator[tuple[str, str]]:
        """Yield each stiff phrase of the passage, preceded by the name of its kind.

        Examples
        --------
        >>> list(Passage("a.py", 1, "comment", "Nobody knows.").marks())
        [('somebody, nobody', 'Nobody')]
        """
        for name, pattern in PATTERNS.items():
            for found in pattern.finditer(self.text):
                yield name, found[0]


# --- reading --------------------------------------------------------------------------------------


def passages(path: Path) -> Iterator[Passage]:
    """Yield the prose of a Python file or a document."""
    source = path.read_text(encoding="utf-8")
    place = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)
    found = python_prose(source) if path.suffix == ".py" else document_prose(source)
    for line, kind, text in found:
        yield Passage(place, line, kind, text)


def document_prose(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield the lines of a Markdown text that are outside of its blocks of code."""
    in_code = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield number, "text", line


def python_prose(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield the docstrings without their examples, the messages and the comments of a module."""
    docstrings = set()
    nodes = list(ast.walk(ast.parse(source)))
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                docstrings.add(id(node.body[0].value))  # type: ignore[attr-defined]
                lines = (line for line in text.splitlines() if not is_example(line))
                yield getattr(node, "lineno", 1), "docstring", "\n".join(lines)
    for node in nodes:
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        if isinstance(node.value, str) and node.value.count(" ") > 3:
            yield node.lineno, "message", node.value
    for number, line in enumerate(source.splitlines(), 1):
        found = re.search(r"(?:^|\s)# (?!noqa|type:|ruff:|---)(.+)$", line)
        if found:
            yield number, "comment", found[1]


def is_example(line: str) -> bool:
    """Return whether a line of a docstring is code of an example."""
    return line.strip().startswith((">>>", "..."))


def files(places: Iterable[str]) -> Iterator[Path]:
    """Yield the Python files and English documents in files and folders, sorted within each."""
    for place in places:
        top = ROOT / place
        found = [top] if top.is_file() else sorted(top.rglob("*"))
        for path in found:
            if path.suffix in (".py", ".md") and ".zh." not in path.name:
                yield path


def folder_of(path: str) -> str:
    """Return the folder that a file is counted in: its first two folders, or its own name.

    Examples
    --------
    >>> folder_of("kerascope/viz/layout/ladder.py"), folder_of("docs/tour.md"), folder_of("dev.py")
    ('kerascope/viz', 'docs', 'dev.py')
    """
    parts = path.split("/")
    if parts[0] == "tutorials":
        return parts[0]
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


# --- counting and comparing -----------------------------------------------------------------------


def rates(found: Iterable[Passage]) -> dict[str, float]:
    """Return how many stiff phrases each folder has in a thousand sentences, to one decimal.

    Examples
    --------
    >>> rates([Passage("dev.py", 1, "comment", "It is told."), Passage("a/b/c.py", 1, "text", "")])
    {'a/b': 0.0, 'dev.py': 1000.0}
    """
    marks: Counter[str] = Counter()
    sentences: Counter[str] = Counter()
    for passage in found:
        folder = folder_of(passage.path)
        sentences[folder] += passage.sentences
        marks[folder] += sum(1 for _ in passage.marks())
    return {name: round(1000 * marks[name] / sentences[name], 1) for name in sorted(sentences)}


def too_many(present: dict[str, float], ceilings: dict[str, int]) -> list[str]:
    """Return a line for each folder that has more stiff phrases than its ceiling allows.

    Examples
    --------
    >>> too_many({"docs": 11.2, "dev.py": 3.0}, {"docs": 9, "dev.py": 3})
    ['docs: 11.2 marks in a thousand sentences, at most 9 allowed']
    """
    return [
        f"{name}: {rate} marks in a thousand sentences, at most {allowed} allowed"
        for name, rate in present.items()
        if rate > (allowed := ceilings.get(name, NEW_FOLDER))
    ]


def lowered(present: dict[str, float], ceilings: dict[str, int]) -> dict[str, int]:
    """Return new ceilings for the folders: the counted rates, but never above the old ceilings.

    Examples
    --------
    >>> lowered({"docs": 7.2, "dev.py": 30.0}, {"docs": 9, "dev.py": 12, "gone": 4})
    {'docs': 8, 'dev.py': 12}
    >>> lowered({"docs": 0.0}, {"docs": 9})
    {'docs': 5}
    """
    needed = {name: max(LOWEST, math.ceil(rate)) for name, rate in present.items()}
    return {name: max(LOWEST, min(one, ceilings.get(name, one))) for name, one in needed.items()}


def read_ceilings(path: Path = FILE) -> dict[str, int]:
    """Return the stored ceiling of each folder: its allowed number of stiff phrases.

    The dict is empty if the file does not exist.
    """
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines if line and not line.startswith("#"))
    return {name: int(ceiling) for name, ceiling in pairs}


def write_ceilings(ceilings: dict[str, int], path: Path = FILE) -> None:
    """Store the ceiling of each folder: its allowed number of stiff phrases."""
    width = max(map(len, ceilings), default=0)
    lines = (f"{name:{width}} {ceiling:3d}\n" for name, ceiling in sorted(ceilings.items()))
    path.write_bytes((HEADER + "\n" + "".join(lines)).encode("utf-8"))


def first_paragraphs(found: Iterable[Passage]) -> list[str]:
    """Return the place (file and line) and the first paragraph of each docstring."""
    return [
        f"{p.path}:{p.line}: {' '.join(p.text.split(chr(10) * 2)[0].split())}"
        for p in found
        if p.kind == "docstring"
    ]


# --- the command ----------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    """Count stiff phrases, and compare, write or print as the options say; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python3 dev.py prose",
        description="Count stiff phrases and compare each folder with its stored ceiling.",
        epilog="exit codes: 0 no folder is above its ceiling, 1 one is, 2 wrong usage",
    )
    parser.add_argument("places", nargs="*", help="folders or files; all by default")
    parser.add_argument("--write", action="store_true", help="lower the stored ceilings")
    parser.add_argument("--lines", action="store_true", help="print each phrase with its place")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="print N docstrings")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the sample")
    options = parser.parse_args(words)
    missing = [place for place in options.places if not (ROOT / place).exists()]
    if missing:
        print(f"There is no {missing[0]} here. Give folders from the root.", file=sys.stderr)
        return WRONG_USAGE
    if options.write and options.places:
        print("--write stores all folders. Give no places with it.", file=sys.stderr)
        return WRONG_USAGE
    found = [p for path in files(options.places or READ) for p in passages(path)]
    if options.lines:
        for passage in found:
            for name, phrase in passage.marks():
                print(f"{passage.path}:{passage.line}: {phrase!r} ({name})")
    docstrings = first_paragraphs(found)
    chosen = random.Random(options.seed).sample(docstrings, min(options.sample, len(docstrings)))
    if chosen:
        print(*chosen, sep="\n")
    present, ceilings = rates(found), read_ceilings()
    if options.write:
        write_ceilings(lowered(present, ceilings))
        print(f"{len(present)} ceilings written to {FILE.name}")
        return OK
    for name, rate in sorted(present.items(), key=lambda item: -item[1]):
        print(f"{rate:7.1f}  {name}")
    above = too_many(present, ceilings)
    print(*above, sep="\n", end="\n" if above else "")
    return TOO_MANY if above else OK


if __name__ == "__main__":
    sys.exit(main())
