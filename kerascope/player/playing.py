"""`kerascope.play`: one step of a model, or a tape, as the page or the picture that plays it.

What is too much for a page is left out from the finest grain on, and the page says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from os import PathLike
from typing import Any

from kerascope.engine.network import Network
from kerascope.errors import ArgumentError, NotCompiledError
from kerascope.foreign import adapter_of, converted, fed, name_of, record
from kerascope.model_files import opened
from kerascope.not_a_model import got_instead
from kerascope.player.player import Player, When, end_of, kind_of_file, lane_of, time_of
from kerascope.player.words import Text
from kerascope.trace.events import BEGIN, END, GRAINS, Event
from kerascope.trace.tape import trace
from kerascope.trace.tape_store import Tape
from kerascope.viz.overlays.recorded import living_model

MOST_STEPS = 3000  # events of one page


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
) -> Player:
    """Play one training step, or what a tape has recorded, in a page or in a picture.

    The page is one file that asks for nothing: the graph with what flows along its arrows, a time
    line, each step in a sentence, source, and the names at that moment. The picture is an SVG that
    moves by itself, without a script: forward down one side, the loss, backward up the other, and
    what is written in between.

    Parameters
    ----------
    subject : Model, path of a file of one, or Tape
        Of a model one step is run, and all that it has changed is put back.
    x, y : optional
        A batch for the model: what `train_on_batch` takes. Without `y` it predicts.
    to : path, optional
        Where it is saved, and as what: "step.html" is the page, "step.svg" the picture that moves,
        "step.strip.svg" still pictures side by side, for a slide. See `Player.save`.
    beside : Model, path of a file of one, or Tape, optional
        Played at the right side, linked in time; a model takes the same batch.
    names : pair of dict or str, optional
        What the two sides are called: their models' names, or left and right, if nothing is said.
    title : dict or str, optional
        `{"en": ..., "zh": ...}`.
    from_, until : int or str, optional
        First and last event: a time of the tape, or what a breakpoint of the debugger can name.
        Without `from_` the page has the building of the model, but opens at the forward pass.
    level : {"detail", "op", "node", "phase", "act"}, optional
        The finest grain that is shown; by default as fine as a page can hold.
    graph : optional
        What is drawn: a model, tensors or a `Drawing`; False for no picture.

    Returns
    -------
    Player
        In a notebook it shows itself; `player.save("step.html")` keeps it, `player.svg` is the
        moving picture.

    Raises
    ------
    ArgumentError
        It is neither a model nor a tape, there is no batch, or nothing to show; or `to` ends in
        something else.
    NotCompiledError
        There is a `y`, and the model has no loss.

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
    if to is not None:
        kind_of_file(to)  # before anything runs
    subject, beside = (opened(one, compile=y is not None) for one in (subject, beside))
    if not isinstance(subject, (Network, Tape)):
        subject, graph = _foreign(subject, x, y, graph)
        x, y = (None, None) if isinstance(subject, Tape) else (x, y)
    tape, own_title = _tape_of(subject, x, y)
    other = None
    if beside is not None:
        other, _ = _tape_of(beside, x, y)
    span = _span_of(tape, subject, from_, until)
    finest, left_out = _finest(tape, *span, level)
    options: dict[str, Any] = {"level": finest, "with_loss": True}
    if isinstance(subject, Network) and graph is None:
        graph = subject
    right = None
    if other is not None:
        first, last = _span_of(other, beside, from_, until)
        drawn = beside if isinstance(beside, Network) else None
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


# --- what is played -------------------------------------------------------------------------------


def _tape_of(subject: Any, x: Any, y: Any) -> tuple[Tape, Text]:
    """Return the tape of one step, and what the page is called."""
    if isinstance(subject, Tape):
        if x is not None or y is not None:
            raise ArgumentError("play: a tape has its data already; leave out x and y.")
        return subject, {"en": "A trace, step by step", "zh": "一步步看跟踪"}
    if not isinstance(subject, Network):
        raise ArgumentError(
            f"play: expected a model with a batch, play(model, x, y), or a tape from `with "
            f"ks.trace() as tape:`, {got_instead(subject, 'ks.play(model, x, y)')}"
        )
    model: Any = subject
    if x is None:
        raise ArgumentError(f"play: a batch is needed: play(model, x, y). {model.name} got no x.")
    if y is None:
        with trace(model, history=None) as tape:
            model.predict_on_batch(x)
        return tape, {"en": f"{model.name}: forward", "zh": f"{model.name}：前向"}
    if getattr(model, "optimizer", None) is None:
        raise NotCompiledError(
            f"play: {model.name} has no loss; compile it, model.compile('adam', 'mse'), or leave "
            f"out y to play the forward pass."
        )
    with trace(model, history=None) as tape, _PutBack(model):
        model.train_on_batch(x, y)
    return tape, {"en": f"{model.name}: one training step", "zh": f"{model.name}：一步训练"}


def _foreign(subject: Any, x: Any, y: Any, graph: Any) -> tuple[Any, Any]:
    """Return what is played of a model of another library: its tape or our model, and its graph."""
    if adapter_of(subject, *fed(x, subject).values) is None:
        return subject, graph
    model = converted(subject)
    if model is not None:
        return model, graph
    if x is None:
        raise ArgumentError(
            f"play: {name_of(subject)} is recorded while it runs; expected what it is called on: "
            f"play(model, x), several as play(model, (x, y))."
        )
    writer, _ = record(subject, x, loss=y)
    return writer.tape, writer.graph(name_of(subject)) if graph is None else graph


class _PutBack:
    """Puts back, at the end, whatever a training step of a model writes."""

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
    """Return the first and the last time that are shown: of a model's step, that step."""
    if not len(tape):
        raise ArgumentError("play: the tape is empty; record inside `with ks.trace() as tape:`.")
    first, last = 0, len(tape) - 1
    if isinstance(subject, Network):
        first = next((e.t for e in reversed(tape[:]) if _is_run(e)), 0)
    if from_ is not None:
        first = time_of(tape, from_, "from_")
    if until is not None:
        last = end_of(tape, until, first)
    return first, last


def _start_of(player: Player) -> int:
    """Return the first moment of the forward pass if the model is built before it, else 0."""
    first = next((t for t, event in enumerate(player.events) if event.phase == "forward"), 0)
    is_built = any(lane_of(event) == "build" for event in player.events[:first])
    return player.moment_of(first) if is_built else 0


def _is_run(event: Event) -> bool:
    """Tell whether a function is called here; that one is made is told by the same kind."""
    is_function = event.kind == "function" and event.ph == BEGIN
    return is_function and any(delta.name == "inputs" for delta in event.deltas)


def first_steps(tape: Tape, batches: int) -> tuple[Tape, Any]:
    """Return the first training steps on a tape as a tape of its own, and the model that lives.

    Of each model so many steps count, up to the first one too many; what comes behind it is not
    executed again. If nothing is trained, that is the whole tape.

    Parameters
    ----------
    tape : Tape
    batches : int
    """
    counts: Counter[str] = Counter()
    events: list[Event] = []
    kept, batch, is_training, depth = 0, -1, False, 0
    for t in range(len(tape)):
        event: Event = tape[t]
        events.append(event)
        if event.kind == "batch" and event.ph == BEGIN:
            batch = len(events)
        if _is_run(event) and not is_training and event.name == "train_function":
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
    model = living_model(tape, events) if events else None
    return Tape(events, None), model


def _finest(tape: Tape, first: int, last: int, level: str | None) -> tuple[str, int]:
    """Return the finest grain of which a page can hold all events, and how many it leaves out."""
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
    """Return what a notebook shows of a tape: its page, of a long one the first training steps.

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
    except ArgumentError as error:  # it has forgotten them
        return f"<p>{escape(str(error))}</p>"


def _about(player: Player, left_out: int) -> Text:
    """Return what the page says of itself."""
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
