"""`Drawing`: a picture of a graph in every format.

It shows itself in a notebook and, printed, in a terminal; is saved to a file in the format that the
file's name says; and hands out what it is made of: `.graph`, the neutral graph that is drawn,
`.whole`, the same with nothing collapsed, and `.source`, the DOT text.
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
from kerascope.viz.exports.graphviz import (
    DEFAULT_DPI,
    PICTURE_FORMATS,
    TIME_LIMIT,
    render,
)
from kerascope.viz.exports.to_dot import to_dot
from kerascope.viz.exports.to_html import to_html
from kerascope.viz.exports.to_mermaid import to_mermaid
from kerascope.viz.exports.to_networkx import to_graphml, to_json, to_networkx
from kerascope.viz.exports.to_svg import graph_sheet
from kerascope.viz.exports.to_text import text_drawing, to_text
from kerascope.viz.formats import FORMATS, format_of, meaning_of
from kerascope.viz.graph import Graph
from kerascope.viz.layout.arrange import Placed
from kerascope.viz.layout.ladder import arranged
from kerascope.viz.layout.measures import Measure
from kerascope.viz.sheet import Sheet
from kerascope.viz.writers.printed import printed
from kerascope.viz.writers.svg import svg_of_sheet
from kerascope.viz.writers.tikz import needed_tex, tex_of_sheet, tikz_of_sheet

ENGINES = ("kerascope", "dot")
GRAPHVIZ, PYDOT = "graphviz", "pydot"  # packages on PyPI, loaded when somebody asks for them
TERMINAL_WIDTH = 80  # columns of a drawing in characters, if nothing is said


class Drawing:
    """A graph and how it is to be drawn.

    Parameters
    ----------
    graph : Graph or View
    options : PictureOptions, optional
    engine : {"kerascope", "dot"}
        Whose layout SVG, PNG and PDF have: our own, or Graphviz's.
    dpi : float
        Pixels per inch of a PNG.
    time_limit : float
        Seconds that Graphviz may take.
    page : View, optional
        What the page shows, where frames can be opened, if that is another.

    Attributes
    ----------
    view : View
        The whole graph and its closed frames.
    formats : sequence of str
        Those that it can be saved in.
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

    # --- what it is made of ---

    @property
    def graph(self) -> Graph:
        """The neutral graph that is drawn: what is collapsed is one box."""
        return self.view.shown

    @property
    def whole(self) -> Graph:
        """The neutral graph with nothing collapsed."""
        return self.view.whole

    @property
    def layout(self) -> Placed:
        """Where everything lies in our own picture."""
        return self._arranged[0]

    @cached_property
    def _arranged(self) -> tuple[Placed, dict[str, Measure]]:
        return arranged(self.graph, self.options)

    # --- formats ---

    @property
    def svg(self) -> str:
        """The picture as an SVG text; with `engine="dot"` it is Graphviz's."""
        if self.engine == "dot":
            return self.render("svg").decode("utf-8")
        return svg_of_sheet(self.sheet)

    @cached_property
    def sheet(self) -> Sheet:
        """The marks of our own picture, which SVG, PNG, PDF and TikZ draw."""
        return graph_sheet(self.graph, self.options, *self._arranged)

    @property
    def html(self) -> str:
        """The picture as a page in one file, with the whole graph in it."""
        view = self._page or self.view
        return to_html(view.whole, self.options, closed=view.closed)

    @property
    def source(self) -> str:
        """The picture as DOT text, for Graphviz's own layout."""
        return to_dot(self.graph, self.options)

    @property
    def tikz(self) -> str:
        """The picture as a `tikzpicture`, to be read by a LaTeX document."""
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
        """The graph that is drawn in networkx's node-link form."""
        return to_json(self.graph)

    @property
    def graphml(self) -> bytes:
        """The graph that is drawn as GraphML."""
        return to_graphml(self.graph)

    def to_networkx(self) -> Any:
        """Return the graph that is drawn as a `networkx.MultiDiGraph`."""
        return to_networkx(self.graph)

    def to_graphviz(self) -> Any:
        """Return the picture as a `graphviz.Digraph`, to go on with.

        A notebook shows it, `render` and `view` draw it by Graphviz's own programs, and what you
        add to it, or set, stands behind what is there: `graph.attr(rankdir="LR")`,
        `graph.node("dense_1", color="red")`.

        Returns
        -------
        graphviz.Digraph
            Of the package `graphviz`. It needs the program `dot` to draw; this does not.
        """
        _, *body, _ = self.source.splitlines(keepends=True)  # between the braces
        return import_module(GRAPHVIZ).Digraph(self.graph.name, body=body)

    def to_pydot(self) -> Any:
        """Return the picture as a `pydot.Dot`, what Keras's `model_to_dot` returns.

        Returns
        -------
        pydot.Dot
            Its boxes, arrows and frames are objects whose attributes can be read and set; their
            names stand in quotation marks, as in DOT: `graph.get_node('"dense_1"')`.

        Raises
        ------
        MissingToolError
            The package pydot is not installed.
        """
        try:
            pydot = import_module(PYDOT)
        except ImportError:
            raise MissingToolError(
                "to_pydot: it needs the package pydot, and it is not here. Run `pip install "
                "pydot`, or go on with drawing.to_graphviz() or drawing.source."
            ) from None
        return pydot.graph_from_dot_data(self.source)[0]

    def text(self, width: int = TERMINAL_WIDTH, *, ascii_only: bool = False) -> str:
        """Return a drawing in characters.

        Parameters
        ----------
        width : int
            Columns; no line is longer.
        ascii_only : bool
            Use no character beyond ASCII.
        """
        return to_text(self.graph, self.options, width=width, ascii_only=ascii_only)

    def render(self, format: str) -> bytes:
        """Return the picture in one of the formats "svg", "png" and "pdf".

        Raises
        ------
        MissingToolError
            Graphviz is needed (for PNG, PDF and `engine="dot"`) and not installed in any form.
        """
        if self.engine == "dot":
            return render(
                self.source, format, dpi=self.dpi, engine="dot", time_limit=self.time_limit
            )
        if format == "svg":
            return self.svg.encode("utf-8")
        return printed(self.sheet, format, dpi=self.dpi, time_limit=self.time_limit)

    def to_format(self, format: str) -> bytes:
        """Return the picture in any of `formats.FORMATS`, as the bytes of a file.

        Raises
        ------
        ArgumentError
            There is no such format.
        """
        meaning = meaning_of(format, self.formats)
        if meaning in PICTURE_FORMATS:
            return self.render(meaning)
        content: str | bytes = self.text() if meaning == "text" else getattr(self, meaning)
        return content.encode("utf-8") if isinstance(content, str) else content

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture to a file, in the format of its suffix, and return the path.

        Warn if the letters in a LaTeX file need another program than pdflatex.

        Parameters
        ----------
        path : path
            Ends in one of `formats.SUFFIXES`: .svg, .png, .pdf, .html, .txt, .dot, .mmd, .json,
            .graphml, .tikz, ...

        Raises
        ------
        ArgumentError
            The suffix is not known, or the folder does not exist.
        MissingToolError
            Graphviz is needed, and not installed in any form.
        """
        path = Path(path)
        content = self.to_format(format_of(path, self.formats))
        write_whole(path, content)
        if path.suffix in (".tikz", ".tex") and needed_tex(self.sheet):
            warn(f"{path.name}: {needed_tex(self.sheet)}")
        return path

    # --- showing itself ---

    def __repr__(self) -> str:
        """Return one line that says what the picture shows."""
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
            f"Keep it by .save('model.svg')>"
        )

    def __str__(self) -> str:
        """Return a drawing in characters, for `print`."""
        return self.text()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield a drawing in characters and colours that fits the terminal."""
        yield text_drawing(
            self.graph, self.options, width=options.max_width, ascii_only=options.ascii_only
        )

    def _repr_svg_(self) -> str:
        """Return the picture for a notebook."""
        return self.svg

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return what a notebook may show: the picture, else the drawing in characters."""
        return {"text/plain": f"{self!r}\n{self.text()}", "image/svg+xml": self.svg}


def check_target(path: str | PathLike[str], known: Sequence[str] = FORMATS) -> None:
    """Raise at once what `save(path)` would raise after the work is done.

    Parameters
    ----------
    path : path
    known : sequence of str
        The formats that there are; by default those of a `Drawing`.

    Raises
    ------
    ArgumentError
        The suffix is not known, or the folder does not exist.
    UnavailableError
        The folder may not be written to.
    """
    if not isinstance(path, (str, PathLike)):
        raise ArgumentError(
            f"the second argument is where the picture is saved, as 'model.svg'; got "
            f"{type(path).__name__}. What a model is called on is inputs=x, or values=x to see "
            f"what each call gives."
        )
    format_of(Path(path), known)
    check_writable(path)
