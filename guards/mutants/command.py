"""The command chooses mutants, runs the tests against each, and reports the survivors."""

from __future__ import annotations

import argparse
import json
import queue
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from guards.checkouts import ROOT, Mistake, copied
from guards.mutants.choosing import Edit, Mutant, chosen
from guards.mutants.running import Known, Place

EPILOGUE = """
examples:
  python -m guards.mutants backend engine --number 60 --seed 1
  python -m guards.mutants engine --tests tests/layers tests/saving --json mutants.json
  python -m guards.mutants backend --of 4a5e894 --number 60       another revision, its own tests
  python -m guards.mutants --again mutants.json --tests tests     the survivors, against more tests
  python -m guards.mutants --exercises                            the solutions of the course

exit codes: 0 the tests killed as many as --least says; 1 they did not; 2 it could not be asked.
What is never changed, and why: guards/mutants/choosing.py.
"""


def options(words: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m guards.mutants",
        description=__doc__,
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folders", nargs="*", help="of kerascope: engine, backend/ops, stage.py")
    parser.add_argument("--number", type=int, default=20, help="how many mutants (default: 20)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other mutants")
    parser.add_argument("--tests", nargs="+", default=[], metavar="PATH", help="more tests")
    parser.add_argument("--of", default=str(ROOT), metavar="CHECKOUT", help="folder or revision")
    parser.add_argument("--again", type=Path, metavar="JSON", help="only the survivors in a file")
    parser.add_argument("--least", type=float, default=85.0, help="percent (default: 85)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: 2)")
    parser.add_argument("--json", type=Path, help="write the table as JSON, after each mutant")
    found = parser.parse_args(words)
    if not found.folders and not found.again:
        parser.error("which folders of kerascope? For example: engine backend")
    if found.number < 1 or found.jobs < 1:
        parser.error("--number and --jobs are 1 or more")
    return found


def own_tests(root: Path, folders: list[str]) -> list[str]:
    """Return where the tests of kerascope's folders are: tests/<folder> and <folder> (doctests).

    Raises
    ------
    Mistake
        If a folder does not exist.
    """
    tests = []
    for folder in folders:
        place = root / "kerascope" / folder
        if not place.exists():
            raise Mistake(f"there is no kerascope/{folder} in {root}")
        beside = [root / "tests" / folder, place]
        if place.suffix == ".py":
            # Not the file itself: pytest would compile it again, without the probes.
            beside = [(root / "tests" / folder).with_name(f"test_{place.name}")]
        tests += [str(path.relative_to(root)) for path in beside if path.exists()]
    return tests


def survivors(file: Path) -> list[Mutant]:
    """Return the mutants that no test killed, from a file that `--json` wrote."""
    rows = json.loads(file.read_text(encoding="utf-8"))["mutants"]
    return [
        Mutant(row["path"], Edit(**row["edit"]), row["before"], row["after"])
        for row in rows
        if row["outcome"] != "killed"
    ]


def rate(rows: list[dict[str, Any]]) -> float:
    """Return the percentage of mutants that a test killed, that is, detected; 0 without mutants.

    Examples
    --------
    >>> rate([{"outcome": "killed"}, {"outcome": "survived"}])
    50.0
    """
    killed = sum(row["outcome"] == "killed" for row in rows)
    return 100 * killed / len(rows) if rows else 0.0


def line_of(row: dict[str, Any]) -> str:
    """Return the lines of the report about one mutant."""
    become = {
        "killed": f"killed by {row['by']}",
        "survived": f"SURVIVED {row['reached_by']} tests that reach the line",
        "not reached": "NOT REACHED by any test",
    }
    return (
        f"{row['path']}:{row['line']}  {row['what']}: {become[row['outcome']]}\n"
        f"    - {row['before']}\n    + {row['after']}"
    )


def asked(found: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Do what the options request: choose mutants and run their tests in copies; return results."""
    root = copied(found.of, folder_for(folder, 0) / "checkout")
    if found.again:
        mutants, tests = survivors(found.again), list(found.tests)
    else:
        paths = [f"kerascope/{name}" for name in found.folders]
        tests = [*own_tests(root, found.folders), *found.tests]
        mutants = chosen(root, paths, found.number, found.seed)
    if not tests:
        raise Mistake("no tests: name some with --tests")
    for test in tests:
        if not (root / test).exists():
            raise Mistake(f"there is no {test!r} in {found.of}")
    first = Place(folder_for(folder, 0), tests)
    say(f"{len(mutants)} mutants; which tests reach them: running {' '.join(tests)} once")
    known = first.without_mutants(mutants, found.jobs)
    reached = len(known.reach)
    say(f"{len(known.seconds)} tests pass, {reached} of {len(mutants)} mutants are reached")
    for test in known.failing:
        say(f"not used, it fails without any mutant: {test}")
    places: queue.Queue[Place] = queue.Queue()
    places.put(first)
    for number in range(1, found.jobs):
        shutil.copytree(root, folder_for(folder, number) / "checkout")
        places.put(Place(folder_for(folder, number), tests))
    return run_all(mutants, known, places, found)


def run_all(
    mutants: list[Mutant], known: Known, places: queue.Queue[Place], found: argparse.Namespace
) -> list[dict[str, Any]]:
    """Test each mutant in a copy of the checkout that is not in use, and print its result."""

    def run(number: int) -> dict[str, Any]:
        place = places.get()
        try:
            return place.of_mutant(mutants[number], number, known)
        finally:
            places.put(place)

    rows: dict[int, dict[str, Any]] = {}
    with ThreadPoolExecutor(found.jobs) as several:
        waiting = {several.submit(run, number): number for number in range(len(mutants))}
        for done in as_completed(waiting):
            rows[waiting[done]] = done.result()
            say(f"[{len(rows)}/{len(mutants)}] {line_of(done.result())}")
            ordered = [rows[number] for number in sorted(rows)]
            if found.json:
                write(found, ordered, known)
    return ordered


def write(found: argparse.Namespace, rows: list[dict[str, Any]], known: Known) -> None:
    """Write the results of all mutants so far to the file named by `--json`."""
    table = {
        "of": found.of,
        "folders": found.folders,
        "more_tests": found.tests,
        "seed": found.seed,
        "number": len(rows),
        "rate": rate(rows),
        "failing_without": known.failing,
        "mutants": rows,
    }
    found.json.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def folder_for(folder: Path, number: int) -> Path:
    """Return the folder for the job with this number, and create it if necessary."""
    place = folder / f"job{number}"
    place.mkdir(exist_ok=True)
    return place


def say(text: str) -> None:
    """Print a line without delay, because a run takes minutes."""
    print(text, flush=True)


def main(words: list[str]) -> int:
    """Run the command; return the exit code."""
    found = options(words)
    try:
        with tempfile.TemporaryDirectory(prefix="kerascope-mutants-") as folder:
            rows = asked(found, Path(folder))
    except (Mistake, RuntimeError) as mistake:
        print(f"guards.mutants: {mistake}", file=sys.stderr)
        return 2
    left = [row for row in rows if row["outcome"] != "killed"]
    say("\n".join(["", f"{len(left)} left:" if left else "none left", *map(line_of, left)]))
    reached = rate(rows)
    say(f"\n{reached:.1f} % of {len(rows)} mutants killed; at least {found.least:g} % are wanted")
    return 0 if reached >= found.least else 1
