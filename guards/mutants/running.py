"""Runs the tests of a copied checkout: once to see which lines they reach, then for each mutant."""

from __future__ import annotations

import compileall
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from guards.mutants import reaching
from guards.mutants.choosing import Mutant

BATCHES = ((6, 4.0), (30, 30.0))
"""Files and seconds of the first runs of a mutant's tests: most mutants end there."""

LEAST_LIMIT, TIMES = 240.0, 20.0
"""A run may take this many seconds and this many times what its tests took without a mutant."""

LARGE = re.compile(r"^(?:import|from) (?:keras|jax|pandas|scipy|sklearn)\b", re.MULTILINE)
"""Test files that load much come last."""


@dataclass(frozen=True)
class Outcome:
    """The result of a run of tests on a mutant: whether a test failed, and which one."""

    killed: bool
    by: str = ""


@dataclass
class Known:
    """The results of the tests on the unchanged source, and the mutants that each test reaches."""

    seconds: dict[str, float] = field(default_factory=dict)
    failing: list[str] = field(default_factory=list)
    reach: dict[int, set[str]] = field(default_factory=dict)


class Place:
    """A copy of a checkout in which tests can be run, with the pytest plugin."""

    def __init__(self, folder: Path, tests: list[str]) -> None:
        self.folder, self.root, self.tests = folder, folder / "checkout", tests
        self.orders, self.report = folder / "orders.json", folder / "report.jsonl"
        shutil.copy(Path(__file__).with_name("plugin.py"), folder / "kerascope_mutants_plugin.py")

    def pytest(
        self, files: list[str], tests: list[str] | None, limit: float | None, *words: str
    ) -> int | None:
        """Run pytest in the copy; return its exit code, or None after a timeout."""
        self.report.unlink(missing_ok=True)
        orders = {"tests": tests, "report": str(self.report)}
        self.orders.write_text(json.dumps(orders), encoding="utf-8")
        variables = dict(os.environ)
        variables.pop("PYTHONPYCACHEPREFIX", None)  # the probes are in __pycache__
        variables.update(
            PYTHONPATH=os.pathsep.join([str(self.root), str(self.folder)]),
            KERASCOPE_MUTANTS=str(self.orders),
            OPENBLAS_NUM_THREADS="1",
            PYTHONUTF8="1",
        )
        variables.pop("PYTEST_ADDOPTS", None)
        if tests is not None:
            variables["PYTHONDONTWRITEBYTECODE"] = "1"  # leave no byte code of a mutant
        command = [sys.executable, "-m", "pytest", "-q", "-p", "kerascope_mutants_plugin"]
        command += ["-p", "no:cacheprovider", "--tb=no", "--no-header", *words, *files]
        with (self.folder / "output.txt").open("w") as output:
            process = subprocess.Popen(
                command,
                cwd=self.root,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=os.name != "nt",
            )
            try:
                return process.wait(timeout=limit)
            except subprocess.TimeoutExpired:
                return None
            finally:
                end(process)

    def reports(self) -> list[Any]:
        """Return [test, outcome, seconds] for each phase of each test in the last run of pytest."""
        if not self.report.exists():
            return []
        return [json.loads(line) for line in self.report.read_text("utf-8").splitlines()]

    # --- without a mutant ------------------------------------------------------------------------

    def without_mutants(self, mutants: list[Mutant], processes: int) -> Known:
        """Run all tests once on the unchanged source; return their results.

        Probes record which tests reach which mutants.
        """
        notes = self.folder / "notes.txt"
        planted = reaching.plant(self.root, mutants, notes, self.folder)
        words = ["-n", str(processes), "--dist", "loadfile"] if processes > 1 else []
        code = self.pytest(self.tests, None, None, *words)
        if code not in (0, 1):
            output = (self.folder / "output.txt").read_text(errors="replace")
            raise RuntimeError(f"pytest ended with {code} without any mutant:\n{output[-3000:]}")
        found, failing = Known(), set()
        for test, outcome, seconds in self.reports():
            found.seconds[test] = found.seconds.get(test, 0.0) + seconds
            if outcome == "failed":
                failing.add(test)
        for test in failing:
            del found.seconds[test]
        found.failing = sorted(failing)
        found.reach = reaching.read(notes, list(found.seconds))
        for path in planted:
            path.unlink()
        compileall.compile_dir(str(self.root / "kerascope"), quiet=2)
        return found

    # --- with one --------------------------------------------------------------------------------

    def of_mutant(self, mutant: Mutant, number: int, known: Known) -> dict[str, Any]:
        """Run the tests that reach a mutant until one fails; return the result for the report.

        The tests that are most likely to fail run first.
        """
        path = self.root / mutant.path
        source, times = path.read_bytes(), path.stat()
        path.write_bytes(mutant.edit.mutated(source.decode()).encode())
        # Python recognizes stale byte code by the source's size and time, so both must change.
        os.utime(path, (times.st_atime + 3600, times.st_mtime + 3600))
        reaching_it = known.reach.get(number, set())
        outcome = Outcome(False)
        try:
            for tests in batches(mutant, reaching_it, known.seconds, self.root):
                outcome = self.outcome(tests, known)
                if outcome.killed:
                    break
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        said = "killed" if outcome.killed else "survived" if reaching_it else "not reached"
        return {
            "path": mutant.path,
            "line": mutant.edit.line,
            "what": mutant.edit.what,
            "before": mutant.before,
            "after": mutant.after,
            "outcome": said,
            "by": outcome.by,
            "reached_by": len(reaching_it),
            "edit": asdict(mutant.edit),
        }

    def outcome(self, tests: list[str], known: Known) -> Outcome:
        """Run tests on the current mutant until one fails; return whether one failed, and which."""
        files = arguments(tests, self.tests)
        limit = LEAST_LIMIT + TIMES * sum(known.seconds[test] for test in tests)
        code = self.pytest(files, tests, limit, "-x", "--hypothesis-seed=1")
        if code == 0:
            return Outcome(False)
        failed = next((test for test, said, _ in self.reports() if said == "failed"), "")
        return Outcome(True, failed or ("the time limit" if code is None else "the collection"))


def arguments(tests: list[str], given: list[str]) -> list[str]:
    """Return the pytest arguments for tests: their files, or the folder for docstring examples.

    If a module of the package were passed by name, pytest would import it a second time, with a
    second class `Dense`.

    Examples
    --------
    >>> arguments(["tests/a/test_b.py::c", "kerascope/a/b.py::b"], ["tests/a", "kerascope/a"])
    ['tests/a/test_b.py', 'kerascope/a']
    """
    files = [test.split("::")[0] for test in tests]
    folders = {
        file: next((folder for folder in given if Path(folder) in Path(file).parents), file)
        for file in files
        if not is_test(file)
    }
    return list(dict.fromkeys(folders.get(file, file) for file in files))


def is_test(file: str) -> bool:
    """Return whether a file is a test file, and not a module with examples in docstrings."""
    return Path(file).name.startswith("test_")


def batches(
    mutant: Mutant, tests: set[str], seconds: dict[str, float], root: Path
) -> list[list[str]]:
    """Split a mutant's tests into at most three runs, so that few mutants need the long tests.

    The first run has quick tests, first those in files with a name like the mutant's file. The
    second run has more tests, and the third has all of them.
    """
    stem = Path(mutant.path).stem

    def rank(test: str) -> tuple[bool, bool, float, str]:
        file = test.split("::")[0]
        return is_large(root / file), stem not in Path(file).stem, seconds[test], test

    ordered = sorted(tests, key=rank)
    found: list[list[str]] = []
    for most_files, most_seconds in BATCHES:
        files: set[str] = set()
        batch: list[str] = []
        taken = 0.0
        for test in ordered:
            file = test.split("::")[0]
            files.add(file)
            taken += seconds[test]
            if is_large(root / file) or taken > most_seconds or len(files) > most_files:
                break
            batch.append(test)
        ordered = ordered[len(batch) :]
        found.append(batch)
    return [batch for batch in (*found, ordered) if batch]


@cache
def is_large(path: Path) -> bool:
    """Return whether the tests in a file start slowly, because much is imported before them."""
    return not is_test(path.name) or LARGE.search(path.read_text(encoding="utf-8")) is not None


def end(process: subprocess.Popen[bytes]) -> None:
    """End a run of pytest and all its child processes."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
