"""Runs the tasks of one checkout in one process. Both checkouts run the same tasks.

`python worker.py CHECKOUT` runs the tasks that it reads as lines of JSON, and writes the results.
`python worker.py CHECKOUT TASK` runs one task and ends. The file is started by its path:
`kerascope` is imported from the measured checkout, everything else from the measuring one.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

OURS = Path(__file__).resolve().parents[2]
CHAIN_LAYERS = 100
MOST_ROWS = 320  # many processes live at once; W6 has 10,000 images otherwise

Run = Callable[[int], Any]


def take_kerascope_from(checkout: str) -> Any:
    """Import kerascope from a checkout, then everything else from this one."""
    sys.path[0] = checkout
    import kerascope

    if Path(checkout).resolve() not in Path(kerascope.__file__).resolve().parents:
        sys.exit(f"kerascope came from {kerascope.__file__}; expected {checkout}")
    sys.path.insert(0, str(OURS))
    return kerascope


# --- what is timed --------------------------------------------------------------------------------


class Peers:
    """The models of the workloads, built at their first use."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def of(self, workload: str) -> Any:
        """Return kerascope's `Column` for a workload: its built model and its data."""
        from benchmarks.paired import data
        from benchmarks.paired.peers.keras_models import Column

        if workload not in self.known:
            x, y = (array[:MOST_ROWS].copy() for array in data.arrays(workload))
            peer = Column(workload, x, y, data.weights(workload), "kerascope")
            peer.net = peer.build()
            self.known[workload] = peer
        return self.known[workload]

    def run_of(self, metric: str) -> Run:
        """Return a function that runs the work of a metric as often as its argument says."""
        workload, _, what = metric.partition(".")
        if workload in ("W7", "W9"):
            return chains(workload)
        peer = self.of(workload)
        if what == "predict1":
            predict, row = peer.net.predict, peer.x[:1]
            return lambda times: [predict(row, batch_size=1, verbose=0) for _ in range(times)]
        from benchmarks.paired.workloads import METRICS

        found = METRICS[metric]
        run: Run = getattr(peer, found.what)(found.batch)
        return run


def chains(workload: str) -> Run:
    """Return a function that builds chains of layers and makes one train step with each."""
    from benchmarks.paired.cold import KINDS
    from benchmarks.paired.fresh import chain

    def run(times: int) -> None:
        for _ in range(times):
            found = chain("kerascope", KINDS[workload], CHAIN_LAYERS)
            assert not any(isinstance(value, str) for value in found.values()), found

    return run


def first_draw(kerascope: Any) -> None:
    """Build a model and draw it as an SVG."""
    layers = kerascope.layers
    inputs = x = layers.Input(shape=(20,))
    for _ in range(6):
        x = layers.Dense(8, activation="relu")(x)
    text = kerascope.draw(kerascope.models.Model(inputs, x)).svg
    assert text.lstrip().startswith(("<svg", "<?xml")), text[:80]


# --- the process ----------------------------------------------------------------------------------


def prepare(run: Run, target: float) -> int:
    """Run a function to warm up; return how many runs take about `target` processor seconds."""
    run(1)
    run(1)
    times = 1
    while True:
        begun = time.process_time()
        run(times)
        taken = time.process_time() - begun
        if taken >= target / 2:
            return max(1, round(times * target / taken))
        times = min(times * 10, max(times + 1, int(times * target / max(taken, 1e-6))))


def timed(run: Run, times: int) -> dict[str, float]:
    """Return the processor and wall seconds of this number of runs."""
    begun, wall = time.process_time(), time.perf_counter()
    run(times)
    return {"cpu": time.process_time() - begun, "wall": time.perf_counter() - wall}


def live(checkout: str) -> None:
    """Answer questions from standard input until it ends. Other output goes to standard error."""
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    take_kerascope_from(checkout)
    peers, runs = Peers(), {}
    for line in sys.stdin:
        question = json.loads(line)
        metric = question["metric"]
        if metric not in runs:
            runs[metric] = peers.run_of(metric)
        if "target" in question:
            reply: dict[str, float] = {"times": prepare(runs[metric], question["target"])}
        else:
            reply = timed(runs[metric], question["times"])
        output.write(json.dumps(reply) + "\n")
        output.flush()


def once(checkout: str, what: str) -> None:
    """Run one task on a checkout. A new process calls this, and then ends."""
    kerascope = take_kerascope_from(checkout)
    if what == "first_step":
        from benchmarks.paired.fresh import first_step

        first_step("kerascope")
    elif what == "first_draw":
        first_draw(kerascope)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        live(sys.argv[1])
    else:
        once(sys.argv[1], sys.argv[2])
