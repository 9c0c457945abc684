"""The guard of names compares what users can write, read and rely on with a stored list.

    python -m guards.names            compare; print the differences, with exit code 1
    python -m guards.names --write    accept the differences: write `guards/names.txt` again

The list contains what users rely on: public names with their arguments, commands and options,
settings, events and their fields, the names that a paused stage shows, log keys, attributes of
exports. If you change one of them on purpose, write the list again; the commit then shows the
change. The module that defines a name is not in the list.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from guards.commands import (
    command_line_facts,
    debugger_facts,
    environment_facts,
    setting_facts,
)
from guards.happenings import dialect_facts, happening_facts
from guards.interface import (
    DIALECTS,
    Places,
    keras_facts,
    marked_by_dialect,
    package_facts,
    path_facts,
    refusal_facts,
    speaking,
)

FILE = Path(__file__).with_name("names.txt")
SAME, DIFFERENT, WRONG_USAGE = 0, 1, 2
HEADER = """\
# What users can write, read and rely on, one fact for each line; written by
#     python -m guards.names --write
# [1.2 2.2] in front: it holds in these dialects only. = : it is the same thing as that one.
"""


class Differences(NamedTuple):
    """The differences between the stored list and the present facts.

    Attributes
    ----------
    removed, added : tuple of str
        The facts that are only in the stored list, and those that are only present now.
    changed : tuple of (str, str, str)
        The subject, the stored fact and the present fact.
    """

    removed: tuple[str, ...]
    added: tuple[str, ...]
    changed: tuple[tuple[str, str, str], ...]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report: the removed, the added and the changed facts."""
        for fact in self.removed:
            yield f"removed  {fact}"
        for fact in self.added:
            yield f"added    {fact}"
        for subject, before, now in self.changed:
            yield f"changed  {subject}"
            yield f"    was  {before}"
            yield f"    is   {now}"


def name_facts(stored: Iterable[str] = ()) -> list[str]:
    """Return the facts about names in all dialects.

    A name in the stored facts stays public, wherever it is defined now.
    """
    promised = [place for fact in stored if (place := promised_place(fact))]

    def told() -> Iterator[str]:
        places = Places(promised)
        yield from package_facts(places)
        yield from keras_facts(places)

    by_dialect = {}
    for dialect in DIALECTS:
        with speaking(dialect):
            by_dialect[dialect] = list(told())
    return list(marked_by_dialect(by_dialect))


def promised_place(fact: str) -> str | None:
    """Return the public name that a fact is about; None for a fact about anything else.

    Examples
    --------
    >>> promised_place("import keras.engine.topology.Dot = kerascope.layers.Dot")
    'keras.engine.topology.Dot'
    >>> promised_place("setting floatx: 'float32'")
    """
    found = re.match(r"(?:\[.*\] )?(?:name|import) ([\w.]+\.\w+)(?: = |: (?!all of))", fact)
    return found[1] if found else None


def paths_of(stored: Iterable[str]) -> list[str]:
    """Return the module paths that are mentioned in the stored facts."""
    return [fact.removeprefix("path ") for fact in stored if fact.startswith("path ")]


def all_facts(stored: Iterable[str] = ()) -> list[str]:
    """Return all facts about the present code, sorted, each once."""
    stored = list(stored)
    with speaking("2.2"):
        facts = [*name_facts(stored), *path_facts(paths_of(stored))]
        facts += refusal_facts()
        for more in (command_line_facts, debugger_facts, setting_facts, environment_facts):
            facts += more()
        facts += happening_facts()
    facts += marked_by_dialect(dialect_facts())
    return sorted(set(facts))


# --- comparing ------------------------------------------------------------------------------------


def differences(stored: Iterable[str], present: Iterable[str]) -> Differences:
    r"""Compare the stored facts with the present ones, and return the differences.

    Examples
    --------
    >>> found = differences(["name f: (x)", "event a"], ["name f: (y)", "event b"])
    >>> print(*found.lines(), sep="\n")
    removed  event a
    added    event b
    changed  name f
        was  (x)
        is   (y)
    """
    gone, new = set(stored) - set(present), set(present) - set(stored)
    before, now = by_subject(gone), by_subject(new)
    changed = {
        subject: (before[subject][0], now[subject][0])
        for subject in before.keys() & now.keys()
        if len(before[subject]) == len(now[subject]) == 1
    }
    told = [(subject, *pair) for subject, pair in sorted(changed.items())]
    return Differences(
        tuple(sorted(fact for fact in gone if split_fact(fact)[0] not in changed)),
        tuple(sorted(fact for fact in new if split_fact(fact)[0] not in changed)),
        tuple((subject, was, is_now) for subject, was, is_now in told),
    )


def split_fact(fact: str) -> tuple[str, str]:
    """Split a fact into its subject and its statement."""
    subject, _, said = fact.partition(": ")
    return subject, said


def by_subject(facts: Iterable[str]) -> dict[str, list[str]]:
    """Return facts in a dict from their subject, the text before ": ", to the texts after it."""
    found: dict[str, list[str]] = {}
    for subject, said in map(split_fact, facts):
        if said:
            found.setdefault(subject, []).append(said)
    return found


# --- the file -------------------------------------------------------------------------------------


def read(path: Path = FILE) -> list[str]:
    """Return the stored facts; empty without the file."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def write(facts: Sequence[str], path: Path = FILE) -> None:
    """Write facts to the stored list."""
    text = "\n".join([HEADER.rstrip("\n"), "", *facts, ""])
    path.write_bytes(text.encode("utf-8"))


# --- the command ----------------------------------------------------------------------------------


def main(
    words: Sequence[str] | None = None,
    facts: Callable[[Iterable[str]], list[str]] = all_facts,
    path: Path = FILE,
) -> int:
    """Compare the facts with the stored list, or write it; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m guards.names",
        description="Compare all that users can name with the stored list, guards/names.txt.",
        epilog="exit codes: 0 the same, 1 something differs, 2 wrong usage or no stored list",
    )
    parser.add_argument("--write", action="store_true", help="store the present facts")
    options = parser.parse_args(words)
    stored = read(path)
    if not stored and not options.write:
        print(f"There is no {path}. Create it with --write.", file=sys.stderr)
        return WRONG_USAGE
    present = facts(stored)
    found = differences(stored, present)
    count = f"{len(found.removed)} removed, {len(found.added)} added, {len(found.changed)} changed"
    if options.write:
        write(present, path)
        print(f"{len(present)} facts written to {path.name}: {count}")
        return SAME
    if any(found):
        print(*found.lines(), sep="\n")
        print(f"{count}; if that is meant: python -m guards.names --write")
        return DIFFERENT
    print(f"{len(present)} facts, all as stored")
    return SAME


if __name__ == "__main__":
    sys.exit(main())
