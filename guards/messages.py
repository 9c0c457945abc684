"""The guard of the messages checks the form of the message of each `raise` and each warning.

    python -m guards.messages                print what is wrong, by file
    python -m guards.messages FOLDER ...     of some folders only
    python -m guards.messages --write        store the messages that need no remedy

A message contains the place, the expected value, the given value and the remedy::

    Dense 'dense_1': expected an input with 2 axes, got 3 (None, 4, 5). Add Flatten() before it.

Errors of Python's own classes are not checked. The package raises them only if Python's protocols
require them, or if its own code catches them and reports them in a message of this form.

Messages without a remedy are listed in `guards/messages.txt`. A new message either gets a
remedy, or is added to that list on purpose.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FILE = Path(__file__).with_name("messages.txt")
OK, WRONG, WRONG_USAGE = 0, 1, 2
HEADER = """\
# Messages that need no remedy: what is wrong says what to do, or nothing can be done.
# Written by
#     python -m guards.messages --write
"""
PYTHONS_OWN = {*dir(builtins), "UnpicklingError"}
VALUE, LIST = "◇", "◆"  # a value that is filled in; a list of names that is filled in

FORMS = {
    "starts in lower case without a place": r"^[a-z](?!(?:[^.?!\n]|\.(?=[\w◇]))*: )",
    "does not end as a sentence": r"[^.?!:)◇◆\n]$|^[^.?!]*[^.?!:,\n ] ?◇$",
    "'is no X': write 'is not an X'": r"(?<![Tt]here )\bis no (?!longer\b|more\b|less\b|need\b)\w",
    "'; expected' or '; got': join with a comma": r"; (?:expected|got)\b",
    "'got' before 'expected'": r"\bgot\b[^.]*\bexpected\b",
    "a list of names before the remedy": r"◆\.? +[A-Z`][^◇◆]{8,}",
}
PATTERNS = {name: re.compile(pattern, re.DOTALL) for name, pattern in FORMS.items()}
REMEDY = re.compile(
    r"\b[Ee]xpected\b|\bneeds?\b|\brequires?\b|\bmust\b|[.?!:;]\s+\(?\S|◇$|◆\.?$|\n"
)


class Message(NamedTuple):
    """The message of an error or warning, as it is written in the source.

    Attributes
    ----------
    path : str
        The file, from the root of the project.
    line : int
        The line of the `raise` or of the call, from 1.
    kind : str
        The class that is raised, or "warning".
    text : str
        The message, with ◇ for each value and ◆ for each list of names that is filled in.
    """

    path: str
    line: int
    kind: str
    text: str

    def faults(self) -> list[str]:
        """Return the names of the faults in the form of the message; [] if its form is right.

        Examples
        --------
        >>> Message("a.py", 1, "ValueError", "a layer is no model").faults()[0]
        'starts in lower case without a place'
        >>> Message("a.py", 1, "ValueError", "Dense ◇: expected 2 axes, got ◇.").faults()
        []
        """
        return [name for name, pattern in PATTERNS.items() if pattern.search(self.text)]

    @property
    def has_remedy(self) -> bool:
        """Whether the message says what was expected, or has a sentence about what to do."""
        return bool(REMEDY.search(self.text))


# --- reading --------------------------------------------------------------------------------------


def messages(path: Path) -> Iterator[Message]:
    """Yield those messages of a module that can be determined from its source."""
    place = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    for node in nodes:
        for kind, value in raised(node):
            for text in readings(value, functions):
                if " " in text.strip():
                    yield Message(place, node.lineno, kind, text)  # type: ignore[attr-defined]


def raised(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the class and the message expression of an AST node that raises or warns.

    Nothing is yielded for other nodes, and for Python's own errors.
    """
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
        name = ast.unparse(node.exc.func).rpartition(".")[2]
        if name[:1].isupper() and name not in PYTHONS_OWN:
            position = 1 if name == "ArgumentError" and len(node.exc.args) == 2 else 0
            yield name, node.exc.args[position]
    elif isinstance(node, ast.Call) and called(node) in ("warnings.warn", "warn"):
        yield from (("warning", text) for text in node.args[:1])


def called(call: ast.Call) -> str:
    """Return the name of the called function, such as `warnings.warn`; "" for other expressions.

    This is much faster than `ast.unparse`.
    """
    if isinstance(call.func, ast.Name):
        return call.func.id
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        return f"{call.func.value.id}.{call.func.attr}"
    return ""


def readings(value: ast.expr, functions: dict[str, ast.FunctionDef]) -> Iterator[str]:
    """Yield the possible texts of a message's expression, if the module's source determines them.

    A call of a function of the same module is replaced by the texts that the function returns.
    """
    if isinstance(value, ast.Constant):
        yield str(value.value)
    elif isinstance(value, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else placeholder(part)
            for part in value.values
        )
    elif isinstance(value, ast.IfExp):
        yield from readings(value.body, functions)
        yield from readings(value.orelse, functions)
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        for left in readings(value.left, functions):
            for right in readings(value.right, functions):
                yield left + right
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr in ("rstrip", "strip"):
            yield from (text.rstrip() for text in readings(value.func.value, functions))
        else:
            yield VALUE
    elif isinstance(value, ast.Call) and ast.unparse(value.func) in functions:
        for node in ast.walk(functions[ast.unparse(value.func)]):
            if isinstance(node, ast.Return) and isinstance(node.value, ast.JoinedStr):
                yield from readings(node.value, functions)
    else:
        yield VALUE


def placeholder(part: ast.expr) -> str:
    r"""Return the symbol for a formatted value in a message: ◆ for a list of names, otherwise ◇.

    Examples
    --------
    >>> parsed = ast.parse("f'{name}: {\", \".join(names)}'", mode="eval").body
    >>> [placeholder(part) for part in parsed.values if isinstance(part, ast.FormattedValue)]
    ['◇', '◆']
    """
    return LIST if ".join(" in ast.unparse(part) else VALUE


def files(places: Iterable[str]) -> Iterator[Path]:
    """Yield the Python files in files and folders, sorted within each folder."""
    for place in places:
        top = ROOT / place
        yield from [top] if top.is_file() else sorted(top.rglob("*.py"))


# --- the stored list ------------------------------------------------------------------------------


def without_remedy(found: Iterable[Message]) -> list[str]:
    """Return the messages that do not say what to do, each once, preceded by their file."""
    return sorted({f"{m.path}: {m.text.strip()}" for m in found if not m.has_remedy})


def read_stored(path: Path = FILE) -> list[str]:
    """Return the stored messages that need no remedy; empty without the file."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def write_stored(lines: Sequence[str], path: Path = FILE) -> None:
    """Store the messages that need no remedy."""
    path.write_bytes("\n".join([HEADER.rstrip("\n"), "", *lines, ""]).encode("utf-8"))


def faults(found: Iterable[Message], stored: Iterable[str]) -> list[str]:
    """Return a line for each message of a wrong form, and for each new message without a remedy."""
    allowed = set(stored)
    lines = []
    for message in found:
        wrong = message.faults()
        if not message.has_remedy and f"{message.path}: {message.text.strip()}" not in allowed:
            wrong.append("no remedy")
        lines += [f"{message.path}:{message.line}: {name}: {message.text!r}" for name in wrong]
    return lines


# --- the command ----------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    """Check the messages, or store those without a remedy; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python3 dev.py messages",
        description="Check the form of every message that the source raises or warns with.",
        epilog="exit codes: 0 all have the form of a message, 1 some have not, 2 wrong usage",
    )
    parser.add_argument("places", nargs="*", help="folders or files; kerascope by default")
    parser.add_argument("--write", action="store_true", help="store those without a remedy")
    options = parser.parse_args(words)
    missing = [place for place in options.places if not (ROOT / place).exists()]
    if missing:
        print(f"There is no {missing[0]} here. Give folders from the root.", file=sys.stderr)
        return WRONG_USAGE
    found = [m for path in files(options.places or ["kerascope"]) for m in messages(path)]
    if options.write:
        write_stored(without_remedy(found))
        print(f"{len(without_remedy(found))} messages without a remedy written to {FILE.name}")
        return OK
    lines = faults(found, read_stored())
    print(*lines, sep="\n", end="\n" if lines else "")
    print(f"{len(found)} messages, {len(lines)} faults")
    return WRONG if lines else OK


if __name__ == "__main__":
    sys.exit(main())
