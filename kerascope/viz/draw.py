"""`draw(model)`: a picture of a model. Keras's `plot_model` and `model_to_dot`.

`draw` makes a `Request`. `Request.graph` extracts the graph of the subject (`extract.subjects`) and
applies the overlays (`OVERLAYS`), each a function from a graph to a graph. Then `collapse.view`
closes frames until the graph is small enough to read, and a `Drawing` lays it out and writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike
from types import ModuleType
from typing import Any

import numpy as np

from kerascope import display
from kerascope.backend.function import Function
from kerascope.backend.graph import Tensor
from kerascope.call_inputs import inputs_asked
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.errors import ArgumentError
from kerascope.model_files import opened
from kerascope.registry import did_you_mean
from kerascope.trace.tape_store import Tape
from kerascope.viz.boxes import PictureOptions, disambiguated
from kerascope.viz.collapse.collapsed import bundled, kind_of_group
from kerascope.viz.collapse.view import MOST_BOXES, WHOLE_LEVELS, view_of
from kerascope.viz.drawing import ENGINES, Drawing, check_target
from kerascope.viz.exports.graphviz import DEFAULT_DPI, TIME_LIMIT, check_positive
from kerascope.viz.extract.forward import require_compiled
from kerascope.viz.extract.subjects import check_subject, graph_of, model_with_graph
from kerascope.viz.graph import Graph, GraphNode
from kerascope.viz.layout.columns import MOST_COLUMNS
from kerascope.viz.layout.ladder import is_ladder
from kerascope.viz.overlays.diff import with_changes_since
from kerascope.viz.overlays.gradient_norms import gradient_norms_of, with_gradient_norms
from kerascope.viz.overlays.marking import highlighted
from kerascope.viz.overlays.recorded import RecordedRun, recorded_run, values_of_run, with_run
from kerascope.viz.overlays.step_figures import with_step_figures, with_weights
from kerascope.viz.overlays.values import at_step, values_of, with_values
from kerascope.viz.own_look import own_colors, own_font
from kerascope.viz.theme import THEMES

DIRECTIONS = ("TB", "LR")
STYLES = ("graph", "figure")
_FIGURES = "kerascope.viz.figure.figure"  # loaded when the first figure is drawn
_LIVING = "kerascope.viz.figure.living"
SHAPES = (True, False, "both")
LEVELS_WITH_LOSS = ("gradient", "training")
OURS = (Layer, Graph, Tensor, list, tuple, Function, BaseException)
LONG_ROW = 8  # boxes; more are wider than a page


@dataclass(frozen=True)
class Request:
    """The arguments of `draw` that decide which graph is drawn and what is marked on it.

    Attributes
    ----------
    subject : object
        A model, layer, tensor, function, exception or graph.
    level, diff, expand, expand_nested, wrt, values, at, gradients, highlight
        As for `draw`.
    data : optional
        The batch, or the arrays by placeholder, whose gradients are drawn at the level "gradient".
    style, class_names
        As for `draw`.
    """

    subject: Any
    level: str | None = None
    diff: Any = None
    expand: Any = None
    expand_nested: bool = False
    wrt: Any = None
    values: Any = None
    at: int | None = None
    gradients: Any = None
    highlight: Any = None
    data: Any = None
    style: str = "graph"
    class_names: Sequence[str] = ()

    @property
    def is_living(self) -> bool:
        """Whether the picture is a figure that shows values, instead of a graph with values."""
        return self.style == "figure" and self.values is not None

    def graph(self) -> Graph:
        """Return the graph of the subject after all overlays.

        Raises
        ------
        ArgumentError
            The arguments do not fit the subject.
        """
        graph = whole_graph(self)
        for overlay in OVERLAYS:
            graph = overlay(graph, self)
        return graph


def draw(
    subject: Any,
    to: str | PathLike[str] | None = None,
    *,
    level: str | None = None,
    show_shapes: bool | str = True,
    show_dtype: bool = False,
    show_layer_names: bool = True,
    show_layer_activations: bool = True,
    show_trainable: bool = False,
    show_settings: bool = True,
    show_lines: bool = False,
    rankdir: str | None = None,
    wrap: int | bool = False,
    expand_nested: bool = False,
    dpi: float = DEFAULT_DPI,
    depth_ranks: bool = False,
    expand: Any = None,
    most: int | None = MOST_BOXES,
    engine: str = "kerascope",
    theme: str = "auto",
    colors: Mapping[str, str] | None = None,
    font: str | None = None,
    label: Callable[[GraphNode], str] | None = None,
    wrt: Any = None,
    values: Any = None,
    at: int | None = None,
    gradients: Any = None,
    highlight: Any = None,
    diff: Any = None,
    time_limit: float = TIME_LIMIT,
    style: str = "graph",
    figure: str | None = None,
    width: str | None = None,
    class_names: Sequence[str] = (),
    inputs: Any = None,
    **unknown: Any,
) -> Drawing:
    """Draw a model: its layers, the ops below them, its gradients or a whole training step.

    ``draw(model)`` is enough. The `Drawing` that it returns shows itself in a notebook, prints as
    characters in a terminal and saves itself in any format. Pass `to` to save it at once:
    ``draw(model, "model.svg")``.

    Parameters
    ----------
    subject : model, path, layer, tensor, list of tensors, K.function, Graph, Drawing, Tape, ...
        What to draw: usually a model, or the path of a model file (.keras, .h5, .json, .yaml or
        .onnx). A layer, tensor or function is drawn as its ops. A tape is drawn as the model that
        it recorded, with the numbers of the first training step. An exception raised by a layer's
        call or by `Model(...)` is drawn as the unfinished model, with the failed call marked. For
        models of other libraries, see `inputs`.
    to : path, optional
        Also save the picture to this file. The suffix chooses the format: .svg, .png, .pdf, .html,
        .txt, .tex, .dot, ...; see `Drawing.save`.
    level : {"node", "layer", "op", "gradient", "training"}, optional
        What a box is: "node", one call of a layer (the default for models); "layer", a layer; "op",
        one op (the default for tensors, layers and functions). "gradient" draws the forward pass
        and next to it the gradients that flow back. "training" draws a whole training step.
    show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable : bool
        What boxes show, as in Keras's `plot_model`. Shapes are output shapes;
        ``show_shapes="both"`` adds the input shapes.
    show_settings : bool
        Show the settings of layers that differ from the defaults: "3x3, stride 2, same".
    show_lines : bool
        Add to each tooltip the line of your code that created the layer, or that called the op. It
        is off by default so that the picture does not depend on the place of the script.
    rankdir : {"TB", "LR"}, optional
        Direction: top to bottom, or left to right. The default is "TB", or "LR" for gradients of
        tensors with long rows. The levels "gradient" and "training" of a model have two columns and
        can be turned only with ``engine="dot"``.
    wrap : int or bool
        Break a long chain into this many columns (with "LR", bands). True chooses the number that
        comes closest to a page of 4 by 3. It applies to SVG, PNG, PDF and LaTeX.
    expand_nested : bool
        Draw the layers inside nested models and wrappers, with a frame around each call. Only for
        the level "node"; elsewhere use `expand`.
    dpi : float
        Pixels per inch of a PNG.
    depth_ranks : bool
        Write the depth of each row next to the row.
    expand : str, layer, list of these, int, "all" or callable, optional
        Frames to open: by name, up to a nesting depth, all of them, or those for which a function
        of the `GraphGroup` returns True. At the levels "gradient" and "training", nested models
        have frames only if this is given.
    most : int, optional
        Collapse a larger graph to about this many boxes. None shows every box.
    engine : {"kerascope", "dot"}
        The program that computes the layout: kerascope, or Graphviz.
    theme : {"auto", "light", "dark", "print"}
        "auto" follows the reader's system in SVG and HTML, and is light in other formats. "print"
        uses black, white and grey, and patterns in figures.
    colors : mapping of str to str, optional
        Your own colours "#RRGGBB" for kinds of boxes (the keys of `viz.theme.STYLES`):
        ``{"dense": "#8E44AD"}``. Each is made lighter or darker where text or lines would be hard
        to see. The key "background" sets the background, which may also be "transparent". Drawings
        in characters keep the colours of the terminal.
    font : str, optional
        CSS font names, "Georgia, serif". Boxes are as wide as Helvetica needs. Other fonts are
        fitted to that width: an SVG adjusts their spacing, a PNG or PDF shrinks them if necessary.
    label : callable, optional
        A function from a `GraphNode` to the name on its box. Lines after the first become details.
    wrt : Tensor or list of Tensor, optional
        At the level "gradient" of a loss tensor: the tensors to differentiate with respect to. For
        a model, all trainable weights are drawn.
    values : optional
        Inputs, as for `predict`: each box then shows the output of its call. At the level
        "training" the sizes of the weights are shown, too. At the level "gradient" it is a batch
        ``(x, y)`` as for `train_on_batch`, or a dict from placeholders to arrays. With
        ``style="figure"`` the figure shows the outputs for the first sample as images: feature
        maps, attention weights, states, and the model's output as bars. For another sample, pass
        ``values=x[3:4]``.
    at : int, optional
        With `values`: show the state after this many steps of the forward pass.
    gradients : tuple (x, y), optional
        A batch for a compiled model: each box shows the size of the gradient that arrives at its
        call. At the levels "gradient" and "training" the boxes show the sizes of gradients, weights
        and slots, and how far each weight would move. The model is not trained.
    highlight : str, layer or list of these, optional
        Boxes to highlight: ids, names, or patterns with ``*``.
    diff : model, path, Graph, Drawing or list of arrays, optional
        An earlier version to compare with: added, removed and changed boxes are marked. If the
        graphs are equal, how far the weights have moved is shown. A list of arrays from
        `get_weights()` works as well.
    time_limit : float
        Seconds after which Graphviz is stopped.
    style : {"graph", "figure"}
        "figure" draws a figure for a paper, in a form that suits the model's structure. It has a
        legend and saves PNG at 300 dpi; see `viz.figure.figure.Figure`.
    figure : {"neurons", "volumes", "u", "columns", "blocks"}, optional
        The form of the figure, instead of the one chosen automatically.
    width : str, optional
        The printed width of a figure: "84mm", "3.3in", "240pt". The default is 174 mm.
    class_names : sequence of str, optional
        In a figure with `values`: names for the bars of the output, instead of their numbers.
    inputs : optional
        Example inputs for a PyTorch module, a JAX function or a subclassed Keras model, which must
        run once to be drawn: an array, a tuple of several, or a dict by name. They may also be the
        second argument, or be called `input_data` or `input_size`. A PyTorch module also accepts a
        shape such as (2, 4). Pass `values` instead to show the output of each call, too.

    Returns
    -------
    Drawing

    Raises
    ------
    DtypeError
        The subject cannot be drawn.
    NotBuiltError, NotCompiledError
        The model has no graph yet, or no loss.
    ArgumentError
        An option is unknown or does not fit the subject or another option.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.engine.model import Model
    >>> x = Input(shape=(4,), name="x")
    >>> model = Model(x, Dense(3, name="scores")(x), name="small")
    >>> print(draw(model))
    small · 1 call of 1 layer, 15 parameters
    <BLANKLINE>
      ╭─────────────╮
      │     ▼ x     │
      │ InputLayer  │
      │  (None, 4)  │
      ╰──────┬──────╯
             ▼
    ╭───────────────────╮
    │     ■ scores      │
    │ Dense · 15 params │
    │     (None, 3)     │
    │     ► output      │
    ╰───────────────────╯

    See the ops inside the layers, or the outputs that the layers compute for a batch:

    >>> draw(model, level="op")
    <Drawing of 'small', op view: 5 boxes, 4 arrows, 1 frame. Save it with .save('model.svg')>
    >>> draw(model, values=[[0, 0, 0, 0]]).graph.node("scores").attrs["detail"]
    '[[0 0 0]]'
    """
    to, inputs = _as_inputs(subject, to, inputs, unknown)
    _check_choices(unknown, rankdir, engine, show_shapes, wrap, style)
    figures = _check_style(style, theme, figure, width, (at, gradients, highlight, diff))
    _check_others(dpi, time_limit, most, label, to)
    look = own_colors(colors, theme, style), own_font(font, style)
    expand = _as_expand(expand, expand_nested)
    asked = subject, level, diff, expand, expand_nested, wrt, values, at, gradients, highlight
    request = Request(*asked, style=style, class_names=class_names)
    request = _with_own_subject(request, inputs)
    graph = request.graph()
    options = PictureOptions(
        show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable,
        depth_ranks, _direction(graph, rankdir, engine), theme, label, show_lines, show_settings,
        _columns(graph, wrap), *look,
    )  # fmt: skip
    if figures:
        drawing = _figure(figures, graph, request, options, (figure, width, dpi, time_limit))
    else:
        drawing = _drawing(graph, request, most, options, engine, dpi, time_limit)
    if to is not None:
        drawing.save(to)
    return drawing


def _figure(
    figures: ModuleType,
    graph: Graph,
    request: Request,
    options: PictureOptions,
    how: tuple[Any, ...],
) -> Drawing:
    """Return the `Figure` of a graph; a living figure if the request has values."""
    numbers = _numbers_of(graph, request) if request.is_living else None
    return figures.figure_of(graph, request.expand, options, *how, numbers=numbers)


NOTHING_OPEN: tuple[str, ...] = ()  # `expand`: nested models have frames, all of them closed


def _drawing(
    graph: Graph,
    request: Request,
    most: int | None,
    options: PictureOptions,
    engine: str,
    dpi: float,
    time_limit: float,
) -> Drawing:
    """Return the `Drawing` of a graph.

    The HTML page of a ladder without frames gets a graph with frames, so that readers can open
    nested models there.
    """
    page = None
    is_flat = is_ladder(graph) and request.expand in (None, False)
    if is_flat and any(node.kind == "model" for node in graph.nodes):
        page = view_of(replace(request, expand=NOTHING_OPEN).graph(), None, most)
    view = view_of(graph, request.expand, most)
    return Drawing(view, options, engine=engine, dpi=dpi, time_limit=time_limit, page=page)


def _direction(graph: Graph, asked: str | None, engine: str) -> str:
    """Return the direction of a picture: by default "TB", but "LR" for gradients with long rows."""
    if is_ladder(graph) and asked == "LR" and engine == "kerascope":
        raise ArgumentError(
            f"draw: rankdir='LR' does not fit level={graph.attrs['level']!r}, which runs down one "
            f"side and up the other. Leave it out, or use Graphviz: engine='dot'."
        )
    if asked is not None or is_ladder(graph):
        return asked or "TB"
    longest = max((len(row) for row in graph.rows().values()), default=0)
    return "LR" if graph.attrs.get("level") in WHOLE_LEVELS and longest > LONG_ROW else "TB"


def _columns(graph: Graph, wrap: int | bool) -> int | bool:
    """Return the option `wrap`. Raise if it is set for a ladder, which has two columns already."""
    if wrap and is_ladder(graph):
        raise ArgumentError(
            f"draw: wrap={wrap!r} does not fit level={graph.attrs['level']!r}, which has two "
            f"columns already. Leave it out, or collapse more: most=20."
        )
    return wrap


KEYWORDS = ("to", *(draw.__kwdefaults__ or {}))


def whole_graph(request: Request, where: str = "draw") -> Graph:
    """Return the graph of a request with all its frames, before overlays and before collapsing.

    Nested models have frames too, except at the level "layer". On a ladder they have frames only if
    `expand` is given.
    """
    level, expand_nested = request.level, request.expand_nested
    if expand_nested and level not in (None, "node", "layer"):
        raise ArgumentError(
            f"draw: expand_nested=True expected level='node', got level={level!r}. "
            f"Use expand='all'."
        )
    nested = expand_nested or level != "layer"
    if level in LEVELS_WITH_LOSS:
        nested = request.expand not in (None, False)
    wrt, data = request.wrt, request.data
    return bundled(
        disambiguated(graph_of(request.subject, level, nested, where, wrt=wrt, data=data))
    )


def _as_inputs(subject: Any, to: Any, inputs: Any, unknown: dict[str, Any]) -> tuple[Any, Any]:
    """Return the path to save to, and the example inputs.

    The example inputs may be in `inputs`, in the second argument of `draw`, or in an argument with
    the name that another library uses.
    """
    is_path = to is None or isinstance(to, (str, PathLike))
    if not is_path and not isinstance(subject, OURS):
        if inputs is not None:
            raise ArgumentError(
                "draw: expected the inputs once, got a second argument and also inputs. Keep one."
            )
        to, inputs = None, to
    return to, inputs_asked("draw", unknown, inputs)


def _with_own_subject(request: Request, inputs: Any) -> Request:
    """Return the request with its subject as a model or graph of kerascope.

    A tape becomes the recorded model, with the values of the run. A file becomes the model in it,
    and a model of another library becomes its graph.
    """
    level, has_gradients = request.level, request.gradients is not None
    subject, diff = (_undrawn(one, level, has_gradients) for one in (request.subject, request.diff))
    own, values, data = subject, request.values, None
    is_living = request.is_living or (request.style == "figure" and isinstance(subject, Tape))
    if len(request.class_names) and not is_living:
        raise ArgumentError(
            "draw: class_names=... names the bars of a figure with values. Write draw(model, "
            "style='figure', values=x, class_names=[...])."
        )
    if isinstance(subject, Tape):
        if values is not None or inputs is not None:
            raise ArgumentError(
                "draw: expected no values or inputs with a tape, which has recorded its own. Leave "
                "them out, or draw the model."
            )
        own, values = recorded_run(subject, "draw")
        is_step = values.is_training and request.style == "graph"  # a figure has no backward pass
        level = level or ("training" if is_step else None)
        return replace(request, subject=own, diff=diff, level=level, values=values)
    if not isinstance(subject, OURS):
        own, values = display.renderer("drawable", _as_it_is)(subject, inputs, values)
    if own is subject and inputs is not None:
        check_subject(subject, "draw")
        raise ArgumentError(
            "draw: inputs=... is for models of other libraries, which must run to be drawn. Leave "
            "it out, or show the output of each call: values=x."
        )
    if own is not subject and isinstance(own, Graph) and level not in (None, "node"):
        raise ArgumentError(
            f"draw: a {type(subject).__name__} is drawn with one box per call: expected "
            f"level='node', got {level!r}."
        )
    if request.wrt is not None and isinstance(own, Network):
        raise ArgumentError(
            "draw: wrt=... is for a loss tensor. A model is drawn with all its trainable weights. "
            "Leave it out, or draw model.total_loss."
        )
    if level == "gradient" and not isinstance(values, RecordedRun):
        values, data = None, values
    return replace(request, subject=own, diff=diff, values=values, data=data)


def _as_it_is(subject: Any, inputs: Any, values: Any) -> tuple[Any, Any]:
    return subject, values


def _undrawn(subject: Any, level: str | None, has_gradients: bool) -> Any:
    """Return the whole graph of a `Drawing`, or the model in a file; other subjects unchanged."""
    if isinstance(subject, Drawing):
        return subject.whole
    with_loss = level in LEVELS_WITH_LOSS or has_gradients
    return opened(subject, compile=with_loss, opaque=True)


def _as_expand(expand: Any, expand_nested: bool) -> Any:
    """Return `expand`, or with Keras's `expand_nested` a function that opens calls of models."""
    if not expand_nested:
        return as_names(expand)
    if expand is not None:
        raise ArgumentError(
            f"draw: expand_nested=True and expand={expand!r} both open frames. Leave one out."
        )
    return lambda group: kind_of_group(group) == "call"


# --- arguments ------------------------------------------------------------------------------------


def _unknown(name: str) -> ArgumentError:
    to = name in ("to_file", "path", "filename")
    meant = "Did you mean 'to'? " if to else did_you_mean(name, KEYWORDS)
    return ArgumentError(
        f"draw: unknown argument {name!r}. {meant}Use one of: {', '.join(KEYWORDS)}."
    )


def _check_choice(name: str, value: Any, known: tuple[Any, ...]) -> None:
    if value not in known:
        raise ArgumentError(
            f"draw: unknown {name} {value!r}. {did_you_mean(str(value), [*map(str, known)])}"
            f"Use one of: {', '.join(map(repr, known))}."
        )


def _check_choices(
    unknown: Any, rankdir: Any, engine: Any, show_shapes: Any, wrap: Any, style: Any
) -> None:
    if unknown:
        raise _unknown(next(iter(unknown)))
    _check_choice("rankdir", rankdir or "TB", DIRECTIONS)
    _check_choice("engine", engine, ENGINES)
    _check_choice("show_shapes", show_shapes, SHAPES)
    _check_wrap(wrap, engine, style)


def _check_style(
    style: str, theme: str, figure: Any, width: Any, marks: tuple[Any, ...]
) -> ModuleType | None:
    """Check the options of figures. Return the module that draws figures, or None for a graph."""
    _check_choice("style", style, STYLES)
    _check_choice("theme", theme, THEMES)
    if style == "figure":
        if any(mark is not None for mark in marks):
            raise ArgumentError(
                "draw: style='figure' shows the structure of a model, and with values=x the "
                "outputs of its layers, without at, gradients, highlight or diff. Leave these or "
                "the style out."
            )
        return import_module(_FIGURES)
    if figure is not None or width is not None:
        raise ArgumentError(
            f"draw: figure=... and width=... expected style='figure', got {style!r}. "
            f"Write draw(model, style='figure', width='84mm')."
        )
    return None


def _check_wrap(wrap: Any, engine: str, style: str) -> None:
    is_number = isinstance(wrap, (int, np.integer))  # a bool is one
    if not is_number or not 0 <= wrap <= MOST_COLUMNS:
        raise ArgumentError(
            f"draw: wrap: expected True or 1 to {MOST_COLUMNS} columns, got {wrap!r:.60}."
        )
    if wrap and (engine == "dot" or style == "figure"):
        other = "engine='dot'" if engine == "dot" else "style='figure'"
        raise ArgumentError(f"draw: wrap={wrap!r} does not work with {other}. Leave one out.")


def _check_others(dpi: Any, time_limit: Any, most: Any, label: Any, to: Any) -> None:
    if to is not None:
        check_target(to)
    check_positive("draw", "dpi", dpi)
    check_positive("draw", "time_limit", time_limit)
    if most is not None:
        check_positive("draw", "most", most)
    if label is not None and not callable(label):
        raise ArgumentError(
            f"draw: expected label as a function from a box to its name, got {label!r:.60}. "
            f"Write label=lambda box: box.id."
        )


# --- overlays: a diff, values, gradients, highlights ----------------------------------------------


def _with_diff(graph: Graph, request: Request) -> Graph:
    """Return the graph with the differences from `diff` marked; unchanged if `diff` is None."""

    def earlier(subject: Any) -> Graph:
        return whole_graph(replace(request, subject=subject), "draw: diff")

    before = request.diff
    return graph if before is None else with_changes_since(graph, request.subject, before, earlier)


def _with_highlights(graph: Graph, request: Request) -> Graph:
    """Mark the boxes that `highlight` names."""
    names = request.highlight
    return graph if names is None else highlighted(graph, _names(names))


def as_names(given: Any) -> Any:
    """Return a layer, or a list with layers, with each layer replaced by its name."""
    if isinstance(given, Layer):
        return given.name
    if isinstance(given, (list, tuple)):
        return [as_names(one) for one in given]
    return given


def _names(highlight: Any) -> Any:
    names = as_names(highlight)
    listed = [names] if isinstance(names, str) else names
    if isinstance(listed, (list, set, frozenset)) and all(isinstance(x, str) for x in listed):
        return names
    raise ArgumentError(f"draw: highlight: expected names of boxes or layers, got {names!r:.80}.")


def _is_ladder_of_model(graph: Graph, request: Request, what: str) -> bool:
    """Return whether a graph is a ladder of a model: the level "gradient" or "training".

    Raise unless the graph is such a ladder or shows the calls of a model (level "node").
    """
    is_model, level = isinstance(request.subject, Network), graph.attrs.get("level", "?")
    if is_model and is_ladder(graph):
        return True
    if is_model and level == "node":
        return False
    raise ArgumentError(
        f"draw: {what} expected a model at level 'node', 'gradient' or 'training', got "
        f"{type(request.subject).__name__} at level {level!r}."
    )


def _with_values(graph: Graph, request: Request) -> Graph:
    """Write the values of each call into its box, up to the step `at` if it is given."""
    subject, values, at = request.subject, request.values, request.at
    if values is None or request.is_living:
        if at is not None:
            raise ArgumentError(f"draw: at={at!r} needs the inputs of the run: values=x.")
        return graph
    if isinstance(values, RecordedRun):
        return with_run(graph, values, at)
    found = _outputs_of_calls(graph, request)
    if not isinstance(subject, Graph) and is_ladder(graph):
        graph = with_weights(graph, subject)
    return with_values(graph, found) if at is None else at_step(graph, found, at)


def _outputs_of_calls(graph: Graph, request: Request) -> dict[str, Any]:
    """Return the outputs of each call for the `values` of a request, by the ids of calls."""
    subject, values = request.subject, request.values
    if isinstance(values, RecordedRun):
        return values_of_run(values, graph)
    if isinstance(subject, Graph):
        if not isinstance(values, Mapping):
            raise ArgumentError(
                "draw: values for a Graph: expected a dict from the ids of its boxes to arrays, "
                f"got {type(values).__name__}."
            )
        return dict(values)
    is_on_ladder = _is_ladder_of_model(graph, request, "values=")
    return values_of(model_with_graph(subject), values, nested=not is_on_ladder)


def _numbers_of(graph: Graph, request: Request) -> Any:
    """Return the `Numbers` of a living figure: outputs, attention weights and states.

    None at a level that has no figures, which is an error of its own.
    """
    if graph.attrs.get("level", "node") not in ("node", "layer"):
        return None
    living = import_module(_LIVING)
    outputs = _outputs_of_calls(graph, request)
    inside: dict[str, np.ndarray] = {}
    if isinstance(request.subject, Network) and not isinstance(request.values, RecordedRun):
        inside = living.numbers_inside(model_with_graph(request.subject), request.values)
    return living.Numbers(outputs, inside, [*map(str, request.class_names)])


def _with_gradients(graph: Graph, request: Request) -> Graph:
    """If `gradients`, a batch (x, y), is given, write the sizes of its gradients into the boxes."""
    subject, gradients = request.subject, request.gradients
    if gradients is None:
        return graph
    is_on_ladder = _is_ladder_of_model(graph, request, "gradients=")
    if not isinstance(gradients, (tuple, list)) or len(gradients) != 2:
        raise ArgumentError(f"draw: gradients: expected (x, y), got {type(gradients).__name__}.")
    require_compiled(subject, "draw: gradients=")
    if is_on_ladder:
        x, y = gradients
        return with_step_figures(graph, subject, x, y, where="draw: gradients=")
    return with_gradient_norms(graph, *gradient_norms_of(subject, *gradients))


OVERLAYS = (_with_diff, _with_values, _with_gradients, _with_highlights)  # in this order
