"""The driver starts a process for each column, and measures the processes in turn."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.paired.columns import COLUMNS, REFERENCE
from benchmarks.paired.environments import ROOT, how_to_build, python_of, variables
from benchmarks.paired.workloads import METRICS, WORKLOADS

Say = Callable[[str], None]


class Process:
    """A process that stays alive and runs one column with one workload."""

    def __init__(
        self, column: str, workload: str, threads: int, log: Path, traced: bool = False
    ) -> None:
        self.column = column
        found = COLUMNS[column]
        python = python_of(column)
        assert python is not None
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a") as errors:
            self.process = subprocess.Popen(
                [python, "-m", "benchmarks.paired.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=variables(threads),
                cwd=ROOT,
            )
        self.hello = self.ask(
            module=found.module,
            variant=found.variant,
            workload=workload,
            threads=threads,
            traced=traced,
        )

    def ask(self, **command: Any) -> dict[str, Any]:
        """Send a command to the process; return its answer, {"ok": False} if it has died."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            return {"ok": False, "error": "the process ended; the log says why"}
        reply: dict[str, Any] = json.loads(line)
        return reply

    def close(self) -> None:
        """End the process, and kill it if it still runs after ten seconds."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write('{"command": "quit"}\n')
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


@contextlib.contextmanager
def processes(
    columns: list[str], workload: str, threads: int, log: Path, say: Say, traced: bool = False
) -> Any:
    """In the `with` block, provide a process for each available column that has this workload."""
    alive = []
    try:
        for column in columns:
            if python_of(column) is None or WORKLOADS[workload].kind not in COLUMNS[column].kinds:
                continue
            process = Process(
                column, workload, threads, log, traced=traced and COLUMNS[column].on_numpy
            )
            alive.append(process)
            if not process.hello["ok"]:
                say(f"{workload} {column}: {process.hello['error']}")
        yield [process for process in alive if process.hello["ok"]]
    finally:
        for process in alive:
            process.close()


def say_what_is_missing(columns: list[str], say: Say) -> None:
    """Print each skipped column with the reason, once for all metrics."""
    for column in columns:
        if python_of(column) is None:
            say(how_to_build(column))


def busy_seconds() -> float:
    """Return the processor seconds that all processes of the machine have used; 0 without /proc."""
    try:
        words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return 0.0
    ticks = [int(word) for word in words]
    return (sum(ticks[:3]) + sum(ticks[5:8])) / os.sysconf("SC_CLK_TCK")


def timed_chunk(process: Process, metric: str, patience: float, quiet: float) -> dict[str, Any]:
    """Run one chunk, a fixed number of runs of a metric; return its seconds as a dict.

    The entry "others" is the processor time that other processes used, in seconds for each second.
    If it is more than `quiet`, the chunk is repeated for up to `patience` seconds. The result is
    the chunk with the least time used by others.
    """
    end = time.monotonic() + patience
    best: dict[str, Any] = {}
    while True:
        before, begun = busy_seconds(), time.perf_counter()
        reply = process.ask(command="run", metric=metric)
        if not reply["ok"]:
            return reply
        taken = time.perf_counter() - begun
        own = reply["cpu"] * reply["times"]
        reply["others"] = max(0.0, (busy_seconds() - before - own) / taken)
        if not best or reply["others"] < best["others"]:
            best = reply
        if reply["others"] <= quiet or time.monotonic() >= end:
            return best
        time.sleep(0.3)


class Timing:
    """How long and how often each column is measured.

    Attributes
    ----------
    rounds : int
        Number of measured chunks of each column. A chunk is a number of runs in succession.
    restarts : int
        How often all processes are started, each time for `rounds`. Two processes of the same
        column differ by up to a tenth, because their memory is arranged differently.
    target : float
        How many seconds a chunk should take.
    patience, quiet : float
        If other processes use more than `quiet` seconds of processor time in each second, a chunk
        is repeated for up to `patience` seconds.
    """

    def __init__(
        self,
        rounds: int = 7,
        target: float = 0.25,
        patience: float = 0.0,
        quiet: float = 0.15,
        restarts: int = 1,
    ) -> None:
        self.rounds, self.target, self.patience, self.quiet = rounds, target, patience, quiet
        self.restarts = restarts


Chunks = dict[str, list[dict[str, Any]]]
"""What `timed_chunk` returned, in the order of the rounds, by column."""


def measure(metric: str, alive: list[Process], timing: Timing, say: Say, chunks: Chunks) -> None:
    """Measure a metric in all rounds, and add the measured chunks of each column to `chunks`.

    In each round the columns are in another random order, which depends on the number of the round.
    """
    found = METRICS[metric]
    first: dict[str, float] = {}
    for process in alive:
        reply = process.ask(
            command="prepare",
            metric=metric,
            what=found.what,
            batch=found.batch,
            target=timing.target,
        )
        if not reply["ok"]:
            say(f"{metric} {process.column}: {reply['error']}")
        elif not reply.get("missing"):
            first[process.column] = reply["first"]
    for number in range(timing.rounds):
        order = [process for process in alive if process.column in first]
        random.Random(number).shuffle(order)
        for process in order:
            reply = timed_chunk(process, metric, timing.patience, timing.quiet)
            if reply["ok"]:
                chunks.setdefault(process.column, []).append(
                    reply | {"first": first[process.column]}
                )
            else:
                say(f"{metric} {process.column}: {reply['error']}")
    for process in alive:
        process.ask(command="drop", metric=metric)


def rows_of(metric: str, measured: Chunks, threads: int, timing: Timing) -> list[dict[str, Any]]:
    """Return the results of a metric: one row for each column in which no chunk failed.

    With one thread, times are processor times, which other processes do not affect; otherwise wall
    times.
    """
    clock = "cpu" if threads == 1 else "wall"
    return [
        row_of(metric, column, measured, clock, threads)
        for column, chunks in measured.items()
        if len(chunks) == timing.rounds * timing.restarts
    ]


def row_of(metric: str, column: str, measured: Chunks, clock: str, threads: int) -> dict[str, Any]:
    """Return what the report tells about a column: median, minimum and maximum seconds, the ratio.

    The ratio is the median of the ratios to the reference column in each round.
    """
    chunks, reference = measured[column], measured.get(REFERENCE, [])
    seconds = [chunk[clock] for chunk in chunks]
    row: dict[str, Any] = {
        "kind": "time",
        "metric": metric,
        "threads": threads,
        "column": column,
        "clock": clock,
        "median": median(seconds),
        "least": min(seconds),
        "most": max(seconds),
        "rounds": len(seconds),
        "first": median(chunk["first"] for chunk in chunks),
        "others": round(median(chunk["others"] for chunk in chunks), 3),
        "rounds_wall": [chunk["wall"] for chunk in chunks],
        "rounds_cpu": [chunk["cpu"] for chunk in chunks],
    }
    if len(reference) == len(chunks):
        pairs = zip(seconds, (chunk[clock] for chunk in reference), strict=True)
        row["ratio"] = median(mine / theirs for mine, theirs in pairs)
    return row


def measure_memory(
    metric: str, columns: list[str], threads: int, log: Path, say: Say
) -> list[dict[str, Any]]:
    """Return the peak memory of a train step in each column as rows, each from its own process."""
    found = METRICS[metric]
    rows = []
    for column in columns:
        with processes([column], found.workload, threads, log, say, traced=True) as alive:
            for process in alive:
                reply = process.ask(command="memory", batch=found.batch)
                if not reply["ok"]:
                    say(f"{metric} {column}: {reply['error']}")
                elif not reply.get("missing"):
                    del reply["ok"]
                    rows.append(
                        {"kind": "memory", "metric": metric, "threads": threads, "column": column}
                        | reply
                    )
    of_reference = next((row.get("traced") for row in rows if row["column"] == REFERENCE), None)
    for row in rows:
        if of_reference and "traced" in row:
            row["ratio"] = row["traced"] / of_reference
    return rows
