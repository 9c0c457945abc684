"""Compares the first losses and outputs of all columns with hand-written NumPy.

A workload that is not written in NumPy by hand is compared with kerascope.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.paired.columns import ALWAYS, COLUMNS, REFERENCE
from benchmarks.paired.driver import Say, processes
from benchmarks.paired.environments import python_of
from benchmarks.paired.workloads import WORKLOADS

STEPS = 5
TOLERANCE = 1e-5
"""Relative: rounding of single precision, grown by five steps of training."""


def difference(mine: list[float], theirs: list[float]) -> float:
    """Return the largest difference of two lists, relative to the largest number in the second.

    It is infinite if the lengths differ.
    """
    if len(mine) != len(theirs):
        return float("inf")
    size = max((abs(value) for value in theirs), default=0.0) or 1.0
    found = max((abs(a - b) for a, b in zip(mine, theirs, strict=True)), default=0.0)
    return found / size if found == found else float("inf")


def check(workload: str, columns: list[str], threads: int, log: Path, say: Say) -> list[str]:
    """Compare the first losses and outputs of a workload; return columns that differ or failed.

    Engines place epsilon differently: Keras 3's rmsprop inside the root, torch's adam after the
    corrected root. The reference computes all variants; each column is compared with its own.
    """
    kind = WORKLOADS[workload].kind
    columns = [c for c in columns if kind in COLUMNS[c].kinds]
    wrong = []
    with processes(columns, workload, threads, log, say) as alive:
        started = {process.column for process in alive}
        wrong += [c for c in columns if c not in started and python_of(c)]
        name = REFERENCE if REFERENCE in columns else ALWAYS
        reference = next((p for p in alive if p.column == name), None)
        if reference is None:
            say(f"{workload}: the reference, {name}, did not start")
            return columns
        expected: dict[str, Any] = {}
        for process in alive:
            form = process.hello["epsilon"]
            if form not in expected:
                variant = form if name == REFERENCE else None
                expected[form] = reference.ask(command="losses", count=STEPS, variant=variant)
            reply = process.ask(command="losses", count=STEPS)
            if not reply["ok"] or not expected[form]["ok"]:
                say(f"{workload} {process.column:<20} {reply.get('error', 'reference failed')}")
                wrong.append(process.column)
                continue
            by_outputs = difference(reply["outputs"], expected[form]["outputs"])
            by_losses = 0.0
            if reply["losses"]:
                by_losses = difference(reply["losses"], expected[form]["losses"])
            same = max(by_outputs, by_losses) <= TOLERANCE
            losses = " ".join(f"{loss:.6f}" for loss in reply["losses"]) or "does not train"
            say(
                f"{workload} {process.column:<20} {'same' if same else 'DIFFERS':<8}"
                f"outputs {by_outputs:.0e}  losses {by_losses:.0e}  {losses}"
            )
            if not same:
                wrong.append(process.column)
    return wrong
