"""Measures the times and sizes of pictures and summaries, compared with Keras 3.

    python benchmarks/pictures.py

Keras's `plot_model` needs pydot and the program `dot`; without them its columns are empty. Each
time is the minimum of several runs in this process.
"""

import io
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "jax")

import kerascope as ks
from kerascope.applications import ResNet50
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.collapse.view import view_of
from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.layout.arrange import arrange

RUNS = 5


def least(work: Callable[[], Any], runs: int = RUNS) -> float:
    """Return the minimum time of several runs, in milliseconds."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return 1000 * min(times)


def small_model(layers: Any, model: Any) -> Any:
    """Return a model of four layers in a diamond, made of kerascope's or of Keras's classes."""
    x = layers.Input((8,), name="x")
    left = layers.Dense(4, activation="relu", name="left")(x)
    right = layers.Dense(4, activation="tanh", name="right")(x)
    return model(x, layers.Add(name="sum")([left, right]))


def quiet_summary(model: Any) -> None:
    """Make the summary of a model, and discard its text, to measure the time."""
    with redirect_stdout(io.StringIO()):
        model.summary()


def chain(length: int) -> Graph:
    """Return a `Graph` that is a chain of this many boxes, without building layers."""
    attrs = {"class_name": "Dense", "parameters": 20, "output_shapes": "(None, 4)"}
    nodes = [
        GraphNode(f"dense_{i}", f"dense_{i}", "dense", depth=length - i, attrs=attrs)
        for i in range(length)
    ]
    edges = [GraphEdge(f"dense_{i}", f"dense_{i + 1}") for i in range(length - 1)]
    return Graph("chain", tuple(nodes), tuple(edges), (), {"level": "node"})


def ours() -> dict[str, str]:
    """Return the times and sizes of kerascope's pictures and summaries."""
    small, resnet = small_model(ks.layers, ks.Model), ResNet50(weights=None)
    collapsed = ks.draw(resnet)
    long_chain = chain(10_000)
    figures = {
        "small model to SVG, ms": least(lambda: ks.draw(small).svg),
        "ResNet50 whole to SVG, ms": least(lambda: ks.draw(resnet, most=None).svg),
        "ResNet50 collapsed to SVG, ms": least(lambda: ks.draw(resnet).svg),
        "ResNet50 collapsed, boxes": float(len(collapsed.graph.nodes)),
        "ResNet50 as HTML, KB": len(collapsed.html.encode()) / 1000,
        "10,000 boxes, default view to SVG, ms": least(lambda: ks.draw(long_chain).svg, 3),
        "summary of ResNet50, ms": least(lambda: quiet_summary(resnet)),
        "height of ResNet50's picture, m": collapsed.layout.height / 72 * 0.0254,
    }
    return {name: f"{value:.1f}" for name, value in figures.items()}


def theirs() -> dict[str, str]:
    """Return the times and sizes of Keras 3's pictures and summaries; {} without Keras."""
    try:
        import keras
    except ImportError:
        return {}
    small = small_model(keras.layers, keras.Model)
    resnet = keras.applications.ResNet50(weights=None)
    figures = {"summary of ResNet50, ms": least(lambda: quiet_summary(resnet))}
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "model.svg")
        try:
            keras.utils.plot_model(small, target)
        except ImportError as error:
            print(f"plot_model cannot be measured here: {error}\n")
            return {name: f"{value:.1f}" for name, value in figures.items()}

        def plot(model: Any) -> float:
            return least(lambda: keras.utils.plot_model(model, target, show_shapes=True), 3)

        figures["small model to SVG, ms"] = plot(small)
        figures["ResNet50 whole to SVG, ms"] = plot(resnet)
        height = Path(target).read_text(encoding="utf-8").split('height="')[1].split("pt")[0]
        figures["height of ResNet50's picture, m"] = float(height) / 72 * 0.0254
    return {name: f"{value:.1f}" for name, value in figures.items()}


def growth() -> None:
    """Print how the time for the layout, and for collapsing, grows with the number of boxes."""
    print(
        f"{'boxes':>8} {'layout of all, s':>18} {'collapse and layout, s':>24} {'boxes then':>11}"
    )
    for length in (1_000, 10_000, 100_000):
        graph = chain(length)
        whole = least(lambda graph=graph: arrange(graph, PictureOptions()), 1) / 1000

        def collapse(graph: Graph = graph) -> None:
            arrange(view_of(graph).shown, PictureOptions())

        closed = least(collapse, 1) / 1000
        boxes = len(view_of(graph).shown.nodes)
        print(f"{length:>8,} {whole:>18.2f} {closed:>24.2f} {boxes:>11}")


def main() -> None:
    """Measure the pictures and summaries, and print the table."""
    mine, peers = ours(), theirs()
    print(f"{'':<40}{'kerascope':>12}{'Keras 3':>12}{'ratio':>10}")
    for name, value in mine.items():
        peer = peers.get(name, "")
        ratio = f"{float(value) / float(peer):.3f}" if peer else ""
        print(f"{name:<40}{value:>12}{peer:>12}{ratio:>10}")
    print()
    growth()


if __name__ == "__main__":
    main()
