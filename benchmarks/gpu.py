"""Measures train steps on a GPU, with kerascope on JAX, Keras 3 on JAX, and JAX alone.

    python3 benchmarks/gpu.py            on a GPU; needs kerascope[jax] and JAX for this GPU
    python3 benchmarks/gpu.py --cpu      a rehearsal: small batches, without the largest net

The nets are W2, W3 and a GPT of 0.9 million parameters, as in `benchmarks/paired`, and a GPT of 11
million. Five losses of each column are compared first, with `jax_default_matmul_precision` set to
"highest": otherwise products on a GPU are rounded to TF32. Times are measured with JAX's own
setting, in turns. The cache of compiled programs is off. Without Keras its column is left out.
Each line is printed when it is known; what would take longer than five minutes is left out.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import random
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NETS = {"W2": 128, "W3": 128, "GPT": 32, "GPT-11M": 32}
SMALLER = 16  # the factor of batches in a rehearsal
COLUMNS = {
    "kerascope on JAX": ("keras_models", "kerascope-jax"),
    "Keras 3 on JAX": ("keras_models", "jax"),
    "by hand, waits for each loss": ("jax_jit", "waits"),
    "by hand, donates, waits at the end": ("jax_jit", ""),
}
MINE = "kerascope on JAX"
LIMIT = 270.0  # seconds for everything
TURN = 0.15  # seconds of one turn
STEPS_COMPARED = 5


def has(package: str) -> bool:
    """Return whether a package is installed."""
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def versions() -> str:
    """Return the versions of the installed packages that the benchmark depends on, as text."""
    names = ["numpy", "jax", "jaxlib", "keras", "jax-cuda12-plugin", "jax-cuda13-plugin"]
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names if has(name))


def columns_of(net: str, batch: int, end: float) -> dict[str, Any]:
    """Build a net in each column, and print its first losses; return functions that run steps."""
    import jax

    from benchmarks.paired.data import arrays, weights

    x, y = (array[:batch] for array in arrays(net))
    found: dict[str, Any] = {}
    first_losses: list[float] = []
    for title, (module, variant) in COLUMNS.items():
        if variant == "jax" and not has("keras"):
            continue
        if time.perf_counter() > end:
            print(f"  {title}: left out, the time is over")
            continue
        peers = importlib.import_module(f"benchmarks.paired.peers.{module}")
        peer = peers.Column(net, x, y, weights(net), variant)
        jax.config.update("jax_default_matmul_precision", "highest")
        losses = peer.losses(STEPS_COMPARED)
        jax.config.update("jax_default_matmul_precision", None)
        first_losses = first_losses or losses
        apart = max(abs(a / b - 1) for a, b in zip(losses, first_losses, strict=True))
        against = "" if title == MINE else f" (within {apart:.0e} of kerascope's)"
        peer.net = peer.build()
        run = peer.step(batch)
        begun = time.perf_counter()
        run(1)
        first = time.perf_counter() - begun
        run(3)
        print(
            f"  {title:36} first step {first:6.2f} s, losses {losses[0]:.6f} to {losses[-1]:.6f}"
            f"{against}",
            flush=True,
        )
        found[title] = run
    return found


def measure(runs: dict[str, Any], seconds: float) -> None:
    """Measure steps in turns for this many seconds; print medians, and ratios with intervals."""
    from benchmarks.paired.ratios import interval

    times: dict[str, list[float]] = {title: [] for title in runs}
    steps = {title: max(1, int(TURN / timed(run, 3))) for title, run in runs.items()}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[MINE]) < 3:
        for title in random.sample(list(runs), len(runs)):
            times[title].append(timed(runs[title], steps[title]))
    for title, values in times.items():
        ratios = [mine / other for mine, other in zip(times[MINE], values, strict=True)]
        low, high = interval(ratios)
        against = f"; kerascope takes {median(ratios):.2f} times as long ({low:.2f} to {high:.2f})"
        print(
            f"  {title:36} {1e3 * median(values):9.3f} ms a step, {len(values)} turns"
            f"{'' if title == MINE else against}",
            flush=True,
        )


def timed(run: Any, steps: int) -> float:
    """Return the mean wall seconds of a step, over `steps` steps."""
    begun = time.perf_counter()
    run(steps)
    return (time.perf_counter() - begun) / steps


def main() -> int:
    """Measure all nets; return the exit code."""
    parser = argparse.ArgumentParser(description="Measure train steps on a GPU.")
    parser.add_argument("--cpu", action="store_true", help="a rehearsal: small batches")
    on_cpu = parser.parse_args().cpu
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if on_cpu:
        os.environ["JAX_PLATFORMS"] = "cpu"
    begun = time.perf_counter()
    import jax

    from benchmarks.paired.workloads import WORKLOADS

    print(f"devices: {', '.join(d.device_kind for d in jax.devices())} ({jax.default_backend()})")
    print(f"versions: {versions()}, Python {sys.version.split()[0]}")
    if jax.default_backend() == "cpu" and not on_cpu:
        print("JAX found no GPU. Install JAX for yours: pip install 'jax[cuda12]'. Or add --cpu.")
        return 1
    jax.config.update("jax_enable_compilation_cache", False)
    WORKLOADS["GPT-11M"] = replace(
        WORKLOADS["GPT"],
        title="6 causal blocks of 384, 256 tokens of 512, adam",
        times=256,
        features=512,
        units=384,
        heads=6,
        blocks=6,
    )
    nets = {net: batch for net, batch in NETS.items() if not (on_cpu and net == "GPT-11M")}
    end = begun + LIMIT
    for number, (net, full) in enumerate(nets.items()):
        batch = full // SMALLER if on_cpu else full
        print(f"{net}: {WORKLOADS[net].title}; batch {batch}", flush=True)
        try:
            runs = columns_of(net, batch, end - 20)
            share = (end - time.perf_counter()) / (len(nets) - number)
            if runs:
                measure(runs, 3.0 if on_cpu else min(15.0, share / 2))
        except Exception as error:  # such as exhausted memory: the other nets are still measured
            print(f"  failed: {type(error).__name__}: {error}"[:300], flush=True)
    print(f"{time.perf_counter() - begun:.0f} seconds in all")
    return 0


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    sys.exit(main())
