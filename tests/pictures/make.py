"""Draw the sheet of pictures: every small model of tests/zoo.py at every level, and overlays.

    python3 dev.py gallery          writes *.svg and README.md beside this file, too

The pictures are the same at every run, on every machine; a test draws them again and compares.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import numpy as np
from zoo import LARGE_ZOO, ZOO

import kerascope as ks
from kerascope import backend as K
from kerascope.viz.drawing import Drawing

WIDTH = 420


class Picture(NamedTuple):
    """One picture of the sheet.

    Attributes
    ----------
    file : str
    title : str
        What it shows, in a few words.
    code : str
        How to draw it.
    drawing : Drawing
    """

    file: str
    title: str
    code: str
    drawing: Drawing


LEVELS = {
    "node": "one box per call",
    "layer": "one box per layer",
    "op": "one box per op",
    "gradient": "the way back beside the way forward",
    "training": "a step of training",
}


def of_the_zoo(name: str) -> Iterator[Picture]:
    """Yield the pictures of a small model: every level, and what is inside it."""
    K.clear_session()
    model = ZOO[name]()
    model.compile("rmsprop", "mse")
    for level, words in LEVELS.items():
        drawing = ks.draw(model, level=level)
        yield Picture(f"{name}_{level}.svg", words, f'ks.draw(model, level="{level}")', drawing)
        if level == "node" and drawing.view.whole.groups:
            opened = ks.draw(model, expand_nested=True, depth_ranks=True)
            code = "ks.draw(model, expand_nested=True, depth_ranks=True)"
            yield Picture(f"{name}_expanded.svg", "what is inside", code, opened)


def of_the_large(name: str) -> Iterator[Picture]:
    """Yield the picture of a large model, as it is drawn if nothing is said."""
    K.clear_session()
    drawing = ks.draw(LARGE_ZOO[name]())
    yield Picture(f"{name}.svg", "collapsed to what a person can read", "ks.draw(model)", drawing)


def small(units: int = 2) -> ks.Model:
    """Return a model whose numbers are simple enough to be the same on every machine."""
    x = ks.Input((2,), name="x")
    left = ks.layers.Dense(units, kernel_initializer="ones", name="left")(x)
    right = ks.layers.Dense(2, kernel_initializer="ones", activation="relu", name="right")(x)
    return ks.Model(x, ks.layers.Concatenate(name="both")([left, right]), name="small")


def of_overlays() -> Iterator[Picture]:
    """Yield pictures with marks: values, a moment of a run, gradients, differences, a failure."""
    K.clear_session()
    batch = np.array([[1.0, 2.0], [-3.0, 0.5]])
    yield Picture(
        "values.svg", "what each call gives", "ks.draw(model, values=batch)",
        ks.draw(small(), values=batch),
    )  # fmt: skip
    yield Picture(
        "moment.svg", "after two steps of the forward pass", "ks.draw(model, values=batch, at=1)",
        ks.draw(small(), values=batch, at=1),
    )  # fmt: skip
    model = small()
    model.compile("sgd", "mse")
    yield Picture(
        "gradient_norms.svg", "the size of the gradient at each call",
        "ks.draw(model, gradients=(batch, targets))",
        ks.draw(model, gradients=(batch, np.zeros((2, 4)))),
    )  # fmt: skip
    yield Picture(
        "diff.svg", "what changed since", "ks.draw(model, diff=before)",
        ks.draw(small(units=3), diff=small()),
    )  # fmt: skip
    yield Picture(
        "dark.svg", "dark, from left to right",
        'ks.draw(model, theme="dark", rankdir="LR", highlight="right")',
        ks.draw(small(), theme="dark", rankdir="LR", highlight="right"),
    )  # fmt: skip
    try:
        x = ks.Input((2,), name="x")
        h = ks.layers.Dense(3, name="h")(x)
        ks.layers.Add(name="sum")([x, h])
    except ValueError as error:
        yield Picture("failure.svg", "how far it came", "ks.draw(error)", ks.draw(error))


def sections() -> dict[str, Callable[[], Iterator[Picture]]]:
    """Return the parts of the sheet by their titles."""
    parts: dict[str, Callable[[], Iterator[Picture]]] = {"overlays": of_overlays}
    parts |= {name: lambda name=name: of_the_large(name) for name in LARGE_ZOO}
    return parts | {name: lambda name=name: of_the_zoo(name) for name in ZOO}


def page(parts: dict[str, list[Picture]]) -> str:
    """Return the sheet in Markdown."""
    lines = [
        "# Every model at every level",
        "",
        "Every picture here was drawn by kerascope; `python3 dev.py gallery` draws them again. In",
        "the code, `ks` is `import kerascope as ks`, and `model` is the model of that name in",
        "[tests/zoo.py](../zoo.py), compiled with `rmsprop` and `mse`.",
        "",
    ]
    for title, pictures in parts.items():
        lines += [f"## {title.replace('_', ' ')}", ""]
        for picture in pictures:
            width = min(WIDTH, round(picture.drawing.layout.width))
            lines += [
                f"**{picture.title}**: `{picture.code}`",
                "",
                f'<img src="{picture.file}" width="{width}" alt="{title}: {picture.title}">',
                "",
            ]
    return "\n".join(lines)


def main() -> None:
    """Write everything, and remove pictures that are no longer drawn."""
    parts = {title: list(draw()) for title, draw in sections().items()}
    written = {"README.md"}
    for pictures in parts.values():
        for picture in pictures:
            picture.drawing.save(HERE / picture.file)
            written.add(picture.file)
    (HERE / "README.md").write_text(page(parts), encoding="utf-8")
    for old in HERE.glob("*.svg"):
        if old.name not in written:
            old.unlink()
    print(f"wrote {len(written)} files to tests/pictures")


if __name__ == "__main__":
    main()
