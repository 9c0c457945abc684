"""Draw architecture.svg: the records of the package, who writes each, and who reads it.

`python3 dev.py gallery` runs it. A test holds the picture, and every path in architecture.md,
against the package.
"""

from __future__ import annotations

from pathlib import Path

import networkx as nx

import kerascope as ks

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "architecture.svg"

# Who writes -> record -> who reads. A file in brackets is where it lies below kerascope/.
ARROWS = [
    ("a layer is called (engine/calling.py)", "Node (engine/node.py)"),
    ("an op is applied (backend/ops/)", "Apply (backend/graph.py)"),
    ("Node (engine/node.py)", "the map of a graph (engine/graph_map.py)"),
    ("the map of a graph (engine/graph_map.py)", "Network, Model (engine/)"),
    ("Network, Model (engine/)", "compile (engine/compiling.py)"),
    ("Apply (backend/graph.py)", "gradients (backend/gradient.py)"),
    ("compile (engine/compiling.py)", "gradients (backend/gradient.py)"),
    ("gradients (backend/gradient.py)", "update pairs (v, new_v) (optimizers/)"),
    ("update pairs (v, new_v) (optimizers/)", "Schedule (backend/schedule.py)"),
    ("Apply (backend/graph.py)", "Schedule (backend/schedule.py)"),
    ("Schedule (backend/schedule.py)", "written as a program (backend/program/)"),
    ("Schedule (backend/schedule.py)", "stepped and watched (stage.py)"),
    ("written as a program (backend/program/)", "commit (backend/atomic.py)"),
    ("stepped and watched (stage.py)", "commit (backend/atomic.py)"),
    ("stepped and watched (stage.py)", "Event (trace/events.py)"),
    ("Event (trace/events.py)", "tape: debugger, replay, lessons"),
    ("Event (trace/events.py)", "kerascope trace"),
    ("Node (engine/node.py)", "Graph (viz/graph.py)"),
    ("Apply (backend/graph.py)", "Graph (viz/graph.py)"),
    ("Graph (viz/graph.py)", "pictures (viz/exports/)"),
    ("Network, Model (engine/)", "files (saving/)"),
]


def picture() -> str:
    """Return the picture as SVG."""
    drawn = nx.DiGraph(ARROWS, name="kerascope")
    return ks.draw(ks.from_networkx(drawn)).svg


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print(f"wrote {PICTURE.name}")
