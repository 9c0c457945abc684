"""`kerascope.play`: a page or a picture that plays one step of a model, or a tape; or a film.

If there are too many events for a page, the finest ones are left out, and the page says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from kerascope.engine.network import Network
from kerascope.errors import ArgumentError, NotCompiledError
from kerascope.files import check_writable
from kerascope.foreign import adapter_of, converted, fed, name_of, record
from kerascope.model_files import opened
from kerascope.player.film import Film, check_film_name
from kerascope.player.player import Player, When, end_of, kind_of_file, lane_of, time_of
from kerascope.player.second_run import with_change
from kerascope.player.words import Text
from kerascope.spellings import DIALECTS, override_dialect
from kerascope.trace.events import BEGIN, END, GRAINS, Event
from kerascope.trace.tape import trace
from kerascope.trace.tape_store import Tape
from kerascope.unsupported import got_instead
from kerascope.viz.overlays.recorded import begins_run, model_on_tape

MOST_STEPS = 3000  # number of events in one page


def play(
    subject: Any,
    x: Any = None,
    y: Any = None,
    to: str | PathLike[str] | None = None,
    *,
    beside: Any = None,
    names: Sequence[Text | str] | None = None,
    title: Text | str | None = None,
    from_: When | None = None,
    until: When | None = None,
    level: str | None = None,
    graph: Any = None,
    steps: int | None = None,
) -> Player | Film:
    """Play one training step, or a tape, in a page or in a picture; or many steps as a film.

    The page is one file that needs no other files. It has the graph with the values on its arrows,
    a time line, a sentence for each step, the source, and the local names with their values. The
    picture is an animated SVG without a script: the forward pass down one side, the loss, the
    backward pass up the other side, and the updates in between. A film shows this ladder after each
    of many steps, with its weights, gradients and maps as small images.

    Parameters
    ----------
    subject : Model, path of a model file, or Tape
        A model runs one step, and is then restored to its state before the step.
    x, y : optional
        A batch for the model, as for `train_on_batch`. Without `y` the model only predicts.
    to : path, optional
        A file to save to: "step.html" is the page, "step.svg" the animated picture, and
        "step.strip.svg" still pictures side by side, for a slide. See `Player.save`. A film is
        "training.gif" or "training.svg".
    beside : Model, path of a model file, Tape, or mapping, optional
        A second subject, shown at the right side and in sync. A model gets the same batch. A
        mapping changes one thing of the model: `{"lr": 0.1}`, `{"label": other_y}`,
        `{"LAYER.activation": "tanh"}` or `{"LAYER.kernel_initializer": "zeros"}`. Both runs then
        start from the same weights and draw the same random numbers. The page marks where two
        runs first differ.
    names : pair of dict or str, optional
        Titles of the two sides. By default the names of the models, or left and right.
    title : dict or str, optional
        `{"en": ..., "zh": ...}`.
    from_, until : int or str, optional
        First and last event: a time of the tape, or a name that a breakpoint of the debugger may
        have. Without `from_`, the page includes the building of the model but opens at the forward
        pass.
    level : {"detail", "op", "node", "phase", "act"}, optional
        The finest events that are shown. By default as fine as fits in a page.
    graph : optional
        The subject of the picture: a model, tensors or a `Drawing`. False for no picture.
    steps : int, optional
        Make a film of this number of training steps on the batch. For a tape, the maximum number of
        steps. A GIF is always a film.

    Returns
    -------
    Player, or Film with `steps`
        It is displayed in a notebook. `player.save("step.html")` saves it, and `player.svg` is the
        animated picture.

    Raises
    ------
    ArgumentError
        If the subject is neither a model nor a tape, the batch is missing, nothing is left to show,
        or the file name `to` has an unknown ending.
    NotCompiledError
        If `y` is given, and the model has no loss.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.layers import Dense
    >>> from kerascope.models import Sequential
    >>> model = Sequential([Dense(2, "relu", input_shape=(3,), name="d"), Dense(1, name="e")])
    >>> model.compile("adam", "mse")
    >>> player = play(model, np.ones((1, 3)), np.ones((1, 1)))
    >>> player.unit, [lane for lane, _ in player.lanes]
    ('call', ['forward', 'loss', 'backward', 'update', 'commit'])
    """
    if steps is not None or (to is not None and Path(to).suffix == ".gif"):
        of_pages = {"beside": beside, "names": names, "title": title, "from_": from_,
                    "until": until, "level": level}  # fmt: skip
        for name, value in of_pages.items():
            if value is not None:
                raise ArgumentError(f"play: a film has no {name}. Leave out {name} or steps.")
        return _film(subject, x, y, to, graph, steps)
    if to is not None:
        kind_of_file(to)  # before anything runs
    subject, beside = (opened(one, compile=y is not None) for one in (subject, beside))
    given, other, other_y, drawn = subject, None, y, None
    subject, graph, tape, own_title = _recorded(subject, x, y, graph)
    if isinstance(beside, Mapping):
        _check_changeable(subject, y)
        # A converted model of Keras 3 was compiled by the rules of Keras 3, and so is its copy.
        rules = {} if subject is given else DIALECTS["3"]._asdict()
        with override_dialect(**rules):
            beside, other_y, own_names = with_change(subject, y, beside)
        names = names or own_names
    if beside is not None:
        beside, drawn, other, _ = _recorded(beside, x, other_y, None)
    span = _span_of(tape, subject, from_, until)
    finest, left_out = _finest(tape, *span, level)
    options: dict[str, Any] = {"level": finest, "with_loss": True}
    if isinstance(subject, Network) and graph is None:
        graph = subject
    right = None
    if other is not None:
        first, last = _span_of(other, beside, from_, until)
        drawn = beside if isinstance(beside, Network) else drawn
        right = Player(other, title or own_title, graph=drawn, from_=first, until=last, **options)
    player = Player(
        tape, title or own_title, graph=graph, from_=span[0], until=span[1], beside=right,
        names=names, unit="call", **options,
    )  # fmt: skip
    if from_ is None:
        player.start = _start_of(player)
    player.about = _about(player, left_out)
    if to is not None:
        player.save(to)
    return player


def _film(subject: Any, x: Any, y: Any, to: Any, graph: Any, steps: int | None) -> Film:
    """Return a film of training steps: those on a tape, or steps of a model on one batch."""
    if to is not None:
        check_film_name(to)
        check_writable(Path(to))
    if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int) or steps < 1):
        raise ArgumentError(f"play: steps: expected a number such as 50, got {steps!r}.")
    subject = opened(subject, compile=True)
    if not isinstance(subject, (Network, Tape)):
        subject = converted(subject) or subject
    if isinstance(subject, Tape):
        model = graph if graph is not None else model_on_tape(subject, subject[:])
        film = Film(model, [subject], steps)
    elif not isinstance(subject, Network) or x is None or y is None or steps is None:
        raise ArgumentError(
            "play: expected a compiled model with a batch, play(model, x, y, steps=50), or a tape "
            "of a fit for a film. A module of PyTorch is only recorded, so it has no film."
        )
    else:
        _check_compiled(subject)
        with _PutBack(subject):
            film = Film(subject, _steps_of(subject, x, y, steps))
    if to is not None:
        film.save(to)
    return film


def _steps_of(model: Any, x: Any, y: Any, steps: int) -> Iterator[Tape]:
    """Yield a tape of each training step of a model on a batch."""
    for _ in range(steps):
        with trace(model, history=None) as tape:
            model.train_on_batch(x, y)
        yield tape


# --- what to play ---------------------------------------------------------------------------------


def _recorded(subject: Any, x: Any, y: Any, graph: Any) -> tuple[Any, Any, Tape, Text]:
    """Return a subject to play, its graph, its tape, and the title of the page.

    A model of another library becomes a model of kerascope, or a tape of its run.
    """
    if not isinstance(subject, (Network, Tape)):
        subject, graph = _foreign(subject, x, y, graph)
        x, y = (None, None) if isinstance(subject, Tape) else (x, y)
    return subject, graph, *_tape_of(subject, x, y)


def _check_changeable(subject: Any, y: Any) -> None:
    """Raise an error if no second run can be made from a subject by changing one thing."""
    if not isinstance(subject, Network) or y is None:
        raise ArgumentError(
            'play: beside={"lr": 0.1} changes a training step of a model that kerascope can copy: '
            "play(model, x, y, beside={...}). For a tape, or a model of another library that is "
            "only recorded, give the changed tape or model itself: beside=other."
        )


def _tape_of(subject: Any, x: Any, y: Any) -> tuple[Tape, Text]:
    """Return the tape to play, and the title of the page.

    For a model, a training step on the batch (x, y) is recorded; without y, a prediction.
    """
    if isinstance(subject, Tape):
        if x is not None or y is not None:
            raise ArgumentError("play: a tape already contains its data. Leave out x and y.")
        return subject, {"en": "A trace, step by step", "zh": "一步步看跟踪"}
    if not isinstance(subject, Network):
        raise ArgumentError(
            f"play: expected a model with a batch, play(model, x, y), or a tape from `with "
            f"ks.trace() as tape:`, {got_instead(subject, 'ks.play(model, x, y)')}"
        )
    model: Any = subject
    if x is None:
        raise ArgumentError("play: expected a batch, got none. Use play(model, x, y).")
    if y is None:
        with trace(model, history=None) as tape:
            model.predict_on_batch(x)
        return tape, {"en": f"{model.name}: forward", "zh": f"{model.name}：前向"}
    _check_compiled(model)
    with trace(model, history=None) as tape, _PutBack(model):
        model.train_on_batch(x, y)
    return tape, {"en": f"{model.name}: one training step", "zh": f"{model.name}：一步训练"}


def _check_compiled(model: Any) -> None:
    if getattr(model, "optimizer", None) is None:
        raise NotCompiledError(
            f"play: {model.name} has no loss. Compile it, model.compile('adam', 'mse'), or leave "
            f"out y to play the forward pass."
        )


def _foreign(subject: Any, x: Any, y: Any, graph: Any) -> tuple[Any, Any]:
    """Return the subject to play and its graph.

    A model of another library is converted if possible. Otherwise it runs once, and the tape of
    this run is the subject. Models of kerascope and tapes are unchanged.
    """
    if adapter_of(subject, *fed(x, subject).values) is None:
        return subject, graph
    model = converted(subject)
    if model is not None:
        return model, graph
    if x is None:
        raise ArgumentError(
            f"play: expected inputs to record {name_of(subject)} with, got none. Use "
            f"play(model, x), or play(model, (x, y)) for several."
        )
    writer, _ = record(subject, x, loss=y)
    return writer.tape, writer.graph(name_of(subject)) if graph is None else graph


class _PutBack:
    """Restores the variables that a training step of a model has changed, after the step."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._kept: Mapping[Any, Any] = {}

    def __enter__(self) -> None:
        if self._model.train_function is None:
            self._model._make_train_function()
        updates = self._model.train_function.updates
        self._kept = {update.variable: update.variable.get_value() for update in updates}

    def __exit__(self, *_: object) -> None:
        for variable, value in self._kept.items():
            variable.set_value(value)


def _span_of(tape: Tape, subject: Any, from_: When | None, until: When | None) -> tuple[int, int]:
    """Return the first and last time to show. For a model, the default is its last run."""
    if not len(tape):
        raise ArgumentError("play: the tape is empty. Record inside `with ks.trace() as tape:`.")
    first, last = 0, len(tape) - 1
    if isinstance(subject, Network):
        first = next((e.t for e in reversed(tape[:]) if begins_run(e)), 0)
    if from_ is not None:
        first = time_of(tape, from_, "from_")
    if until is not None:
        last = end_of(tape, until, first)
    return first, last


def _start_of(player: Player) -> int:
    """Return the position on the slider at which the page opens.

    It is the forward pass if the page begins with the building of the model, otherwise the start.
    """
    first = next((t for t, event in enumerate(player.events) if event.phase == "forward"), 0)
    is_built = any(lane_of(event) == "build" for event in player.events[:first])
    return player.moment_of(first) if is_built else 0


def first_steps(tape: Tape, batches: int) -> tuple[Tape, Any]:
    """Return a tape of the first training steps, and the model if the model still exists.

    The new tape ends after `batches` steps of each model, before the first additional step. If no
    model was trained, the whole tape is returned.

    Parameters
    ----------
    tape : Tape
    batches : int
        Number of training steps of each model.
    """
    counts: Counter[str] = Counter()
    events: list[Event] = []
    kept, batch, is_training, depth = 0, -1, False, 0
    for t in range(len(tape)):
        event: Event = tape[t]
        events.append(event)
        if event.kind == "batch" and event.ph == BEGIN:
            batch = len(events)
        if begins_run(event) and not is_training and event.name == "train_function":
            models = [str(delta.value) for delta in event.deltas if delta.name == "model"]
            key = next(iter(models), event.name)
            if counts[key] >= batches:
                break
            counts[key] += 1
            is_training, depth = True, event.depth
        elif is_training and event.ph == END and event.depth == depth:
            kept, is_training = len(events), False
        elif event.kind == "batch" and event.ph == END and batch < kept:
            kept = len(events)
    if kept:
        events = events[:kept]
    model = model_on_tape(tape, events) if events else None
    return Tape(events, None), model


def _finest(tape: Tape, first: int, last: int, level: str | None) -> tuple[str, int]:
    """Return the finest level of detail that fits in a page, and how many events are left out."""
    events = tape[first : last + 1]
    counts = [sum(event.grain == grain for event in events) for grain in GRAINS]
    if level is not None:
        shown = GRAINS.index(level) if level in GRAINS else len(GRAINS)
        return level, sum(counts[shown + 1 :])
    for place in reversed(range(len(GRAINS))):
        if sum(counts[: place + 1]) <= MOST_STEPS or not place:
            return GRAINS[place], sum(counts[place + 1 :])
    return GRAINS[0], 0


def html_of_tape(tape: Tape) -> str:
    """Return the HTML of a tape in a notebook: a page with the tape or its first training step.

    Examples
    --------
    >>> html_of_tape(Tape())
    '<p>Tape: no events. What runs inside the block is recorded.</p>'
    """
    if not len(tape):
        return "<p>Tape: no events. What runs inside the block is recorded.</p>"
    model = None
    try:
        if len(tape) > MOST_STEPS:
            tape, model = first_steps(tape, 1)
        return play(tape, graph=model)._repr_html_()
    except ArgumentError as error:  # the events are forgotten
        return f"<p>{escape(str(error))}</p>"


def _about(player: Player, left_out: int) -> Text:
    """Return the text below the title: how many events and boxes the page shows."""
    en, zh = [f"{len(player.moments):,} events"], [f"{len(player.moments):,} 个事件"]
    if player.picture is not None:
        boxes = len(player.picture.graph.nodes)
        en.append(f"{boxes} boxes")
        zh.append(f"{boxes} 个框")
        if player.picture.folded:
            en.append(f"{player.picture.folded:,} more folded into frames")
            zh.append(f"另有 {player.picture.folded:,} 个折进了框里")
    if left_out:
        en.append(f"{left_out:,} finer events left out (level= shows them)")
        zh.append(f"省去 {left_out:,} 个更细的事件（用 level= 显示）")
    return {"en": " · ".join(en), "zh": " · ".join(zh)}
