"""`Drawing`: a picture of a graph in every format.

A `Drawing` shows itself in a notebook, prints as characters in a terminal, and saves itself to a
file in the format of the file's suffix. Its parts can be read: `drawing.graph` is the neutral graph
that is drawn, `drawing.whole` the same graph with nothing collapsed, and `drawing.source` the DOT
text.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult

from kerascope.errors import ArgumentError, MissingToolError
from kerascope.files import check_writable, write_whole
from kerascope.trace.records import counted
from kerascope.user_frames import warn
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.collapse.view import View
from kerascope.viz.exports.graphviz import DEFAULT_DPI, PICTURE_FORMATS, TIME_LIMIT, render
from kerascope.viz.exports.to_dot import to_dot
from kerascope.viz.exports.to_html import to_html
from kerascope.viz.exports.to_mermaid import to_mermaid
from kerascope.viz.exports.to_networkx import to_graphml, to_json, to_networkx
from kerascope.viz.exports.to_svg import graph_sheet
from kerascope.viz.exports.to_text import text_drawing, to_text
from kerascope.viz.formats import FORMATS, format_of, meaning_of
from kerascope.viz.graph import Graph
from kerascope.viz.layout.arrange import Placed
from kerascope.viz.layout.ladder import layout_of
from kerascope.viz.layout.measures import Measure
from kerascope.viz.sheet import Sheet
from kerascope.viz.writers.printed import render_sheet
from kerascope.viz.writers.svg import svg_of_sheet
from kerascope.viz.writers.tikz import needed_tex, tex_of_sheet, tikz_of_sheet

ENGINES = ("kerascope", "dot")
GRAPHVIZ, PYDOT = "graphviz", "pydot"  # packages on PyPI, imported on first use
TERMINAL_WIDTH = 80  # default columns of a drawing in characters


class Drawing:
    """A picture of a graph, which can be shown, saved and converted; `draw` returns one.

    Parameters
    ----------
    graph : Graph or View
    options : PictureOptions, optional
    engine : {"kerascope", "dot"}
        The program that lays out SVG, PNG and PDF: kerascope, or Graphviz.
    dpi : float
        Pixels per inch of a PNG.
    time_limit : float
        Seconds after which Graphviz is stopped.
    page : View, optional
        The view for the HTML page, where readers can open frames; by default the picture's view.

    Attributes
    ----------
    view : View
        The whole graph and its closed frames.
    formats : sequence of str
        Formats that `save` and `to_format` support.

    Examples
    --------
    >>> import kerascope as ks
    >>> scores = ks.layers.Dense(3, input_shape=(4,), name="scores")
    >>> drawing = ks.draw(ks.Sequential([scores], name="small"))
    >>> drawing
    <Drawing of 'small', node view: 2 boxes, 1 arrow, 2 rows. Save it with .save('model.svg')>
    >>> drawing.svg[:4], drawing.source[:7]
    ('<svg', 'digraph')
    """

    formats: Sequence[str] = FORMATS

    def __init__(
        self,
        graph: Graph | View,
        options: PictureOptions | None = None,
        *,
        engine: str = "kerascope",
        dpi: float = DEFAULT_DPI,
        time_limit: float = TIME_LIMIT,
        page: View | None = None,
    ) -> None:
        self.view = graph if isinstance(graph, View) else View(graph)
        self.options = options or PictureOptions()
        self.engine = engine
        self.dpi = dpi
        self.time_limit = time_limit
        self._page = page

    # --- the graph and its layout ---

    @property
    def graph(self) -> Graph:
        """The neutral graph that is drawn; a collapsed frame is one box."""
        return self.view.shown

    @property
    def whole(self) -> Graph:
        """The neutral graph with all boxes; nothing is collapsed."""
        return self.view.whole

    @property
    def layout(self) -> Placed:
        """The positions of boxes, frames and arrows in kerascope's own layout."""
        return self._layout[0]

    @cached_property
    def _layout(self) -> tuple[Placed, dict[str, Measure]]:
        return layout_of(self.graph, self.options)

    # --- formats ---

    @property
    def svg(self) -> str:
        """The picture as SVG text, drawn by kerascope or, with `engine="dot"`, by Graphviz."""
        if self.engine == "dot":
            return self.render("svg").decode("utf-8")
        return svg_of_sheet(self.sheet)

    @cached_property
    def sheet(self) -> Sheet:
        """The marks (rectangles, lines, labels) from which SVG, PNG, PDF and TikZ are written."""
        return graph_sheet(self.graph, self.options, *self._layout)

    @property
    def html(self) -> str:
        """The picture as an HTML page in one file, which contains the whole graph."""
        view = self._page or self.view
        return to_html(view.whole, self.options, closed=view.closed)

    @property
    def source(self) -> str:
        """The picture as DOT text, for Graphviz's own layout."""
        return to_dot(self.graph, self.options)

    @property
    def tikz(self) -> str:
        """The picture as a `tikzpicture` that a LaTeX document can input."""
        return tikz_of_sheet(self.sheet)

    @property
    def tex(self) -> str:
        """The picture as a whole LaTeX document."""
        return tex_of_sheet(self.sheet)

    @property
    def mermaid(self) -> str:
        """The picture in Mermaid's language."""
        return to_mermaid(self.graph, self.options)

    @property
    def json(self) -> str:
        """The graph that is drawn, as JSON in networkx's node-link form."""
        return to_json(self.graph)

    @property
    def graphml(self) -> bytes:
        """The graph that is drawn, in the XML format GraphML."""
        return to_graphml(self.graph)

    def to_networkx(self) -> Any:
        """Return a `networkx.MultiDiGraph` of the graph that is drawn."""
        return to_networkx(self.graph)

    def to_graphviz(self) -> Any:
        """Return the picture as a `graphviz.Digraph`, which you can change further.

        Attributes that you add override those of the picture: `graph.attr(rankdir="LR")`,
        `graph.node("dense_1", color="red")`. A notebook shows the Digraph; its methods `render` and
        `view` draw it.

        Returns
        -------
        graphviz.Digraph
            Drawing it requires the program `dot`; creating it does not.
        """
        _, *body, _ = self.source.splitlines(keepends=True)  # between the braces
        return import_module(GRAPHVIZ).Digraph(self.graph.name, body=body)

    def to_pydot(self) -> Any:
        """Return the picture as a `pydot.Dot`, as Keras's `model_to_dot` does.

        Returns
        -------
        pydot.Dot
            Its boxes, arrows and frames are objects whose attributes can be read and set. Their
            names include quotation marks, as in DOT: `graph.get_node('"dense_1"')`.

        Raises
        ------
        MissingToolError
            The package pydot is not installed.
        """
        try:
            pydot = import_module(PYDOT)
        except ImportError:
            raise MissingToolError(
                "to_pydot: the package pydot is not installed. Run `pip install pydot`, or use "
                "drawing.to_graphviz() or drawing.source."
            ) from None
        return pydot.graph_from_dot_data(self.source)[0]

    def text(self, width: int = TERMINAL_WIDTH, *, ascii_only: bool = False) -> str:
        """Return the picture drawn in characters.

        Parameters
        ----------
        width : int
            Maximum length of a line, in columns.
        ascii_only : bool
            Use ASCII characters only.
        """
        return to_text(self.graph, self.options, width=width, ascii_only=ascii_only)

    def render(self, format: str) -> bytes:
        """Return the picture in the format "svg", "png" or "pdf", as bytes.

        Raises
        ------
        MissingToolError
            Graphviz is not installed. PNG, PDF and `engine="dot"` require it.
        """
        if self.engine == "dot":
            return render(
                self.source, format, dpi=self.dpi, engine="dot", time_limit=self.time_limit
            )
        if format == "svg":
            return self.svg.encode("utf-8")
        return render_sheet(self.sheet, format, dpi=self.dpi, time_limit=self.time_limit)

    def to_format(self, format: str) -> bytes:
        """Return the picture in any of `formats.FORMATS`, as the bytes of a file.

        Raises
        ------
        ArgumentError
            The format is unknown.
        """
        meaning = meaning_of(format, self.formats)
        if meaning in PICTURE_FORMATS:
            return self.render(meaning)
        content: str | bytes = self.text() if meaning == "text" else getattr(self, meaning)
        return content.encode("utf-8") if isinstance(content, str) else content

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture to a file, in the format of its suffix, and return the path.

        Warn if a LaTeX file contains characters that pdflatex cannot set.

        Parameters
        ----------
        path : path
            Ends in one of `formats.SUFFIXES`: .svg, .png, .pdf, .html, .txt, .dot, .mmd, .json,
            .graphml, .tikz, ...

        Raises
        ------
        ArgumentError
            The suffix is unknown, or the folder does not exist.
        MissingToolError
            The format requires Graphviz, which is not installed.
        """
        path = Path(path)
        content = self.to_format(format_of(path, self.formats))
        write_whole(path, content)
        if path.suffix in (".tikz", ".tex") and needed_tex(self.sheet):
            warn(f"{path.name}: {needed_tex(self.sheet)}")
        return path

    # --- showing itself ---

    def __repr__(self) -> str:
        """Return one line: the model's name, the level, and the numbers of boxes and arrows."""
        graph = self.graph
        sizes = [counted(len(graph.nodes), "box"), counted(len(graph.edges), "arrow")]
        rows_or_frames = (
            (len(graph.groups), "frame") if graph.groups else (len(graph.rows()), "row")
        )
        sizes.append(counted(*rows_or_frames))
        hidden = sum(int(node.attrs.get("members", 0)) for node in graph.nodes)
        more = f" ({counted(hidden, 'box')} collapsed)" if hidden else ""
        level = graph.attrs.get("level", "node")
        return (
            f"<Drawing of {graph.name!r}, {level} view: {', '.join(sizes)}{more}. "
            f"Save it with .save('model.svg')>"
        )

    def __str__(self) -> str:
        """Return the picture drawn in characters, for `print`."""
        return self.text()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the picture in characters and colours, no wider than the terminal."""
        yield text_drawing(
            self.graph, self.options, width=options.max_width, ascii_only=options.ascii_only
        )

    def _repr_svg_(self) -> str:
        """Return the picture as SVG, which a notebook displays."""
        return self.svg

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the picture as SVG and, for frontends without images, as characters."""
        return {"text/plain": f"{self!r}\n{self.text()}", "image/svg+xml": self.svg}


def check_target(path: str | PathLike[str], known: Sequence[str] = FORMATS) -> None:
    """Raise now if `save(path)` would fail later, when the picture is already computed.

    Parameters
    ----------
    path : path
    known : sequence of str
        The supported formats; by default those of a `Drawing`.

    Raises
    ------
    ArgumentError
        The suffix is unknown, or the folder does not exist.
    UnavailableError
        The folder is not writable.
    """
    if not isinstance(path, (str, PathLike)):
        raise ArgumentError(
            f"draw: expected a path such as 'model.svg' as the second argument, got "
            f"{type(path).__name__}. Pass arrays as inputs=x, or as values=x to see the output of "
            f"each call."
        )
    format_of(Path(path), known)
    check_writable(path)
