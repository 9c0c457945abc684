"""`Player`: selects the events of a tape, defines the moments of its slider, and makes the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from kerascope.engine.network import Network
from kerascope.errors import ArgumentError
from kerascope.files import check_writable, write_whole
from kerascope.lessons.lesson import LANGUAGES
from kerascope.player.flows import Flows
from kerascope.player.moving import Scene, moving_svg, scene_of, strip_svg
from kerascope.player.page_html import SideHtml, page_html
from kerascope.player.picture import BoxStates, Picture, nodes_made, picture_for
from kerascope.player.second_run import first_difference
from kerascope.player.sentences import sentences_for_script
from kerascope.player.step_ladder import LadderFlows, LadderPicture, LadderStates, ladder_of
from kerascope.player.steps import side_data
from kerascope.player.words import WORDS, Text, in_languages, kinds_for_script
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, END, FORGOTTEN, GRAIN_OF, GRAINS, Event
from kerascope.trace.selectors import ACTS, PHASES, KnownNames, Selector, parse_selector
from kerascope.trace.tape_store import Tape
from kerascope.viz.exports.to_html import data_and_style
from kerascope.viz.overlays.recorded import model_on_tape

# --- which events are shown: lanes, steps, moments ------------------------------------------------


LANES = ("build", "forward", "loss", "backward", "update", "commit")
# The graph of the gradients and the update tuples are built in lane "build", because nothing runs
# backward and no weight is written then.
_LANE_OF_PHASE = {
    "build_map": "build", "depth_sort": "build", "check_graph": "build",
    "gradients": "build", "get_updates": "build",
    "run_internal_graph": "forward", "forward": "forward",
    "loss": "loss", "metrics": "loss",
    "backward": "backward", "update": "update", "commit": "commit",
}  # fmt: skip
When = int | str  # a time of the tape, or a name for a breakpoint of the debugger


def lane_of(event: Event) -> str:
    """Return the lane of an event, or "" for events without a lane, such as a batch.

    Examples
    --------
    >>> lane_of(Event(0, "batch", "commit", "update.apply", "I", 3, "node", "w"))
    'commit'
    >>> lane_of(Event(0, "function", "gradients", "grad.node", "B", 3, "node", "d"))
    'build'
    """
    if event.act in ("build", "compile") and event.phase != "run_internal_graph":
        return "build"
    if event.kind == "update.pair":
        return "build"
    return _LANE_OF_PHASE.get(event.phase, "")


def selected(
    tape: Tape,
    from_: When | None = None,
    until: When | None = None,
    level: str = "detail",
    lanes: Sequence[str] | None = None,
) -> list[Event]:
    """Return the events of a tape that a player shows.

    Raises
    ------
    ArgumentError
        If there is nothing to show, or an argument is unknown.
    """
    if level not in GRAINS:
        raise ArgumentError(
            f"Player: level: expected one of {GRAINS}, got {level!r}. "
            f"{did_you_mean(str(level), GRAINS)}".rstrip()
        )
    for lane in lanes or ():
        if lane not in LANES:
            raise ArgumentError(
                f"Player: lanes: expected names among {LANES}, got {lane!r}. "
                f"{did_you_mean(str(lane), LANES)}".rstrip()
            )
    if not len(tape):
        raise ArgumentError("Player: the tape is empty. Record inside `with ks.trace() as tape:`.")
    first = 0 if from_ is None else time_of(tape, from_, "from_")
    last = len(tape) - 1 if until is None else end_of(tape, until, first)
    finest = GRAINS.index(level)
    found = [
        event
        for event in tape[first : last + 1]
        if GRAINS.index(event.grain) <= finest and (lanes is None or lane_of(event) in lanes)
    ]
    if not found:
        raise ArgumentError(
            f"Player: found no event from t={first} to t={last} at level {level!r}"
            f"{f' in the lanes {tuple(lanes)}' if lanes is not None else ''}. Select more of them."
        )
    if any(event.kind == FORGOTTEN for event in found):
        raise ArgumentError(
            "Player: the tape has forgotten some of these events. Record fewer, or with "
            "`ks.trace(history=None)`."
        )
    return found


def time_of(tape: Tape, when: When, where: str, start: int = 0) -> int:
    """Return the time of an event that is given by its time or by a name.

    A name, such as "dense_2", means the first matching event from the time `start` on.

    Raises
    ------
    ArgumentError
        If no event matches.
    """
    if isinstance(when, bool) or not isinstance(when, (int, str)):
        raise ArgumentError(
            f"Player: {where}: expected a time such as 17 or a name such as 'dense_2' or "
            f"'phase:commit', got {when!r}."
        )
    if isinstance(when, int):
        if not 0 <= when < len(tape):
            raise ArgumentError(
                f"Player: {where}: expected a time from 0 to {len(tape) - 1}, got {when}."
            )
        return when
    selector = parsed(tape, when, where)
    for event in tape[start:]:
        if selector.matches(event, tape):
            return int(event.t)
    raise ArgumentError(
        f"Player: {where}: no event from t={start} on matches {when!r}. "
        f"`print(tape.to_table())` shows all."
    )


def parsed(tape: Tape, text: str, where: str) -> Selector:
    """Parse the name of an event, as in the debugger. A phase needs no prefix "phase:".

    A misspelled layer name raises an error that suggests the right name.
    """
    layers = {event.name for event in tape if event.kind in ("layer.call", "layer.init", "node")}
    if text in (*ACTS, *PHASES) and text not in layers:
        text = f"phase:{text}"
    return parse_selector(text, KnownNames(layers=layers), f"Player: {where}")


def end_of(tape: Tape, when: When, start: int) -> int:
    """Return the time of the last event to show: that of the event that `when` selects.

    If this event begins a span, it is the time of the span's end.
    """
    t = time_of(tape, when, "until", start)
    event = tape[t]
    if isinstance(when, int) or event.ph != BEGIN:
        return t
    for later in tape[t + 1 :]:
        if later.ph == END and later.depth == event.depth:
            return later.t
    return len(tape) - 1


# --- moments: what the slider counts --------------------------------------------------------------


LaneSpan = tuple[str, int, int]  # title, first and last moment


def moments_of(sides: Sequence[Sequence[Event]]) -> list[list[int]]:
    """Return the step that each side shows at each moment (position of the slider).

    Two sides advance together if their events have the same kind and name. If one side has events
    that the other lacks, the other side does not move.

    Examples
    --------
    >>> facts = {"act": "", "phase": "", "ph": "I", "depth": 0, "grain": "op", "name": ""}
    >>> left, right = ([Event(t, kind=kind, **facts) for t, kind in enumerate(kinds)]
    ...                for kinds in ("abc", "axbc"))
    >>> moments_of([left, right])
    [[0, 0], [0, 1], [1, 2], [2, 3]]
    """
    if len(sides) == 1:
        return [[step] for step in range(len(sides[0]))]
    ours, theirs = ([_step_key(event) for event in events] for events in sides)
    moments: list[list[int]] = []
    left = right = 0
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for _, first, last, other_first, other_last in matcher.get_opcodes():
        for place in range(max(last - first, other_last - other_first)):
            left = first + place if first + place < last else left
            right = other_first + place if other_first + place < other_last else right
            moments.append([left, right])
    return moments


def _step_key(event: Event) -> tuple[str, str, str, str]:
    """Return the key of an event. Events on two tapes with equal keys are the same step."""
    return event.kind, event.ph, event.name, event.phase


def lanes_of(
    sides: Sequence[Sequence[Event]], moments: Sequence[Sequence[int]]
) -> list[tuple[str, list[LaneSpan]]]:
    """Return the lanes of the time line that have events, each with its bars.

    A bar is (label, first moment, last moment). With two sides, the side that moves determines the
    lane; if both move, the first side does.
    """
    lanes: dict[str, list[LaneSpan]] = {lane: [] for lane in LANES}
    before = None
    for moment, steps in enumerate(moments):
        last = moments[moment - 1] if moment else [-1] * len(steps)
        side = next((i for i, step in enumerate(steps) if step != last[i]), 0)
        event = sides[side][steps[side]]
        lane = lane_of(event)
        if lane and before == (lane, event.phase):
            word, first, _ = lanes[lane].pop()
            lanes[lane].append((word, first, moment))
        elif lane:
            lanes[lane].append((_word(lane, event), moment, moment))
        before = (lane, event.phase)
    return [(lane, stretches) for lane, stretches in lanes.items() if stretches]


def _word(lane: str, event: Event) -> str:
    if lane == "build":
        return event.phase if event.phase in ("gradients", "get_updates") else lane
    return event.phase if event.phase == "metrics" else lane


# --- a stored player within a chapter's page, or a notebook ---------------------------------------


HEIGHT = 900  # pixels, unless a script sets the height


def frame(page: str, title: str, language: str = "en", height: int = HEIGHT) -> str:
    """Return an HTML element that contains a whole page and needs no other file.

    Parameters
    ----------
    page : str
        The page that `Player.save` has written.
    title : str
        The title for screen readers.
    language : {"en", "zh"}
        The language in which it opens.
    height : int
        Height in pixels.
    """
    page = page.replace('<html lang="en">', f'<html lang="{language}">', 1)
    held = page.replace("&", "&amp;").replace('"', "&quot;")
    return (
        f'<iframe class="player" title="{escape(title)}" height="{height}" '
        f'style="width:100%;border:0" srcdoc="{held}"></iframe>'
    )


class ShownPlayer:
    """A stored player to display in a notebook.

    Parameters
    ----------
    path : path
        A file that `Player.save` has written.
    title : str
        The title of the frame, for screen readers.
    language : {"en", "zh"}
        The language in which the page opens.
    """

    def __init__(
        self, path: str | PathLike[str], title: str = "player", language: str = "en"
    ) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise ArgumentError(
                f"ShownPlayer: there is no {self.path}. First run the cell that saves it."
            )
        self.title = title
        self.language = language

    def _repr_html_(self) -> str:
        return frame(self.path.read_text(encoding="utf-8"), self.title, self.language)

    def __repr__(self) -> str:
        return f"<player {self.path}: open it in a browser>"


# --- the player -----------------------------------------------------------------------------------


DEFAULT_TITLE = {"en": "A trace, step by step", "zh": "一步步看跟踪"}


class Gate(NamedTuple):
    """A question that is asked before a step is shown.

    Attributes
    ----------
    at : int
        The position on the slider, from 0, that is hidden until the question is answered.
    ask, answer : dict of str to str
        The question and its answer, by language.
    choices : tuple of dict of str to str
        The answers to choose from, by language; empty if the reader types the answer.
    """

    at: int
    ask: Text
    answer: Text
    choices: tuple[Text, ...] = ()


class Player:
    """A page that plays a recorded tape.

    Parameters
    ----------
    tape : Tape
        A tape from `with ks.trace() as tape:`.
    title : dict or str
        `{"en": ..., "zh": ...}`.
    graph : optional
        The subject of the picture: a model, tensors or a `Drawing`. By default the recorded model.
        False for no picture.
    from_, until : int or str, optional
        First and last event: a time of the tape, or a name that a breakpoint of the debugger may
        have, such as `"phase:forward"`, `"batch 0"`, `"dense_2"`, `"event:tmap.set"`. For a span,
        `until` means its end.
    level : {"detail", "op", "node", "phase", "act"}
        The finest events that are shown.
    lanes : sequence of {"build", "forward", "backward", "update"}, optional
        Only show events of these lanes.
    stops : sequence or mapping, optional
        The stop-points, named as for `from_`. Each matching event is a stop-point. A mapping gives
        titles. By default the beginnings of phases.
    gates : sequence of mapping
        Questions: `{"at": ..., "ask": {...}, "answer": {...}}`, optionally with `"choices": [...]`.
        The event `at` is hidden until the reader has answered.
    beside : Tape or Player, optional
        Shown at the right side. Steps of the same kind and name are shown together.
    names : pair of dict or str, optional
        Titles of the two sides. By default the names of the models, or left and right.
    unit : {"all", "op", "call", "depth", "phase", "batch"}
        How far a step of the reader moves when the page opens: to the next event, op, call, ...
    with_loss : bool
        Whether the loss is a box in the picture.
    about : dict or str, optional
        A text below the title of the page.

    Attributes
    ----------
    start : int
        The position on the slider, from 0, at which the page opens. The reader can go back to
        earlier positions.
    differs : int or None
        The position on the slider at which the results of two sides first differ. None if they
        never do, or if there is one side.

    Raises
    ------
    ArgumentError
        If there is nothing to show, or an argument is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> import kerascope as ks
    >>> from kerascope.layers import Dense
    >>> from kerascope.models import Sequential
    >>> model = Sequential([Dense(2, input_shape=(3,), name="d")])
    >>> with ks.trace(model) as tape:
    ...     _ = model.predict(np.ones((2, 3)))
    >>> Player(tape, title="forward", from_="phase:forward", until="phase:forward")
    <Player 'forward': 10 steps, 2 boxes. Save it with .save('out/forward.html')>
    """

    def __init__(
        self,
        tape: Tape,
        title: Text | str | None = None,
        *,
        graph: Any = None,
        from_: When | None = None,
        until: When | None = None,
        level: str = "detail",
        lanes: Sequence[str] | None = None,
        stops: Sequence[When] | Mapping[When, Text | str] | None = None,
        gates: Sequence[Mapping[str, Any]] = (),
        beside: Tape | Player | None = None,
        names: Sequence[Text | str] | None = None,
        unit: str = "all",
        with_loss: bool = False,
        about: Text | str | None = None,
    ) -> None:
        if not isinstance(tape, Tape):
            raise ArgumentError(
                f"Player: expected a tape from `with ks.trace() as tape:`, got {tape!r:.60}."
            )
        self.title = in_languages(title or DEFAULT_TITLE, "Player: title")
        self.tape = tape
        self.events = selected(tape, from_, until, level, lanes)
        self._model = _model_for(tape, self.events, graph)
        self.picture = self._picture(graph, with_loss)
        self.unit = unit
        self.start = 0
        self.about = in_languages(about, "Player: about") if about else None
        if isinstance(beside, Tape):
            span: dict[str, Any] = {"from_": from_, "until": until, "level": level, "lanes": lanes}
            beside = Player(beside, title, graph=graph, with_loss=with_loss, **span)
        self.beside = beside
        self.moments = moments_of([side.events for side in self.sides])
        self.names = self._names(names)
        self.differs = self._first_difference()
        self.stops = self._stops(stops)
        self.gates = [self._gate(gate, place) for place, gate in enumerate(gates)]
        self.gates.sort(key=lambda gate: gate.at)

    def _picture(self, graph: Any, with_loss: bool) -> Picture | None:
        """Return the ladder if the events are a training step, otherwise the graph."""
        found = ladder_of(self._model, self.events) if with_loss else None
        if found is not None:
            return found
        return picture_for(self.tape, self.events, graph, with_loss=with_loss)

    # --- the two sides ----------------------------------------------------------------------------

    @property
    def sides(self) -> list[Player]:
        """The players of both sides, or only this player if there is one side."""
        return [self] if self.beside is None else [self, self.beside]

    def _names(self, names: Sequence[Text | str] | None) -> list[Text | None]:
        if self.beside is None:
            if names is not None:
                raise ArgumentError("Player: names= requires two sides. Give the second one, too.")
            return [None]
        given = names or self._names_of_models()
        if isinstance(given, str) or len(given) != 2:
            raise ArgumentError(f"Player: names: expected two, one for each side, got {names!r}.")
        return [in_languages(name, "Player: names") for name in given]

    def _names_of_models(self) -> Sequence[Text | str]:
        """Return the names of the two models, or "left" and "right" if the names are equal."""
        names = [getattr(side._model, "name", "") for side in self.sides]
        if all(names) and names[0] != names[1]:
            return names
        return {"en": "left", "zh": "左"}, {"en": "right", "zh": "右"}

    def _first_difference(self) -> int | None:
        if self.beside is None:
            return None
        return first_difference([side.events for side in self.sides], self.moments)

    def _differing(self) -> list[tuple[int, Text]]:
        """Return the stop-point at which the two sides first differ, if there is one."""
        if self.differs is None:
            return []
        event = self.events[self.moments[self.differs][0]]
        words = zip(LANGUAGES, WORDS["differs"], strict=True)
        return [(self.differs, {name: f"{word}: {_name_of(event)}" for name, word in words})]

    # --- stop-points and gates --------------------------------------------------------------------

    def _stops(
        self, stops: Sequence[When] | Mapping[When, Text | str] | None
    ) -> list[tuple[int, Text]]:
        if stops is None:
            found = [
                (step, in_languages(_name_of(event), "Player: stops"))
                for step, event in enumerate(self.events)
                if event.ph == BEGIN and event.grain in ("act", "phase")
            ]
            shown = [(self.moment_of(step), text) for step, text in found]
            return sorted([*shown, *self._differing()], key=lambda stop: stop[0])
        if isinstance(stops, (str, int)):
            stops = [stops]
        titles = stops if isinstance(stops, Mapping) else {}
        named: dict[int, Text] = {}
        for when in stops:
            for step in self._steps_of(when, "stops"):
                title = titles.get(when) or sight_text(self.events[step])
                named.setdefault(step, in_languages(title, "Player: stops"))
        return [(self.moment_of(step), named[step]) for step in sorted(named)]

    def _steps_of(self, when: When, where: str) -> list[int]:
        """Return the steps of the events that a selector matches or, for a time, of this event."""
        first = time_of(self.tape, when, where)
        if isinstance(when, int):
            found = [step for step, event in enumerate(self.events) if event.t == first]
        else:
            selector = parsed(self.tape, when, where)
            found = [s for s, e in enumerate(self.events) if selector.matches(e, self.tape)]
        if not found:
            raise ArgumentError(
                f"Player: {where}: {when!r} is outside the shown events, t={self.events[0].t} to "
                f"t={self.events[-1].t}. Change from_, until, level or lanes."
            )
        return found

    def moment_of(self, step: int) -> int:
        """Return the position on the slider at which a step of the left side is shown."""
        return next(place for place, moment in enumerate(self.moments) if moment[0] >= step)

    def _gate(self, gate: Mapping[str, Any], place: int) -> Gate:
        where = f"Player: gates[{place}]"
        unknown = set(gate) - {"at", "ask", "answer", "choices"}
        missing = {"at", "ask", "answer"} - set(gate)
        if unknown or missing:
            raise ArgumentError(
                f"{where}: expected 'at', 'ask', 'answer' and maybe 'choices', got {list(gate)}."
            )
        moment = self.moment_of(self._steps_of(gate["at"], f"gates[{place}]")[0])
        if not moment:
            raise ArgumentError(f"{where}: it hides the first step. Begin earlier with from_.")
        choices = tuple(in_languages(one, f"{where}: choices") for one in gate.get("choices", ()))
        ask, answer = (in_languages(gate[word], f"{where}: {word}") for word in ("ask", "answer"))
        return Gate(moment, ask, answer, choices)

    # --- the page ---------------------------------------------------------------------------------

    @property
    def lanes(self) -> list[tuple[str, list[LaneSpan]]]:
        """The lanes of the time line, each with its name and bars: (label, first moment, last)."""
        return lanes_of([side.events for side in self.sides], self.moments)

    @property
    def html(self) -> str:
        """The page as HTML.

        If the data of the page are long, they are compressed, and the browser unpacks them.
        """
        parts = [_side(side, name) for side, name in zip(self.sides, self.names, strict=True)]
        kinds = {event.kind for side in self.sides for event in side.events}
        data = {
            "moments": self.moments if self.beside else None,
            "lanes": self.lanes,
            "grains": {kind: GRAIN_OF.get(kind, "detail") for kind in sorted(kinds)},
            "unit": self.unit,
            "start": self.start,
            "differs": self.differs,
            "sentences": sentences_for_script(
                {step[-1][0] for _, facts in parts for step in facts["steps"]}
            ),
            "stops": [moment for moment, _ in self.stops],
            "gates": [gate._asdict() for gate in self.gates],
            "kinds": kinds_for_script(kinds),
            "sides": [facts for _, facts in parts],
        }
        return page_html(
            self.title, [html for html, _ in parts], data, len(self.moments), self.stops, self.about
        )

    # --- pictures without a script ----------------------------------------------------------------

    @property
    def svg(self) -> str:
        """One run of the model as an animated SVG, for a web page or a README."""
        return moving_svg(self._scene())

    @property
    def strip(self) -> str:
        """One run of the model as an SVG with a still picture for the end of each lane."""
        return strip_svg(self._scene())

    def _scene(self) -> Scene:
        if self.beside is not None:
            raise ArgumentError(
                "Player: expected one side for an SVG, got two. Omit one, or save a page: "
                "step.html."
            )
        first, last = self.events[0].t, self.events[-1].t
        everything = list(self.tape[: last + 1])  # sentences also need events that are not shown
        return scene_of(everything[:first], everything[first:], self._model, self.picture)

    def save(self, path: str | PathLike[str], *, language: str = "en") -> None:
        """Write the player to one file that needs no other files.

        Parameters
        ----------
        path : path
            "step.html" is the page; "step.svg" is an animated picture without a script;
            "step.strip.svg" has still pictures side by side.
        language : {"en", "zh"}
            Language of an SVG. The page has both.

        Raises
        ------
        ArgumentError
            If the file name has another ending, or the folder does not exist.
        """
        path = Path(path)
        kind = kind_of_file(path)
        if language not in LANGUAGES:
            raise ArgumentError(
                f"Player: save: expected a language of {', '.join(LANGUAGES)}, got {language!r}."
            )
        check_writable(path)
        if kind == "html":
            write_whole(path, self.html)
            return
        write = moving_svg if kind == "svg" else strip_svg
        write_whole(path, write(self._scene(), language))

    def _repr_html_(self) -> str:
        return frame(self.html, " / ".join(dict.fromkeys(self.title.values())))

    def __repr__(self) -> str:
        boxes = f", {len(self.picture.graph.nodes)} boxes" if self.picture else ""
        return (
            f"<Player {self.title['en']!r}: {len(self.moments)} steps{boxes}. "
            f"Save it with .save('out/forward.html')>"
        )


def kind_of_file(path: str | PathLike[str]) -> str:
    """Return the format of a player file, from its name: "html", "svg" or "strip.svg".

    Raises
    ------
    ArgumentError
        If the name has another ending.

    Examples
    --------
    >>> kind_of_file("out/step.html"), kind_of_file("step.svg"), kind_of_file("step.strip.svg")
    ('html', 'svg', 'strip.svg')
    """
    name = Path(path).name
    for kind in ("html", "strip.svg", "svg"):
        if name.endswith(f".{kind}") and name != f".{kind}":
            return kind
    raise ArgumentError(
        f"Player: save: expected a name like step.html (page), step.svg (animated picture) or "
        f"step.strip.svg (still pictures), got {name!r}. For PNG or PDF, convert the SVG."
    )


def _model_for(tape: Tape, events: list[Event], graph: Any) -> Network | None:
    """Return the model that a moving picture draws, or None for another subject."""
    if graph is None:
        return model_on_tape(tape, events)
    return graph if isinstance(graph, Network) else None


def _side(side: Player, name: Text | None) -> tuple[SideHtml, dict[str, Any]]:
    picture: Picture | None = side.picture
    facts, texts = side_data(side.tape, side.events, *_followers(side, picture))
    if picture is None:
        return SideHtml(name, None, texts), facts
    facts["graph"], style = data_and_style(
        picture.whole, picture.options, picture.closed, picture.room
    )
    return SideHtml(name, picture, texts, style), facts


def _followers(side: Player, picture: Picture | None) -> tuple[BoxStates | None, Flows]:
    """Return the observers of box states (None without a picture) and of values on arrows."""
    if picture is None:
        return None, Flows({})
    made = nodes_made(side.tape[: side.events[-1].t + 1])
    if isinstance(picture, LadderPicture):
        return LadderStates(picture, made), LadderFlows(picture, side.tape)
    states = BoxStates(picture.whole, picture.boxes_of_nodes, made, picture.owners)
    return states, Flows(states.now)


def sight_text(event: Event) -> str:
    """Return the default title of a stop-point: the kind, name and time of its event."""
    return f"{_name_of(event)} (t={event.t})"


def _name_of(event: Event) -> str:
    return event.name if event.name.startswith(event.kind) else f"{event.kind} {event.name}"
