"""`draw(model)`: a picture of a model. Keras's `plot_model` and `model_to_dot`.

A `Drawing` shows itself in a notebook, is saved to a file in the format that the file's name says,
and hands out what it is made of: `.graph`, the neutral graph, and `.source`, the DOT text.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from kerascope.errors import ArgumentError, MissingToolError
from kerascope.files import check_writable, replacing
from kerascope.registry import did_you_mean
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.extract import graph_of
from kerascope.viz.graph import Graph
from kerascope.viz.render import DEFAULT_DPI, PICTURE_FORMATS, render
from kerascope.viz.to_dot import to_dot
from kerascope.viz.to_networkx import to_graphml, to_json

DIRECTIONS = ("TB", "LR")
KEYWORDS = (
    "level",
    "to",
    "show_shapes",
    "show_layer_names",
    "expand_nested",
    "depth_ranks",
    "rankdir",
    "dpi",
)


class Drawing:
    """A graph and how it is to be drawn.

    Parameters
    ----------
    graph : Graph
    options : PictureOptions
    dpi : int
        Pixels per inch of a PNG.

    Attributes
    ----------
    graph : Graph
        The neutral graph.
    source : str
        The picture as DOT text.
    """

    def __init__(self, graph: Graph, options: PictureOptions, dpi: int = DEFAULT_DPI) -> None:
        self.graph = graph
        self._options = options
        self._dpi = dpi

    @property
    def source(self) -> str:
        """The picture as DOT text."""
        return to_dot(self.graph, self._options)

    def render(self, format: str) -> bytes:
        """Return the picture in one of the formats "svg", "png" and "pdf".

        Raises
        ------
        MissingToolError
            Graphviz is not installed in any form.
        """
        return render(self.source, format, dpi=self._dpi)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture to a file, in the format of its suffix, and return the path.

        Parameters
        ----------
        path : path
            Ends in .svg, .png, .pdf, .dot, .gv, .json (networkx's node-link form) or .graphml.

        Raises
        ------
        ArgumentError
            The suffix is not known, or the folder does not exist.
        MissingToolError
            Graphviz is needed, and not installed in any form.
        """
        path = Path(path)
        write = _writer(path)
        content = write(self)
        with replacing(path) as unfinished:
            unfinished.write_bytes(content)
        return path

    def __repr__(self) -> str:
        """Return one line that says what the picture shows."""
        graph = self.graph
        frames = f", {len(graph.groups)} nested" if graph.groups else ""
        sizes = f"{len(graph.nodes)} boxes, {len(graph.edges)} arrows, {len(graph.rows())} rows"
        view = graph.attrs.get("level", "node")
        return (
            f"<Drawing of {graph.name!r}, {view} view: {sizes}{frames}. "
            f"Keep it by .save('model.svg')>"
        )

    def _repr_svg_(self) -> str:
        """Return the picture for a notebook."""
        return self.render("svg").decode("utf-8")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return what a notebook may show: the picture, else one line of text."""
        bundle = {"text/plain": repr(self)}
        try:
            bundle["image/svg+xml"] = self._repr_svg_()
        except MissingToolError as error:
            bundle["text/plain"] += f"\n{error}"
        return bundle


def draw(
    model: Any,
    *,
    level: str = "node",
    to: str | PathLike[str] | None = None,
    show_shapes: bool = True,
    show_layer_names: bool = True,
    expand_nested: bool = False,
    depth_ranks: bool = False,
    rankdir: str = "TB",
    dpi: int = DEFAULT_DPI,
    **unknown: Any,
) -> Drawing:
    """Draw a model.

    Parameters
    ----------
    model : Network, Sequential or Graph
        A built model, or a neutral graph.
    level : {"node", "layer"}
        One box per call (default), or one per layer.
    to : path, optional
        Also save it there; see `Drawing.save`.
    show_shapes, show_layer_names : bool
        Whether the boxes carry the shapes of their outputs and the names of their layers.
    expand_nested : bool
        Draw what is inside nested models, in a frame per call; at level "node" only.
    depth_ranks : bool
        Write the depth of each row at its side.
    rankdir : {"TB", "LR"}
        From top to bottom, or from left to right.
    dpi : int
        Pixels per inch of a PNG.

    Returns
    -------
    Drawing

    Raises
    ------
    DtypeError
        `model` is no model.
    NotBuiltError
        It has no graph (yet).
    ArgumentError
        An option makes no sense.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.engine.model import Model
    >>> x = Input(shape=(4,), name="x")
    >>> draw(Model(x, Dense(3, name="scores")(x), name="small"))
    <Drawing of 'small', node view: 2 boxes, 1 arrows, 2 rows. Keep it by .save('model.svg')>
    """
    for name in unknown:
        hint = did_you_mean(name, KEYWORDS)
        raise ArgumentError(
            f"draw: unknown argument {name!r}. {hint}Expected one of {', '.join(KEYWORDS)}."
        )
    if rankdir not in DIRECTIONS:
        raise ArgumentError(
            f"draw: unknown rankdir; expected one of {DIRECTIONS}, got {rankdir!r}."
        )
    if isinstance(dpi, bool) or not isinstance(dpi, (int, float)) or not dpi > 0:
        raise ArgumentError(f"draw: dpi is no resolution; expected a number above 0, got {dpi!r}.")
    graph = graph_of(model, level, expand_nested)
    options = PictureOptions(
        show_shapes, show_layer_names=show_layer_names, depth_ranks=depth_ranks, rankdir=rankdir
    )
    drawing = Drawing(graph, options, dpi)
    if to is not None:
        drawing.save(to)
    return drawing


# --- files ----------------------------------------------------------------------------------------


def check_target(path: str | PathLike[str]) -> None:
    """Raise at once what `Drawing.save(path)` would raise after the work is done.

    Raises
    ------
    ArgumentError
        The suffix is not known, or the folder does not exist.
    UnavailableError
        The folder may not be written to.
    """
    _writer(Path(path))
    check_writable(path)


def _picture_writer(format: str) -> Callable[[Drawing], bytes]:
    return lambda drawing: drawing.render(format)


_WRITERS: dict[str, Callable[[Drawing], bytes]] = {
    **{f".{format}": _picture_writer(format) for format in PICTURE_FORMATS},
    ".dot": lambda drawing: drawing.source.encode("utf-8"),
    ".gv": lambda drawing: drawing.source.encode("utf-8"),
    ".json": lambda drawing: to_json(drawing.graph).encode("utf-8"),
    ".graphml": lambda drawing: to_graphml(drawing.graph),
}
SUFFIXES = tuple(_WRITERS)


def _writer(path: Path) -> Callable[[Drawing], bytes]:
    suffix = path.suffix.lower()
    if suffix not in _WRITERS:
        raise ArgumentError(
            f"draw: cannot tell the format of {str(path)!r}; expected a name that ends in one of "
            f"{', '.join(SUFFIXES)}, got {path.suffix or 'no suffix'!r}."
        )
    return _WRITERS[suffix]
