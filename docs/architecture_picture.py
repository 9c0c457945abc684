"""Draw architecture.svg: the kernel of the package, its seams, and its records.

`python3 dev.py gallery` runs it. A test compares the picture, and every path in architecture.md,
with the package.
"""

from __future__ import annotations

import re
from pathlib import Path

import networkx as nx

import kerascope as ks

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "architecture.svg"

# Writer -> record -> readers. The path in brackets is below kerascope/.
ARROWS = [
    ("Layer (engine/base_layer.py)", "a call of a layer (engine/calling.py)"),
    ("a call of a layer (engine/calling.py)", "Node (engine/node.py)"),
    ("a call of a layer (engine/calling.py)", "Tensor, Op, Apply (backend/graph.py)"),
    ("Node (engine/node.py)", "the map of a graph (engine/graph_map.py)"),
    ("the map of a graph (engine/graph_map.py)", "Network (engine/network.py)"),
    ("Network (engine/network.py)", "Model (engine/model.py)"),
    ("Model (engine/model.py)", "compile (engine/compiling.py)"),
    ("Tensor, Op, Apply (backend/graph.py)", "gradients (backend/gradient.py)"),
    ("compile (engine/compiling.py)", "gradients (backend/gradient.py)"),
    ("gradients (backend/gradient.py)", "update pairs (v, new_v) (optimizers/)"),
    ("update pairs (v, new_v) (optimizers/)", "Schedule (backend/schedule.py)"),
    ("Tensor, Op, Apply (backend/graph.py)", "Schedule (backend/schedule.py)"),
    ("Schedule (backend/schedule.py)", "K.function (backend/function.py)"),
    ("K.function (backend/function.py)", "fit (engine/training_loop.py)"),
    ("fit (engine/training_loop.py)", "run or walked (stage.py)"),
    ("run or walked (stage.py)", "Event (trace/events.py)"),
    ("Event (trace/events.py)", "tape: debugger, replay, lessons"),
    ("Event (trace/events.py)", "kerascope trace"),
    ("Node (engine/node.py)", "Graph (viz/graph.py)"),
    ("Tensor, Op, Apply (backend/graph.py)", "Graph (viz/graph.py)"),
    ("Graph (viz/graph.py)", "pictures (viz/exports/)"),
    ("Network (engine/network.py)", "files (saving/)"),
]
# Seam -> the kernel file that uses it; and the code attached to the seam.
SEAMS = [
    ("around a call (engine/around.py)", "a call of a layer (engine/calling.py)"),
    ("rules (engine/rules.py)", "a call of a layer (engine/calling.py)"),
    ("rules (engine/compile_rules.py)", "compile (engine/compiling.py)"),
    ("sums of gradients (backend/branches.py)", "gradients (backend/gradient.py)"),
    ("checks (backend/function_checks.py)", "K.function (backend/function.py)"),
    ("all writes at once (backend/atomic.py)", "K.function (backend/function.py)"),
    ("which batches (engine/course.py)", "fit (engine/training_loop.py)"),
    ("who runs a stage (unrecorded.py)", "run or walked (stage.py)"),
]
BEHIND = [
    ("undo, errors, costs (engine/policies/)", "around a call (engine/around.py)"),
    ("Keras 3 (engine/keras3/)", "rules (engine/rules.py)"),
    ("Keras 3 (engine/keras3/)", "rules (engine/compile_rules.py)"),
    ("programs (backend/program/)", "K.function (backend/function.py)"),
    ("resuming (engine/run.py)", "which batches (engine/course.py)"),
    ("journal (trace/journal.py)", "who runs a stage (unrecorded.py)"),
]
# Each kind has its own colour and symbol.
KINDS = {"kernel": "dense", "seam": "activation", "policy": "normalization", "other": "layer"}


def picture() -> str:
    """Return the picture as SVG."""
    drawn = nx.DiGraph([*ARROWS, *SEAMS, *BEHIND], name="kerascope: kernel, seams, policies")
    seams, policies = {seam for seam, _ in SEAMS}, {policy for policy, _ in BEHIND}
    for box in drawn:
        is_kernel = any(f"({name})" in box for name in kernel())
        part = "seam" if box in seams else "policy" if box in policies else "other"
        drawn.nodes[box]["kind"] = KINDS["kernel" if is_kernel else part]
    return ks.draw(ks.from_networkx(drawn)).svg


def kernel() -> list[str]:
    """Return the kernel files, which architecture.md lists in the order in which to read them."""
    page = (HERE / "architecture.md").read_text(encoding="utf-8")
    return re.findall(r"^\d+\. `([\w/]+\.py)`", page, re.MULTILINE)


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print(f"wrote {PICTURE.name}")
