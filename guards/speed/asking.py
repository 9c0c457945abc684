"""Measures processes of two checkouts in turn, in rounds, until the time is over.

On a busy machine with two cores (load 15 and more, 40 chunks of 50 ms each), the ratio of four
chunks varied by 7 to 11 % in wall time and by 2 to 6 % in processor time. So processor time is
used. The minimum of several chunks varied as much as their sum. NumPy's BLAS gets one thread,
strings have the same hashes, and the paths of both copies have equal lengths.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.paired.environments import THREAD_VARIABLES
from guards.speed.intervals import of_four

WORKER = Path(__file__).with_name("worker.py")

LIVING = {
    "W1.step": "train step, 20-64-64-1, rmsprop",
    "W2.step": "train step, 784-512-512-10, adam",
    "W3.step32": "train step, CNN, adam",
    "W4.step": "train step, LSTM(32), adam",
    "W5.step": "train step, 200 x Dense(32), sgd",
    "W6.predict32": "predict, CNN, 320 images",
    "W7": "a chain of layers: build, map, JSON, first step",
    "W9": "a residual chain: the same",
    "W1.predict": "predict, 32 rows",
    "W1.predict1": "predict, 1 row",
}
FRESH = {
    "import": "W8: a fresh process imports kerascope",
    "first_step": "W8: a fresh process makes its first train step",
    "first_draw": "a fresh process draws its first SVG",
}
METRICS = LIVING | FRESH

TARGET = 0.05
"""Processor seconds of one chunk."""

PAIRS = 8
"""Processes of each checkout. A single one may be 2 % faster because of its memory addresses."""

WARM = 2
"""Runs before the first chunk: the first writes the program, the second may see it."""

FRESH_EVERY = 3
"""Metrics that need a new process are measured only in every third round."""

Ratios = dict[str, list[list[float]]]


class Broken(Exception):
    """Raised if a measuring process ended or failed."""


def variables() -> dict[str, str]:
    """Return the environment variables of the measuring processes of both checkouts."""
    found = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    found.update(PYTHONHASHSEED="0", PYTHONWARNINGS="ignore")
    return found


class Living:
    """A process that stays alive and measures one checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.times: dict[str, int] = {}
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=variables(),
            cwd=root,
        )

    def ask(self, metric: str, **more: float) -> dict[str, Any]:
        """Send one question to the process, and return its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps({"metric": metric, **more}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.process.wait()
            raise Broken(f"{metric}: a process of {self.root} ended; what it said is above")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def seconds(self, metric: str) -> float:
        """Return the processor seconds of one chunk, a fixed number of runs of a metric."""
        found: float = self.ask(metric, times=self.times[metric])["cpu"]
        return found

    def close(self) -> None:
        """End the measuring process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def of_living(pair: list[Living], metric: str, side: int) -> float:
    """Return the processor seconds of a chunk of runs in one of two processes that stay alive."""
    return pair[side].seconds(metric)


def of_fresh(pair: list[Living], metric: str, side: int) -> float:
    """Return the processor seconds that a new process takes for one task on one checkout."""
    root = pair[side].root
    before = of_children()
    command = [sys.executable, str(WORKER), str(root), metric]
    run = subprocess.run(command, capture_output=True, text=True, env=variables(), cwd=root)
    if run.returncode:
        raise Broken(f"{metric}: a process of {root} failed:\n{run.stderr[-2000:]}")
    return of_children() - before


def of_children() -> float:
    """Return the processor seconds of all ended child processes."""
    import resource  # Windows lacks this module; the rest of this file can be imported there

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def four(seconds: Callable[[int], float], turned: bool) -> float:
    """Measure this checkout, the other twice, and this again; return the ratio of their times.

    `turned` exchanges the two checkouts. `seconds` measures this checkout (0) or the other one (1).
    """
    found: tuple[list[float], list[float]] = [], []
    for side in (1, 0, 0, 1) if turned else (0, 1, 1, 0):
        found[side].append(seconds(side))
    return of_four(*found)


def measured(this: Path, other: Path, metrics: list[str], minutes: float) -> Ratios:
    """Measure all metrics of both checkouts for this number of minutes of wall time.

    Every pair of processes has at least one round. Return the ratios of each metric as lists, one
    for each pair of processes.
    """
    end = time.monotonic() + 60 * minutes
    with contextlib.ExitStack() as alive:
        pairs = [
            [alive.enter_context(contextlib.closing(Living(root))) for root in (this, other)]
            for _ in range(PAIRS)
        ]
        prepare(metrics, pairs)
        return asked_in_rounds(metrics, pairs, end)


def prepare(metrics: list[str], pairs: list[list[Living]]) -> None:
    """Let all processes warm up. The first one determines how many runs of a metric are timed."""
    first = pairs[0][0]
    for metric in metrics:
        if metric in LIVING:
            times = first.ask(metric, target=TARGET)["times"]
            for pair in pairs:
                for process in pair:
                    process.times[metric] = times
                    process.ask(metric, times=WARM)


def asked_in_rounds(metrics: list[str], pairs: list[list[Living]], end: float) -> Ratios:
    """Run rounds until `end`. In each, a pair of processes measures all metrics in random order."""
    ratios: Ratios = {metric: [[] for _ in pairs] for metric in metrics}
    for number in itertools.count():
        if number >= len(pairs) and time.monotonic() >= end:
            break
        which = number % len(pairs)
        turned = number // len(pairs) % 2 == 1
        order = list(metrics)
        random.Random(number).shuffle(order)
        for metric in order:
            if metric in LIVING:
                ratio = four(partial(of_living, pairs[which], metric), turned)
                ratios[metric][which].append(ratio)
            elif number % FRESH_EVERY == 0:
                # Each process is new, so each ratio is a pair of its own.
                ratios[metric].append([four(partial(of_fresh, pairs[which], metric), turned)])
    return ratios
