"""Many answers to exercises, judged one after another by their checkers.

Each is judged as `kerascope learn check` judges it, by the same function in a process of its own;
but that process is a copy (`fork`) of one that has imported everything, so that a thousand take
minutes. The process that is copied reads one answer a line and writes one verdict a line:

    python -m guards.mutants.judging

An answer that never ends is ended after some seconds of the processor's time, so it does not matter
how busy the machine is. Where there is no `fork` (Windows), or the system's libraries refuse to
work after one (macOS), each answer gets a new Python: `check_file`, as a student's does.
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
SECONDS = 120.0  # only a process that sleeps for ever comes so far
MEMORY = 4 * 2**30
CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"


class Answer(NamedTuple):
    """What is to be judged: an exercise, and the source of an answer."""

    exercise: Exercise
    source: str


class Judged(NamedTuple):
    """What became of an answer.

    Attributes
    ----------
    passes : bool
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
        How many processes do it side by side.

    Raises
    ------
    RuntimeError
        A process that judges died.
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
    """A process that judges one answer after another, seen from outside.

    Parameters
    ----------
    seconds : int
        How much of the processor's time an answer may take.
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
        """Return the verdict on one answer."""
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
    """Judge an answer in a new Python."""
    with tempfile.TemporaryDirectory(prefix="kerascope-answers-") as folder:
        path = Path(folder, answer.exercise.checker.name)
        path.write_text(answer.source, encoding="utf-8")
        outcome = check_file(answer.exercise, path)
    return Judged(outcome.verdict is Verdict.PASS, outcome.message.en)


# --- in the process that is copied ----------------------------------------------------------------


def main(seconds: int) -> None:
    """Judge the answers that stand on standard input, each within some of the processor's time."""
    import_everything()
    with tempfile.TemporaryDirectory(prefix="kerascope-answers-") as folder:
        for line in sys.stdin:
            checker, source = json.loads(line)
            print(json.dumps(of_copy(checker, source, Path(folder), seconds)), flush=True)


def import_everything() -> None:
    """Import what checkers and answers import, once for all of them."""
    import h5py  # noqa: F401

    import kerascope.callbacks
    import kerascope.cli
    import kerascope.learn.child
    import kerascope.models  # noqa: F401


def of_copy(checker: str, source: str, folder: Path, seconds: int) -> list[Any]:
    """Judge an answer in a copy of this process; return whether it passes, and what was said."""
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
    """Be the process of one answer; never return."""
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
    """Let this process have only so much time and memory."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


if __name__ == "__main__":
    main(int(sys.argv[1]))
