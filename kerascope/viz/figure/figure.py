"""`Figure`: a picture of a model for a paper, and the choice of its form.

`draw(model, style="figure")` returns a `Drawing` whose SVG, PDF and PNG are the figure; it also has
TikZ and a legend. The form is the first of `FORMS` that suits the model, unless you name one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.records import counted
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.collapse.view import View, closed_for
from kerascope.viz.drawing import Drawing
from kerascope.viz.exports.graphviz import DEFAULT_DPI, TIME_LIMIT
from kerascope.viz.figure import blocks, columns, neurons, u_shape, volumes
from kerascope.viz.figure.drawer import FigureLayout, sheet_of
from kerascope.viz.figure.insides import layer_count, with_insides
from kerascope.viz.figure.living import (
    MOST_MAPS,
    Numbers,
    living_key,
    living_sentences,
    with_portraits,
)
from kerascope.viz.figure.look import Look
from kerascope.viz.figure.marks import Page, points_of
from kerascope.viz.figure.reading import (
    Part,
    Reading,
    is_quiet_in_blocks,
    is_quiet_in_images,
    is_quiet_in_u,
    read,
)
from kerascope.viz.graph import Graph, GraphNode
from kerascope.viz.sheet import Sheet
from kerascope.viz.writers.svg import svg_of_sheet

DEFAULT_WIDTH = "174mm"
FIGURE_DPI = 300.0  # in print


class Form(NamedTuple):
    """A figure form: one way to draw a model for a paper.

    Attributes
    ----------
    suits : callable
        Returns whether the form can show all parts of a model.
    layout : callable
        Returns the layout of a model on a page.
    is_quiet : callable
        Returns whether a box belongs to the part before it, instead of being a separate part (see
        `reading.read`).
    wants : str
        What the form requires, for messages.
    fits : callable
        Returns whether the page is wide enough for a model. If not, the next form is tried.
    """

    suits: Callable[[Reading], bool]
    layout: Callable[[Reading, Page], FigureLayout]
    is_quiet: Callable[[GraphNode, Part, bool], bool]
    wants: str
    fits: Callable[[Reading, Page], bool] = lambda reading, page: True


FORMS = {
    "neurons": Form(neurons.suits, neurons.neurons, is_quiet_in_images,
                    "a chain of dense layers on vectors", neurons.fits),
    "volumes": Form(volumes.suits, volumes.volumes, is_quiet_in_images,
                    "a chain of layers with convolutions or poolings"),
    "u": Form(u_shape.suits, u_shape.u_shape, is_quiet_in_u,
              "a resolution that falls and rises again, with tensors copied across"),
    "columns": Form(columns.suits, columns.columns, is_quiet_in_blocks,
                    "recurrent layers in columns that only the last one joins"),
    "blocks": Form(blocks.suits, blocks.blocks, is_quiet_in_blocks, "any layers"),
}  # fmt: skip


class Figure(Drawing):
    """A picture of a model as a figure for a paper.

    Parameters
    ----------
    graph : Graph or View
    options : PictureOptions
        Only the theme and the colours are used. The theme "print" is black, white, grey and
        patterns; every other theme but "dark" is light.
    form : {"volumes", "u", "neurons", "blocks", "columns"}, optional
        By default, the first form that suits the model and fits the page.
    width : str
        The printed width: "84mm", "3.3in", "240pt".
    numbers : Numbers, optional
        The numbers of an input: the figure becomes a living figure, which shows them as images.
    dpi, time_limit : float
        See `Drawing`.

    Attributes
    ----------
    form : str
        The name of the form.
    reading : Reading
        The parts of the model.
    """

    def __init__(
        self,
        graph: Graph | View,
        options: PictureOptions,
        *,
        form: str | None = None,
        width: str = DEFAULT_WIDTH,
        numbers: Numbers | None = None,
        dpi: float = FIGURE_DPI,
        **rest: Any,
    ) -> None:
        others = replace(options, theme="light") if options.theme == "print" else options
        super().__init__(graph, others, dpi=dpi, **rest)  # its text and its page have no "print"
        theme = "light" if options.theme == "auto" else options.theme
        page, look = Page(points_of(width)), Look(theme, options.colors)
        self.form, self.reading = form_of(with_insides(self.view), form, page)
        if numbers is None:
            layout = FORMS[self.form].layout(self.reading, page)
        else:
            layout = self._living_layout(form, page, numbers)
            says = living_sentences(self.reading, theme, self.form)
            key = [*layout.key, *living_key(self.reading, self.form)]
            layout = layout._replace(sentences=[*layout.sentences, *says], key=key)
        self._sheet = sheet_of(layout, page, look, self.title)

    def _living_layout(self, form: str | None, page: Page, numbers: Numbers) -> FigureLayout:
        """Return the layout with images, and set the reading to that with the images.

        If the page is too narrow, fewer maps are drawn; and at last the form is "blocks", unless
        the user chose a form.
        """
        plain = self.reading
        for most in MOST_MAPS[self.form]:
            self.reading = with_portraits(plain, self.view, numbers, most, page)
            try:
                return FORMS[self.form].layout(self.reading, page)
            except ArgumentError:
                if most == MOST_MAPS[self.form][-1] and (form or self.form == "blocks"):
                    raise
        self.form, self.reading = form_of(with_insides(self.view), "blocks", page)
        return self._living_layout(form, page, numbers)

    @property
    def svg(self) -> str:
        """The figure as SVG in its printed size, with a transparent background."""
        return svg_of_sheet(self.sheet)

    @property
    def sheet(self) -> Sheet:
        """The marks of the figure as a sheet, from which all formats are written."""
        return self._sheet

    @property
    def title(self) -> str:
        """The name of the model, with its numbers of layers and parameters."""
        parameters = int(self.whole.attrs.get("parameters", 0))
        layers = layer_count(self.whole.nodes)
        name = self.graph.name or "model"
        return f"{name}: {counted(layers, 'layer')}, {counted(parameters, 'parameter')}"

    @property
    def legend(self) -> str:
        """The caption of the figure, for the paper."""
        return f"{self.title}. {self.sheet.description}"

    def __repr__(self) -> str:
        """Return one line that says what the figure shows."""
        return f"<Figure of {self.title}, as {self.form}. Save it with .save('figure.pdf')>"


def form_of(graph: Graph, form: str | None, page: Page) -> tuple[str, Reading]:
    """Return the name of the figure form to draw, and the model as parts for this form.

    Parameters
    ----------
    graph : Graph
    form : str or None
        The name of a form; None for the first form that suits the model and fits the page.
    page : Page

    Raises
    ------
    ArgumentError
        The form is unknown, or does not suit the model.
    """
    if form is None:
        for name, one in FORMS.items():
            reading = read(graph, one.is_quiet)
            if _suits(name, reading) and one.fits(reading, page):
                return name, reading
    if form not in FORMS:
        raise ArgumentError(
            f"draw: there is no form {form!r} of a figure. {did_you_mean(str(form), FORMS)}"
            f"Use one of: {', '.join(FORMS)}."
        )
    reading = read(graph, FORMS[form].is_quiet)
    if not _suits(form, reading):
        wants = "layers that are called once each" if reading.is_shared else FORMS[form].wants
        raise ArgumentError(
            f"draw: {graph.name!r} cannot be drawn with figure={form!r}, which requires "
            f"{wants}. Leave figure out, or write figure='blocks', which "
            f"draws any model."
        )
    return form, reading


def _suits(form: str, reading: Reading) -> bool:
    """Return whether a form can show a model. Only "blocks" can show models with shared layers."""
    return FORMS[form].suits(reading) and (form == "blocks" or not reading.is_shared)


def figure_of(
    graph: Graph,
    expand: Any,
    options: PictureOptions,
    form: str | None = None,
    width: str | None = None,
    dpi: float = DEFAULT_DPI,
    time_limit: float = TIME_LIMIT,
    numbers: Numbers | None = None,
) -> Figure:
    """Return the figure of a graph at level "node" with all its frames.

    Each nested model is one box unless `expand` opens it.

    Raises
    ------
    ArgumentError
        The graph does not consist of calls of layers, or is empty.
    """
    if graph.attrs.get("level", "node") not in ("node", "layer"):
        raise ArgumentError(
            f"draw: expected level 'node' for a figure, got {graph.attrs['level']!r}. "
            f"Leave out the level, or style='figure'."
        )
    if not graph.nodes:
        raise ArgumentError(
            f"draw: expected layers that a figure could show, got none in {graph.name!r}. "
            f"Add layers first."
        )
    closed = closed_for(graph, expand, len(graph.nodes) + 1)
    dots = FIGURE_DPI if dpi == DEFAULT_DPI else dpi
    width = width or DEFAULT_WIDTH
    view = View(graph, closed)
    size = {"dpi": dots, "time_limit": time_limit}
    return Figure(view, options, form=form, width=width, numbers=numbers, **size)
