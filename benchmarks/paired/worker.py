"""Runs one column in one process, which reads commands and writes answers as lines of JSON.

The driver starts it (`python -m benchmarks.paired.worker`). The first line names the column and the
workload. Output of libraries goes to standard error, so that it does not mix with answers.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import sys
import time
import traceback
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any, TextIO

MOST_RUNS = 100_000
WARM_STEPS = 3
RSS_UNIT = 1 if sys.platform == "darwin" else 1024
PACKAGES = ("numpy", "kerascope", "keras", "jax", "torch", "tensorflow", "autograd")


class Worker:
    """Runs one column in this process. A command of the driver is the name of a method."""

    def __init__(self, hello: dict[str, Any]) -> None:
        begun = time.perf_counter()
        peer_module = importlib.import_module(f"benchmarks.paired.peers.{hello['module']}")
        data = importlib.import_module("benchmarks.paired.data")
        name = hello["workload"]
        x, y = data.arrays(name)
        self.make: Callable[..., Any] = lambda variant: peer_module.Column(
            name, x, y, data.weights(name), variant, hello["threads"]
        )
        self.peer = self.make(hello["variant"])
        if hello["traced"]:
            self.peer.losses(1)  # late imports and permanent caches are not counted
            gc.collect()
            tracemalloc.start()
        self.rss_before = peak_rss()
        self.peer.net = self.peer.build()
        self.setup = time.perf_counter() - begun
        self.runs: dict[str, tuple[Any, int]] = {}

    def hello(self) -> dict[str, Any]:
        """Return facts about the started column: its seconds to start, epsilon, and versions."""
        versions = {
            package: getattr(sys.modules[package], "__version__", "")
            for package in PACKAGES
            if package in sys.modules
        }
        return {"setup": self.setup, "epsilon": self.peer.epsilon, "versions": versions}

    def losses(self, count: int, variant: str | None = None) -> dict[str, Any]:
        """Return the first losses of training, and the outputs for the first batch."""
        peer = self.peer if variant is None else self.make(variant)
        outputs = peer.outputs().reshape(-1)
        return {"losses": peer.losses(count), "outputs": [float(value) for value in outputs]}

    def prepare(self, metric: str, what: str, batch: int, target: float) -> dict[str, Any]:
        """Warm up a metric, and return how many runs of it take about `target` seconds."""
        begun = time.perf_counter()
        run = getattr(self.peer, what)(batch)
        if run is None:
            return {"missing": True}
        run(1)
        first = time.perf_counter() - begun
        run(1)
        times = 1
        while True:
            taken = min(seconds_of(run, times) for _ in range(2))  # one may meet a collection
            if taken >= target / 2 or times > MOST_RUNS:
                break
            times = max(times + 1, min(int(times * target / max(taken, 1e-9)), times * 10))
        self.runs[metric] = run, times
        return {"times": times, "first": first}

    def run(self, metric: str) -> dict[str, Any]:
        """Run a metric as often as `prepare` determined; return the seconds of one run."""
        run, times = self.runs[metric]
        before = resource.getrusage(resource.RUSAGE_SELF)
        begun = time.perf_counter()
        run(times)
        wall = time.perf_counter() - begun
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {"wall": wall / times, "cpu": cpu / times, "times": times}

    def drop(self, metric: str) -> dict[str, Any]:
        """Discard the function that `prepare` made for a metric."""
        self.runs.pop(metric, None)
        return {}

    def memory(self, batch: int) -> dict[str, Any]:
        """Return the peak memory in a train step, in bytes: the total, and the growth in this step.

        For engines whose arrays are NumPy arrays, the total is the memory that Python and NumPy
        have allocated since before the net was built: weights, moments, buffers and temporary
        arrays. For other engines, only the growth of the process is returned.
        """
        run = self.peer.step(batch)
        if run is None:
            return {"missing": True}
        run(WARM_STEPS)
        if not tracemalloc.is_tracing():
            return {"grown": peak_rss() - self.rss_before}
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        run(1)
        peak = tracemalloc.get_traced_memory()[1]
        return {"traced": peak, "step": peak - before}


def seconds_of(run: Callable[[int], Any], times: int) -> float:
    """Return the wall seconds of this many runs."""
    begun = time.perf_counter()
    run(times)
    return time.perf_counter() - begun


def peak_rss() -> int:
    """Return the peak memory of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT


def answer(output: TextIO, work: Callable[[], dict[str, Any]]) -> bool:
    """Call `work`; send its result or its error to the driver; return whether it succeeded."""
    try:
        reply = {"ok": True, **work()}
    except Exception as error:
        traceback.print_exc()
        reply = {"ok": False, "error": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
    output.write(json.dumps(reply) + "\n")
    output.flush()
    return bool(reply["ok"])


def main() -> None:
    """Answer the driver's commands until it sends "quit" or ends."""
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    hello = json.loads(sys.stdin.readline())
    started: list[Worker] = []

    def start() -> dict[str, Any]:
        started.append(Worker(hello))
        return started[0].hello()

    if not answer(output, start):
        return
    for line in sys.stdin:
        command = json.loads(line)
        name = command.pop("command")
        if name == "quit":
            return
        method = getattr(started[0], name)
        answer(output, partial(method, **command))


if __name__ == "__main__":
    main()
