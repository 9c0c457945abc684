"""`plot_model` and `model_to_dot`: Keras's functions to draw a model.

The pictures are made by `kerascope.draw`, which belongs to `kerascope.viz` and is looked up when it
is needed. Keras 1 calls this module `visualize_util` and the function `plot`.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from kerascope import display
from kerascope.configurable import by_name

__all__ = ["DotPicture", "model_to_dot", "plot", "plot_model"]


def plot_model(
    model: Any,
    to_file: str | PathLike[str] = "model.png",
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
    show_dtype: bool = False,
    **others: Any,
) -> Any:
    """Draw a model into a file.

    Parameters
    ----------
    model : Model
    to_file : path
        A name that ends in .png, .svg, .pdf, .dot or another suffix that `Drawing.save` accepts.
    show_shapes, show_layer_names, show_layer_activations, show_trainable, show_dtype : bool
        What to show in the boxes.
    rankdir : {"TB", "LR"}
        Top to bottom, or left to right.
    expand_nested : bool
        Whether to draw the layers inside nested models.
    dpi : int
        Pixels per inch of a PNG.
    **others
        Further arguments of `kerascope.draw`: `level="op"`, `theme="dark"`.

    Returns
    -------
    Drawing
        The picture, as `kerascope.draw` returns it. A notebook displays it.

    Raises
    ------
    ArgumentError
        The suffix is unknown, the folder does not exist, or an argument is misspelt.
    MissingToolError
        Graphviz is not installed in any form.
    """
    return _draw(to=to_file, **by_name(locals(), "to_file", "others"), **others)


plot = plot_model


def model_to_dot(
    model: Any,
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
    show_dtype: bool = False,
    **others: Any,
) -> DotPicture:
    """Return the picture of a model as an object like `pydot.Dot`; see `plot_model`.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.models import Model
    >>> x = Input((4,))
    >>> dot = model_to_dot(Model(x, Dense(3)(x)))
    >>> dot.to_string().startswith("digraph")
    True
    """
    return DotPicture(_draw(**by_name(locals(), "others"), **others))


class DotPicture:
    """A picture with the methods of `pydot.Dot` that scripts usually call.

    Parameters
    ----------
    drawing : Drawing
        The picture as a kerascope `Drawing`.

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> from kerascope.models import Sequential
    >>> model_to_dot(Sequential([Dense(2, input_shape=(3,))])).create(format="svg")[:4]
    b'<svg'
    """

    def __init__(self, drawing: Any) -> None:
        self.drawing = drawing

    def create(self, prog: str | None = None, format: str = "svg") -> bytes:
        """Return the picture as bytes in a format; `prog`, a program of Graphviz, has no effect."""
        return self.drawing.render(format)

    def to_string(self) -> str:
        """Return the picture as DOT text."""
        return str(self.drawing.source)

    def write(
        self, path: str | PathLike[str], prog: str | None = None, format: str = "raw"
    ) -> bool:
        """Write the picture to a file. With the format "raw", write its DOT text."""
        if format == "raw":
            Path(path).write_text(self.to_string(), encoding="utf-8")
        else:
            Path(path).write_bytes(self.create(prog, format))
        return True

    def write_png(self, path: str | PathLike[str], prog: str | None = None) -> bool:
        """Write the picture to a PNG file."""
        return self.write(path, prog, "png")

    def write_svg(self, path: str | PathLike[str], prog: str | None = None) -> bool:
        """Write the picture to an SVG file."""
        return self.write(path, prog, "svg")

    def write_pdf(self, path: str | PathLike[str], prog: str | None = None) -> bool:
        """Write the picture to a PDF file."""
        return self.write(path, prog, "pdf")

    def _repr_svg_(self) -> str:
        return self.create().decode("utf-8")


def _draw(model: Any, **options: Any) -> Any:
    return display.renderer("drawing", _no_drawing)(model, **options)


def _no_drawing(model: Any, **options: Any) -> Any:
    raise NotImplementedError("plot_model: kerascope.draw is not loaded. Import kerascope first.")
