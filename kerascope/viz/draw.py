"""`draw(model)`: a picture of a model. Keras's `plot_model` and `model_to_dot`.

`draw` makes a `Request`. `Request.graph` runs its steps: the graph of the subject
(`extract.subjects`), then one overlay after the other (`OVERLAYS`), each a function from a graph to
a graph. Then frames are closed (`collapse.view`), and a `Drawing` lays the graph out and writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from kerascope.viz.boxes import PictureOptions, named_apart
from kerascope.viz.collapse.collapsed import bundled, kind_of_group
from kerascope.viz.collapse.view import MOST_BOXES, WHOLE_LEVELS, view_of
from kerascope.viz.drawing import ENGINES, Drawing, check_target
from kerascope.viz.exports.graphviz import DEFAULT_DPI, TIME_LIMIT, check_positive
from kerascope.viz.extract.forward import require_compiled
from kerascope.viz.extract.subjects import check_subject, graph_of, model_with_graph
from kerascope.viz.graph import Graph, GraphNode
from kerascope.viz.layout.columns import MOST_COLUMNS
from kerascope.viz.layout.ladder import is_ladder
from kerascope.viz.overlays.diff import compared
from kerascope.viz.overlays.gradient_norms import gradient_norms_of, with_gradient_norms
from kerascope.viz.overlays.marking import highlighted
from kerascope.viz.overlays.recorded import Recorded, recorded_run, with_run
from kerascope.viz.overlays.step_figures import with_step_figures, with_weights
from kerascope.viz.overlays.values import at_step, values_of, with_values
from kerascope.viz.own_look import own_colors, own_font
from kerascope.viz.theme import THEMES

DIRECTIONS = ("TB", "LR")
STYLES = ("graph", "figure")
_FIGURES = "kerascope.viz.figure.figure"  # loaded when the first figure is drawn
SHAPES = (True, False, "both")
LEVELS_WITH_LOSS = ("gradient", "training")
OURS = (Layer, Graph, Tensor, list, tuple, Function, BaseException)
LONG_ROW = 8  # boxes; more are wider than a page


@dataclass(frozen=True)
class Request:
    """The arguments of `draw` that decide what the graph is and what is marked on it.

    Attributes
    ----------
    subject : object
        A model, layer, tensor, function, exception or graph.
    level, diff, expand, expand_nested, wrt, values, at, gradients, highlight
        As for `draw`.
    data : optional
        The batch that gradients of a model of another library are computed from.
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

    def graph(self) -> Graph:
        """Return the graph of the subject after all overlays.

        Raises
        ------
        ArgumentError
            The arguments do not fit what is drawn.
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
    inputs: Any = None,
    **unknown: Any,
) -> Drawing:
    """Draw a model, or what is inside it.

    Parameters
    ----------
    subject : model, layer, tensor, list of tensors, K.function, exception, Graph, Drawing or Tape
        A model, or the path of a file of one: .keras, .h5, .json, .yaml or .onnx. An exception is
        one that a call of a layer, or `Model(...)`, raised: drawn is how far the model was built,
        with what failed marked. Or a model of another library: see `inputs`.
        Of a tape: the model of which it tells, with the numbers of its first training step.
    to : path, optional
        Also save it there; see `Drawing.save`.
    level : {"layer", "node", "op", "gradient", "training"}, optional
        One box per layer, per call (default for a model), or per op (default for what is below);
        the gradients on their way back beside the way forward; or a whole step of training.
    show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable : bool
        What the boxes say. `show_shapes="both"`: the shapes of what goes in, too.
    show_settings : bool
        Say how a layer is set, as far as it is not so by itself: "3x3, stride 2, same".
    show_lines : bool
        Let the tooltip of each box say which line made it: the layer, or the op in a `call` or a
        loss. It is off by itself, so that the same model gives the same picture wherever it stands.
    rankdir : {"TB", "LR"}, optional
        From top to bottom, or from left to right. If nothing is said it is the first, but for
        gradients of tensors with long rows the second. The gradients and the training of a model
        always run down one side and up the other; only `engine="dot"` can turn them.
    wrap : int or bool
        Set a long chain in so many columns, side by side; True: as many as come closest to a page
        of 4 by 3. From left to right they are bands. In SVG, PNG and PDF; a page can be scrolled
        and folded, and a terminal too.
    expand_nested : bool
        Draw what is inside nested models and wrappers, in a frame per call; at level "node" only.
    dpi : float
        Pixels per inch of a PNG.
    depth_ranks : bool
        Write the depth of each row at its side.
    expand : str, layer, list of these, int, "all" or callable, optional
        Frames that shall be open: by name, by how deep they lie, or as a function of the
        `GraphGroup` says. Levels "gradient" and "training" have frames of nested models only then.
    most : int, optional
        A larger graph is collapsed to about so many boxes; None shows all.
    engine : {"kerascope", "dot"}
        Our own layout, or Graphviz's.
    theme : {"auto", "light", "dark", "print"}
        "auto": as the reader's system wants it, where the format can ask; else light. "print":
        black, white and grey; figures have patterns besides.
    colors : mapping of str to str, optional
        Colours of your own, "#RRGGBB", by kinds of boxes: ``{"dense": "#8E44AD"}``. Each is made
        lighter or darker so that words on it, and lines, can be seen. ``"background"`` is the
        colour behind all, or "transparent". The kinds are those of `viz.theme.STYLES`. A drawing
        in characters has the colours of the terminal.
    font : str, optional
        The letters' font, "Georgia, serif", where the reader has it. A box is as wide as Helvetica
        needs; an SVG sets others as wide, a PNG or PDF sets wider ones smaller.
    label : callable, optional
        From a `GraphNode` to the name on its box; further lines become details.
    wrt : Tensor or list of Tensor, optional
        With respect to what a loss is differentiated, at level "gradient"; not for a model.
    values : optional
        Arrays for the inputs, as for `predict`: what each call gives stands in its box; at level
        "training" the sizes of the weights, too. At level "gradient": `(x, y)`, as for
        `train_on_batch`, or a dict from placeholders to arrays.
    at : int, optional
        With `values`: the picture after so many steps of the forward pass.
    gradients : tuple (x, y), optional
        For a compiled model: the size of the gradient that arrives at each call. At the levels
        "gradient" and "training" the batch fills the cards: sizes of gradients, weights and slots,
        and by how much each weight changes. Nothing is trained.
    highlight : str, layer or list of these, optional
        Ids or names of boxes, or patterns with `*`.
    diff : model, path, Graph, Drawing or list of arrays, optional
        What it was before: what was added, removed and changed since is marked. If the graph is
        the same, how far the weights have moved; so also for the arrays that `get_weights()` gave.
    time_limit : float
        Seconds that Graphviz may take.
    style : {"graph", "figure"}
        "figure": a figure for a paper, in a form that its structure asks for; see
        `viz.figure.figure.Figure`, which has a legend too. Its PNG has 300 dpi.
    figure : {"neurons", "volumes", "u", "columns", "blocks"}, optional
        The form of a figure, instead of the one that suits.
    width : str, optional
        Of a figure in print: "84mm", "3.3in", "240pt"; 174 mm if nothing is said.
    inputs : optional
        What a module of PyTorch, a function of JAX or a subclassed model of Keras is called on, so
        that it is seen what runs; a tuple of several, or a dict of those with names. A module of
        PyTorch also takes a shape, such as (2, 4), and inputs as the second argument, as
        `input_data` or as `input_size`. With `values` instead, what each call gives stands in its
        box.

    Returns
    -------
    Drawing

    Raises
    ------
    DtypeError
        There is no graph of such a thing.
    NotBuiltError, NotCompiledError
        The model has no graph, or no loss, yet.
    ArgumentError
        An option makes no sense.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.engine.model import Model
    >>> x = Input(shape=(4,), name="x")
    >>> draw(Model(x, Dense(3, name="scores")(x), name="small"))
    <Drawing of 'small', node view: 2 boxes, 1 arrow, 2 rows. Keep it by .save('model.svg')>
    """
    to, inputs = _as_inputs(subject, to, inputs, unknown)
    _check_choices(unknown, rankdir, engine, show_shapes, wrap, style)
    figures = _check_style(style, theme, figure, width, (values, at, gradients, highlight, diff))
    _check_others(dpi, time_limit, most, label)
    look = own_colors(colors, theme, style), own_font(font, style)
    if to is not None:
        check_target(to)
    expand = _as_expand(expand, expand_nested)
    asked = subject, level, diff, expand, expand_nested, wrt, values, at, gradients, highlight
    request = _with_own_subject(Request(*asked), inputs)
    graph = request.graph()
    options = PictureOptions(
        show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable,
        depth_ranks, _direction(graph, rankdir, engine), theme, label, show_lines, show_settings,
        _columns(graph, wrap), *look,
    )  # fmt: skip
    if figures:
        drawing = figures.figure_of(graph, expand, options, figure, width, dpi, time_limit)
    else:
        drawing = _drawing(graph, request, most, options, engine, dpi, time_limit)
    if to is not None:
        drawing.save(to)
    return drawing


NOTHING_OPEN: tuple[str, ...] = ()  # frames of nested models are there, and none of them is open


def _drawing(
    graph: Graph,
    request: Request,
    most: int | None,
    options: PictureOptions,
    engine: str,
    dpi: float,
    time_limit: float,
) -> Drawing:
    """Return the picture; in the page of a flat ladder nested models can be opened, too."""
    page = None
    is_flat = is_ladder(graph) and request.expand in (None, False)
    if is_flat and any(node.kind == "model" for node in graph.nodes):
        page = view_of(replace(request, expand=NOTHING_OPEN).graph(), None, most)
    view = view_of(graph, request.expand, most)
    return Drawing(view, options, engine=engine, dpi=dpi, time_limit=time_limit, page=page)


def _direction(graph: Graph, asked: str | None, engine: str) -> str:
    """Return the direction of a picture; if none was asked, long rows become columns."""
    if is_ladder(graph) and asked == "LR" and engine == "kerascope":
        raise ArgumentError(
            f"draw: the {graph.attrs['level']} of a model runs down one side and up the other; got "
            f"rankdir='LR'. Leave it out, or let Graphviz lay it out: engine='dot'."
        )
    if asked is not None or is_ladder(graph):
        return asked or "TB"
    longest = max((len(row) for row in graph.rows().values()), default=0)
    return "LR" if graph.attrs.get("level") in WHOLE_LEVELS and longest > LONG_ROW else "TB"


def _columns(graph: Graph, wrap: int | bool) -> int | bool:
    """Return in how many columns a picture is set."""
    if wrap and is_ladder(graph):
        raise ArgumentError(
            f"draw: wrap={wrap!r} sets rows in columns; the {graph.attrs['level']} of a model has "
            f"two sides already. Leave it out, or collapse more: most=20."
        )
    return wrap


KEYWORDS = ("to", *(draw.__kwdefaults__ or {}))


def whole_graph(request: Request, where: str = "draw") -> Graph:
    """Return the graph with all its frames; those of nested models are there, open or closed.

    On a ladder they are only there if something is to be opened, or in a page may be.
    """
    level, expand_nested = request.level, request.expand_nested
    if expand_nested and level not in (None, "node", "layer"):
        raise ArgumentError(
            f"draw: expand_nested=True draws nested models at level 'node'; got level={level!r}. "
            f"Use expand='all'."
        )
    nested = expand_nested or level != "layer"
    if level in LEVELS_WITH_LOSS:
        nested = request.expand not in (None, False)
    wrt, data = request.wrt, request.data
    return bundled(named_apart(graph_of(request.subject, level, nested, where, wrt=wrt, data=data)))


def _as_inputs(subject: Any, to: Any, inputs: Any, unknown: dict[str, Any]) -> tuple[Any, Any]:
    """Return where the picture is saved, and the inputs, also in the words of other tools."""
    is_path = to is None or isinstance(to, (str, PathLike))
    if not is_path and not isinstance(subject, OURS):
        if inputs is not None:
            raise ArgumentError(
                "draw: expected the inputs once, got a second argument and inputs. Keep one."
            )
        to, inputs = None, to
    return to, inputs_asked("draw", unknown, inputs)


def _with_own_subject(request: Request, inputs: Any) -> Request:
    """Return a request for a model or graph of kerascope.

    A tape is replaced by the model that it recorded, with the numbers of its run; a file by the
    model in it; a model of another library by its graph.
    """
    level, has_gradients = request.level, request.gradients is not None
    subject, diff = (_undrawn(one, level, has_gradients) for one in (request.subject, request.diff))
    own, values, data = subject, request.values, None
    if isinstance(subject, Tape):
        if values is not None or inputs is not None:
            raise ArgumentError(
                "draw: a tape has its own numbers; got values or inputs, too. Leave them out, or "
                "draw the model."
            )
        own, values = recorded_run(subject, "draw")
        level = level or ("training" if values.is_training else None)
        return replace(request, subject=own, diff=diff, level=level, values=values)
    if not isinstance(subject, OURS):
        own, values = display.renderer("drawable", _as_it_is)(subject, inputs, values)
    if own is subject and inputs is not None:
        check_subject(subject, "draw")
        raise ArgumentError(
            "draw: inputs=... is what a model of another library is called on; this one is drawn "
            "without. Leave it out, or show what each call gives: values=..."
        )
    if own is not subject and isinstance(own, Graph) and level not in (None, "node"):
        raise ArgumentError(
            f"draw: of a {type(subject).__name__} there is level 'node' only, one box for each "
            f"call; got {level!r}."
        )
    if request.wrt is not None and isinstance(own, Network):
        raise ArgumentError(
            "draw: wrt=... belongs to a loss, that is one tensor; of a model all trainable weights "
            "are shown. Leave it out, or draw model.total_loss."
        )
    if level == "gradient" and not isinstance(values, Recorded):
        values, data = None, values
    return replace(request, subject=own, diff=diff, values=values, data=data)


def _as_it_is(subject: Any, inputs: Any, values: Any) -> tuple[Any, Any]:
    return subject, values


def _undrawn(subject: Any, level: str | None, has_gradients: bool) -> Any:
    """Return the whole graph of a drawing, and the model in a file."""
    if isinstance(subject, Drawing):
        return subject.whole
    with_loss = level in LEVELS_WITH_LOSS or has_gradients
    return opened(subject, compile=with_loss, opaque=True)


def _as_expand(expand: Any, expand_nested: bool) -> Any:
    """Return what shall be open, with Keras's word for nested models translated."""
    if not expand_nested:
        return as_names(expand)
    if expand is not None:
        raise ArgumentError(
            f"draw: expand_nested=True and expand={expand!r} both say what is open. Leave one out."
        )
    return lambda group: kind_of_group(group) == "call"


# --- arguments ------------------------------------------------------------------------------------


def _unknown(name: str) -> ArgumentError:
    to = name in ("to_file", "path", "filename")
    meant = "Did you mean 'to'? " if to else did_you_mean(name, KEYWORDS)
    return ArgumentError(
        f"draw: unknown argument {name!r}. {meant}Expected one of {', '.join(KEYWORDS)}."
    )


def _check_choice(name: str, value: Any, known: tuple[Any, ...]) -> None:
    if value not in known:
        raise ArgumentError(
            f"draw: unknown {name}; expected one of {known}, got {value!r}. "
            f"{did_you_mean(str(value), [*map(str, known)])}".rstrip()
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
    """Return the module that draws figures, if one is wanted."""
    _check_choice("style", style, STYLES)
    _check_choice("theme", theme, THEMES)
    if style == "figure":
        if any(mark is not None for mark in marks):
            raise ArgumentError(
                "draw: a figure shows how a model is built; got style='figure' with values, "
                "gradients, highlight or diff. Leave these out, or the style; what a model of "
                "another library is called on is inputs=x."
            )
        return import_module(_FIGURES)
    if figure is not None or width is not None:
        raise ArgumentError(
            f"draw: figure and width belong to figures; expected style='figure', got {style!r}. "
            f"Write draw(model, style='figure', width='84mm')."
        )
    return None


def _check_wrap(wrap: Any, engine: str, style: str) -> None:
    is_number = isinstance(wrap, (int, np.integer))  # a bool is one
    if not is_number or not 0 <= wrap <= MOST_COLUMNS:
        raise ArgumentError(
            f"draw: wrap is a number of columns, 1 to {MOST_COLUMNS}, or True; got {wrap!r:.60}."
        )
    if wrap and (engine == "dot" or style == "figure"):
        other = "engine='dot'" if engine == "dot" else "style='figure'"
        raise ArgumentError(
            f"draw: wrap={wrap!r} is for our own layout of boxes; got {other}. Leave one out."
        )


def _check_others(dpi: Any, time_limit: Any, most: Any, label: Any) -> None:
    check_positive("draw", "dpi is no resolution", dpi)
    check_positive("draw", "time_limit is no time", time_limit)
    if most is not None:
        check_positive("draw", "most is no number of boxes", most)
    if label is not None and not callable(label):
        raise ArgumentError(
            f"draw: label is no function from a box to its name; got {label!r:.60}. "
            f"Write label=lambda box: box.id."
        )


# --- marked: values, a moment of a run, gradients, highlights -------------------------------------


def _with_diff(graph: Graph, request: Request) -> Graph:
    """Mark what has changed since `diff`."""

    def earlier(subject: Any) -> Graph:
        return whole_graph(replace(request, subject=subject), "draw: diff")

    before = request.diff
    return graph if before is None else compared(graph, request.subject, before, earlier)


def _with_highlights(graph: Graph, request: Request) -> Graph:
    """Mark the boxes that `highlight` names."""
    names = request.highlight
    return graph if names is None else highlighted(graph, _names(names))


def as_names(given: Any) -> Any:
    """Return what was given with the name of each layer for the layer."""
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
    raise ArgumentError(
        f"draw: highlight expected ids or names of boxes, or layers; got {highlight!r:.80}."
    )


def _is_ladder_of_model(graph: Graph, request: Request, what: str) -> bool:
    """Return whether a graph is a ladder of a model; raise unless it is, or shows its calls."""
    is_model, level = isinstance(request.subject, Network), graph.attrs.get("level", "?")
    if is_model and is_ladder(graph):
        return True
    if is_model and level == "node":
        return False
    raise ArgumentError(
        f"draw: {what} stands on the calls of a model; expected a model at level 'node', got "
        f"{type(request.subject).__name__} at level {level!r}."
    )


def _with_values(graph: Graph, request: Request) -> Graph:
    """Write the values of each call into its box, and the step `at` if one is given."""
    subject, values, at = request.subject, request.values, request.at
    if values is None:
        if at is not None:
            raise ArgumentError(f"draw: at={at!r} is a step of a run; expected values=... with it.")
        return graph
    if isinstance(values, Recorded):
        return with_run(graph, values, at)
    if isinstance(subject, Graph):
        if not isinstance(values, Mapping):
            raise ArgumentError(
                "draw: values of a Graph are a dict from the ids of its boxes to arrays; "
                f"got {type(values).__name__}."
            )
        found: Any = dict(values)
    else:
        is_on_ladder = _is_ladder_of_model(graph, request, "values=")
        if is_on_ladder:
            graph = with_weights(graph, subject)
        found = values_of(model_with_graph(subject), values, nested=not is_on_ladder)
    return with_values(graph, found) if at is None else at_step(graph, found, at)


def _with_gradients(graph: Graph, request: Request) -> Graph:
    """Mark the size of the gradients of a batch."""
    subject, gradients = request.subject, request.gradients
    if gradients is None:
        return graph
    is_on_ladder = _is_ladder_of_model(graph, request, "gradients=")
    if not isinstance(gradients, (tuple, list)) or len(gradients) != 2:
        raise ArgumentError(
            f"draw: gradients expected a batch (x, y); got {type(gradients).__name__}."
        )
    require_compiled(subject, "draw: gradients=")
    if is_on_ladder:
        x, y = gradients
        return with_step_figures(graph, subject, x, y, where="draw: gradients=")
    return with_gradient_norms(graph, *gradient_norms_of(subject, *gradients))


OVERLAYS = (_with_diff, _with_values, _with_gradients, _with_highlights)  # in this order
