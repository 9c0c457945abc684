"""Runs W7 to W10 (cold start, and chains of many layers), which need a new process each time.

`python -m benchmarks.paired.fresh step COLUMN WORKLOAD` makes the first train step of a net;
`python -m benchmarks.paired.fresh chain COLUMN KIND LAYERS` builds one chain. Both print one line.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
import time
from typing import Any

from benchmarks.paired.columns import COLUMNS

WIDTH = 8
PHASES = ("build", "map", "compile", "summary", "to_json", "from_json", "first_step")


def first_step(column: str, workload: str = "W1") -> dict[str, Any]:
    """Run a column's first train step; return the clock time at its end, and its duration."""
    found = COLUMNS[column]
    data = importlib.import_module("benchmarks.paired.data")
    module = importlib.import_module(f"benchmarks.paired.peers.{found.module}")
    x, y = data.arrays(workload)
    peer = module.Column(workload, x, y, data.weights(workload), found.variant, 1)
    net, batch = peer.build(), peer.workload.batch
    begun, used = time.monotonic(), time.process_time()
    peer.train(net, x[:batch], y[:batch])
    done = time.monotonic()
    return {"done": done, "wall": done - begun, "cpu": time.process_time() - used}


def chain_of(keras: Any, kind: str, length: int) -> tuple[Any, Any]:
    """Return the input and the output of a chain of layers, plain or residual.

    A residual chain adds the input of each dense layer to its output.
    """
    layers = keras.layers
    inputs = x = layers.Input(shape=(WIDTH,))
    if kind == "plain":
        for _ in range(length):
            x = layers.Dense(WIDTH)(x)
    else:
        for _ in range(length // 2):
            x = layers.Add()([layers.Dense(WIDTH)(x), x])
    return inputs, x


def chain(column: str, kind: str, length: int) -> dict[str, Any]:
    """Build and use one chain of layers; return the processor seconds or error of each phase."""
    module = "kerascope" if column.startswith("kerascope") else "keras"
    keras = importlib.import_module(module)
    rows = importlib.import_module("numpy").zeros((4, WIDTH), "float32")
    made: dict[str, Any] = {}

    def build() -> None:
        made["ends"] = chain_of(keras, kind, length)

    def map_graph() -> None:
        made["model"] = keras.models.Model(*made["ends"])

    def summary() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            made["model"].summary()

    def to_json() -> None:
        made["json"] = made["model"].to_json()

    work = {
        "build": build,
        "map": map_graph,
        "compile": lambda: made["model"].compile("sgd", "mse"),
        "summary": summary,
        "to_json": to_json,
        "from_json": lambda: keras.models.model_from_json(made["json"]),
        "first_step": lambda: made["model"].train_on_batch(rows, rows),
    }
    found: dict[str, Any] = {}
    for phase in PHASES:
        begun = time.process_time()
        try:
            work[phase]()
        except (Exception, RecursionError) as error:
            found[phase] = type(error).__name__
            if phase in ("build", "map", "compile"):
                break
        else:
            found[phase] = time.process_time() - begun
    return found


def main(arguments: list[str]) -> None:
    """Run the task named by the first argument and print one line of JSON."""
    what, column, *rest = arguments
    if what == "step":
        print(json.dumps(first_step(column, *rest)))
    else:
        print(json.dumps(chain(column, rest[0], int(rest[1]))))


if __name__ == "__main__":
    main(sys.argv[1:])
