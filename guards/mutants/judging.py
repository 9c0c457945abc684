"""Checks many answers to exercises.

Each answer is checked by the same function as in `kerascope learn check`, in its own process. That
process is a fork of a process that has imported everything, so a thousand answers take minutes. The
parent reads one answer a line and writes one verdict a line:

    python -m guards.mutants.judging

An answer that never ends is stopped after some seconds of processor time, independent of the load.
Without `fork` (Windows), or if system libraries fail after it (macOS), each answer is
checked in a new Python process by `check_file`, as for a student.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from guards.checkouts import ROOT
from kerascope.learn.exercises import Exercise
from kerascope.learn.running import check_file
from kerascope.learn.verdicts import Verdict

PROCESSOR_SECONDS = 10
SECONDS = 120.0  # only a sleeping process reaches this limit
MEMORY = 4 * 2**30
CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"


class Answer(NamedTuple):
    """An exercise and the source of an answer to be checked."""

    exercise: Exercise
    source: str


class Judged(NamedTuple):
    """The verdict of a checker on an answer to an exercise.

    Attributes
    ----------
    passes : bool
        Whether the answer is right.
    said : str
        The message in English; empty if it passes.
    """

    passes: bool
    said: str


def judged(answers: Iterable[Answer], jobs: int = 1) -> Iterator[Judged]:
    """Yield the verdict on each answer, in their order.

    Parameters
    ----------
    answers : iterable of Answer
    jobs : int
        The number of parallel processes.

    Raises
    ------
    RuntimeError
        If a checking process dies.
    """
    judges = [Judge() for _ in range(jobs)]
    free = list(judges)

    def ask(answer: Answer) -> Judged:
        judge = free.pop()
        try:
            return judge.ask(answer)
        finally:
            free.append(judge)

    try:
        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(ask, list(answers))
    finally:
        for judge in judges:
            judge.close()


class Judge:
    """A child process that checks answers to exercises, one after another.

    Parameters
    ----------
    seconds : int
        The limit on the processor time of an answer.
    """

    def __init__(self, seconds: int = PROCESSOR_SECONDS) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "guards.mutants.judging", str(seconds)],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def ask(self, answer: Answer) -> Judged:
        """Let the process check one answer, and return the verdict."""
        if not CAN_FORK:
            return afresh(answer)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([str(answer.exercise.checker), answer.source]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process that judges died ({answer.exercise.id})")
        return Judged(*json.loads(line))

    def close(self) -> None:
        """End the process."""
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
        self.process.wait()


def afresh(answer: Answer) -> Judged:
    """Check an answer in a new Python process."""
    with tempfile.TemporaryDirectory(prefix="kerascope-answers-") as folder:
        path = Path(folder, answer.exercise.checker.name)
        path.write_text(answer.source, encoding="utf-8")
        outcome = check_file(answer.exercise, path)
    return Judged(outcome.verdict is Verdict.PASS, outcome.message.en)


# --- in the process that is copied ----------------------------------------------------------------


def main(seconds: int) -> None:
    """Check answers to exercises, and print a verdict for each.

    Each line of standard input contains the checker and the source of one answer, as JSON. Checking
    an answer may take `seconds` of processor time.
    """
    import_everything()
    with tempfile.TemporaryDirectory(prefix="kerascope-answers-") as folder:
        for line in sys.stdin:
            checker, source = json.loads(line)
            print(json.dumps(of_copy(checker, source, Path(folder), seconds)), flush=True)


def import_everything() -> None:
    """Import the modules that checkers and answers need, once for all forked processes."""
    import h5py  # noqa: F401

    import kerascope.callbacks
    import kerascope.cli
    import kerascope.learn.child
    import kerascope.models  # noqa: F401


def of_copy(checker: str, source: str, folder: Path, seconds: int) -> list[Any]:
    """Check an answer in a fork of this process; return whether it passes, and the message."""
    path, result = folder / Path(checker).name, folder / "outcome.json"
    path.write_text(source, encoding="utf-8")
    result.unlink(missing_ok=True)
    process = os.fork()
    if not process:
        be_judged(checker, str(path), str(result), seconds)
    _, status = os.waitpid(process, 0)
    if not result.exists():
        return [False, f"the process ended (code {os.waitstatus_to_exitcode(status)})"]
    outcome = json.loads(result.read_text(encoding="utf-8"))
    return [outcome["verdict"] == "PASS", outcome["message"]["en"]]


def be_judged(checker: str, path: str, result: str, seconds: int) -> None:
    """Check one answer in the forked process, report the verdict to the parent, and exit."""
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        limit(seconds)
        os.chdir(Path(path).parent)
        from kerascope.learn.child import main as judge

        judge(checker, path, result, str(SECONDS))
    finally:
        os._exit(1)


def limit(seconds: int) -> None:
    """Limit the processor time and the memory of this process."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


if __name__ == "__main__":
    main(int(sys.argv[1]))
