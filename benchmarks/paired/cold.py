"""Starts new processes for W7 to W10, for one column after the other, and collects the results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.paired.columns import COLUMNS, REFERENCE
from benchmarks.paired.environments import ROOT, python_of, variables
from benchmarks.paired.fresh import PHASES

LENGTHS = (1_000, 5_000, 10_000)
RSS_UNIT = 1 if sys.platform == "darwin" else 1024
KINDS = {"W7": "plain", "W9": "residual"}
ON_JAX = ("kerascope-jax", "jax-waits", "keras-jax")
COMPILED = ("W1", "W2", "W3", "W4", "W5", "GPT")

Say = Callable[[str], None]


def started(column: str, words: list[str], threads: int, **more: str) -> dict[str, Any]:
    """Run a process; return its wall and processor seconds, peak memory and last line of output."""
    python = python_of(column)
    assert python is not None
    found = COLUMNS[column]
    backend = found.variant if found.module == "keras_models" else ""
    begun = time.monotonic()
    process = subprocess.Popen(
        [python, *words],
        env=variables(threads, "" if backend.startswith("kerascope") else backend) | more,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    output = process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    lines = output.strip().splitlines()
    return {
        "begun": begun,
        "wall": time.monotonic() - begun,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * RSS_UNIT / 1024 / 1024,
        "code": process.returncode,
        "line": lines[-1] if lines else "",
    }


def row(metric: str, column: str, threads: int, values: list[float], **more: Any) -> dict[str, Any]:
    """Return one row of results: the times of one column for one metric."""
    return {
        "kind": "time",
        "metric": metric,
        "threads": threads,
        "column": column,
        "median": median(values),
        "least": min(values),
        "most": max(values),
        "rounds": len(values),
        **more,
    }


def cold_start(columns: list[str], threads: int, rounds: int, say: Say) -> list[dict[str, Any]]:
    """Return the rows of W8: wall seconds of `import`, and of a process that trains W1 one step.

    Before the measured rounds, a warm-up round reads the files from the disk.
    """
    measured: dict[tuple[str, str], list[dict[str, Any]]] = {}
    trained = [c for c in columns if c not in ("keras-numpy", "kerascope-function")]
    for number in range(rounds + 1):
        for column in trained:
            jobs = {
                "W8.import": ["-c", COLUMNS[column].imports],
                "W8.first_step": ["-m", "benchmarks.paired.fresh", "step", column],
            }
            for metric, words in jobs.items():
                found = started(column, words, threads)
                if found["code"]:
                    say(f"{metric} {column}: ended with code {found['code']}")
                elif number:
                    measured.setdefault((metric, column), []).append(found)
    rows = []
    for (metric, column), chunks in measured.items():
        theirs = measured.get((metric, REFERENCE), [])
        walls = [one["wall"] for one in chunks]
        pairs = zip(walls, (one["wall"] for one in theirs), strict=False)
        more: dict[str, Any] = {
            "clock": "wall",
            "cpu": median(one["cpu"] for one in chunks),
            "megabytes": round(median(one["peak"] for one in chunks), 1),
        }
        if theirs:
            more["ratio"] = median(mine / other for mine, other in pairs)
        rows.append(row(metric, column, threads, walls, **more))
    return sorted(rows, key=lambda one: one["metric"] != "W8.import")


def first_calls(columns: list[str], threads: int, rounds: int, say: Say) -> list[dict[str, Any]]:
    """Return the rows of W10: wall seconds of the first train step in a process, for each net.

    Each round starts two processes with a new folder for JAX's compiled programs: the first one
    compiles ("first"), the second one reads them ("cached"). The time of imports, and of building
    the net, is not counted.
    """
    measured: dict[tuple[str, str], list[dict[str, float]]] = {}
    for workload in COMPILED:
        for _ in range(rounds):
            for column in [c for c in columns if c in ON_JAX]:
                with tempfile.TemporaryDirectory() as folder:
                    for phase in ("first", "cached"):
                        found = started(
                            column,
                            ["-m", "benchmarks.paired.fresh", "step", column, workload],
                            threads,
                            JAX_COMPILATION_CACHE_DIR=folder,
                            JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0",
                        )
                        metric = f"W10.{workload}.{phase}"
                        if found["code"]:
                            say(f"{metric} {column}: ended with code {found['code']}")
                        else:
                            step = json.loads(found["line"])
                            measured.setdefault((metric, column), []).append(step)
    return [
        row(
            metric,
            column,
            threads,
            [one["wall"] for one in steps],
            clock="wall",
            rounds_wall=[one["wall"] for one in steps],
            rounds_cpu=[one["cpu"] for one in steps],
        )
        for (metric, column), steps in measured.items()
    ]


def chains(
    workload: str,
    columns: list[str],
    threads: int,
    rounds: int,
    say: Say,
    lengths: tuple[int, ...] = LENGTHS,
) -> list[dict[str, Any]]:
    """Return the rows of W7 or W9, chains of layers: one for each length, phase and column.

    A phase is a part of the work, such as "build". If it failed, the row has the error's name
    instead of seconds.
    """
    measured: dict[tuple[int, str, str], list[Any]] = {}
    left_out = ("kerascope-function", "kerascope-jax")
    tried = [c for c in columns if COLUMNS[c].module == "keras_models" and c not in left_out]
    for _ in range(rounds):
        for length in lengths:
            for column in tried:
                words = ["-m", "benchmarks.paired.fresh", "chain", column]
                found = started(column, [*words, KINDS[workload], str(length)], threads)
                if found["code"]:
                    say(f"{workload} {column} {length}: ended with code {found['code']}")
                    continue
                for phase, seconds in json.loads(found["line"]).items():
                    measured.setdefault((length, phase, column), []).append(seconds)
    rows = []
    for length in lengths:
        for phase in PHASES:
            for column in tried:
                values = measured.get((length, phase, column), [])
                metric = f"{workload}.{length}.{phase}"
                numbers = [value for value in values if not isinstance(value, str)]
                if numbers:
                    rows.append(row(metric, column, threads, numbers, clock="cpu"))
                elif values:
                    rows.append(
                        {
                            "kind": "time",
                            "metric": metric,
                            "threads": threads,
                            "column": column,
                            "error": values[0],
                        }
                    )
    return rows
