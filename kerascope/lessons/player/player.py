"""`Player`: from a tape to a page that plays it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from kerascope.errors import ArgumentError
from kerascope.files import check_writable, write_whole
from kerascope.lessons.player.page_html import SideHtml, page_html, script, style
from kerascope.lessons.player.picture import BoxStates, Picture, nodes_made, picture_for
from kerascope.lessons.player.selecting import When, lanes_of, moments_of, parsed, selected, time_of
from kerascope.lessons.player.steps import side_data
from kerascope.lessons.player.words import Text, in_languages, kinds_for_script
from kerascope.trace.events import BEGIN, Event
from kerascope.trace.tape_store import Tape

# --- a stored player within a chapter's page, or a notebook ---------------------------------------


HEIGHT = 900  # pixels, where no script says how high the player is


def frame(page: str, title: str, language: str = "en", height: int = HEIGHT) -> str:
    """Return an element that holds a whole page, and asks for no other file.

    Parameters
    ----------
    page : str
        What `Player.save` wrote.
    title : str
        What a screen reader calls it.
    language : {"en", "zh"}
        In which it begins.
    height : int
        Pixels.
    """
    page = page.replace('<html lang="en">', f'<html lang="{language}">', 1)
    held = page.replace("&", "&amp;").replace('"', "&quot;")
    return (
        f'<iframe class="player" title="{escape(title)}" height="{height}" '
        f'style="width:100%;border:0" srcdoc="{held}"></iframe>'
    )


class ShownPlayer:
    """A stored player, for a cell of a notebook.

    Parameters
    ----------
    path : path
        What `Player.save` wrote.
    title : str
    language : {"en", "zh"}
    """

    def __init__(
        self, path: str | PathLike[str], title: str = "player", language: str = "en"
    ) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise ArgumentError(
                f"ShownPlayer: there is no {self.path}; run the cell that saves it first."
            )
        self.title = title
        self.language = language

    def _repr_html_(self) -> str:
        return frame(self.path.read_text(encoding="utf-8"), self.title, self.language)

    def __repr__(self) -> str:
        return f"<player {self.path}: open it in a browser>"


# --- the player -----------------------------------------------------------------------------------


MOST_STEPS = 1000
MOST_BYTES = 150_000  # of the page
MOST_PLAYER_BYTES = 20_000  # of its script and its style sheet
DEFAULT_TITLE = {"en": "A trace, step by step", "zh": "一步步看跟踪"}
HOW_TO_CUT = (
    "Show less: from_= and until= choose a stretch (until='phase:forward'), level='node' leaves "
    "out ops, lanes=('forward',) keeps one lane, graph=False leaves out the picture"
)


class Gate(NamedTuple):
    """A question that is asked before a step is shown.

    Attributes
    ----------
    at : int
        The moment that stays hidden until then, from 0.
    ask, answer : dict of str to str
    choices : tuple of dict of str to str
    """

    at: int
    ask: Text
    answer: Text
    choices: tuple[Text, ...] = ()


class Player:
    """A page that plays what a tape has recorded.

    Parameters
    ----------
    tape : Tape
        From `with ks.trace() as tape:`.
    title : dict or str
        `{"en": ..., "zh": ...}`.
    graph : optional
        What is drawn: a model, tensors or a `Drawing`; by default the model of which the tape
        tells; False for no picture.
    from_, until : int or str, optional
        First and last event: a time of the tape, or what a breakpoint of the debugger can name,
        `"phase:forward"`, `"batch 0"`, `"dense_2"`, `"event:tmap.set"`. Of a span `until` means
        its end.
    level : {"detail", "op", "node", "phase", "act"}
        The finest grain that is shown.
    lanes : sequence of {"build", "forward", "backward", "update"}, optional
        Only events of these.
    stops : sequence or mapping, optional
        The stop-points, as `from_` names events; each event that is meant is one. A mapping gives
        them titles. By default the beginnings of phases.
    gates : sequence of mapping
        Questions: `{"at": ..., "ask": {...}, "answer": {...}}` and perhaps `"choices": [...]`. What
        happens `at` that event is hidden until the reader has answered.
    beside : Tape or Player, optional
        Shown at the right side; steps of the same kind and name are shown together.
    names : pair of dict or str, optional
        What the two sides are called.

    Raises
    ------
    ArgumentError
        There is nothing to show, or a word is unknown.

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
    <Player 'forward': 10 steps, 2 boxes. Keep it by .save('out/forward.html')>
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
    ) -> None:
        if not isinstance(tape, Tape):
            raise ArgumentError(
                f"Player: expected a tape from `with ks.trace() as tape:`, got {tape!r:.60}."
            )
        self.title = in_languages(title or DEFAULT_TITLE, "Player: title")
        self.tape = tape
        self.events = selected(tape, from_, until, level, lanes)
        self.picture = picture_for(tape, self.events, graph)
        if isinstance(beside, Tape):
            beside = Player(
                beside, title, graph=graph, from_=from_, until=until, level=level, lanes=lanes
            )
        self.beside = beside
        self.moments = moments_of([side.events for side in self.sides])
        self.names = self._names(names)
        self.stops = self._stops(stops)
        self.gates = [self._gate(gate, place) for place, gate in enumerate(gates)]
        self.gates.sort(key=lambda gate: gate.at)

    # --- the two sides ----------------------------------------------------------------------------

    @property
    def sides(self) -> list[Player]:
        """The player, and that beside it if there is one."""
        return [self] if self.beside is None else [self, self.beside]

    def _names(self, names: Sequence[Text | str] | None) -> list[Text | None]:
        if self.beside is None:
            if names is not None:
                raise ArgumentError("Player: names are those of two sides; give beside= too.")
            return [None]
        given = names or ({"en": "left", "zh": "左"}, {"en": "right", "zh": "右"})
        if isinstance(given, str) or len(given) != 2:
            raise ArgumentError(f"Player: names: expected two, one of each side, got {names!r}.")
        return [in_languages(name, "Player: names") for name in given]

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
            return [(self._moment_of(step), text) for step, text in found]
        if isinstance(stops, (str, int)):
            stops = [stops]
        titles = stops if isinstance(stops, Mapping) else {}
        named: dict[int, Text] = {}
        for when in stops:
            for step in self._steps_of(when, "stops"):
                title = titles.get(when) or sight_text(self.events[step])
                named.setdefault(step, in_languages(title, "Player: stops"))
        return [(self._moment_of(step), named[step]) for step in sorted(named)]

    def _steps_of(self, when: When, where: str) -> list[int]:
        """Return the steps that are meant: all, if a name says which."""
        first = time_of(self.tape, when, where)
        if isinstance(when, int):
            found = [step for step, event in enumerate(self.events) if event.t == first]
        else:
            selector = parsed(self.tape, when, where)
            found = [s for s, e in enumerate(self.events) if selector.matches(e, self.tape)]
        if not found:
            raise ArgumentError(
                f"Player: {where}: {when!r} is cut out of what is shown, t={self.events[0].t} to "
                f"t={self.events[-1].t}. Change from_, until, level or lanes."
            )
        return found

    def _moment_of(self, step: int) -> int:
        return next(place for place, moment in enumerate(self.moments) if moment[0] >= step)

    def _gate(self, gate: Mapping[str, Any], place: int) -> Gate:
        where = f"Player: gates[{place}]"
        unknown = set(gate) - {"at", "ask", "answer", "choices"}
        missing = {"at", "ask", "answer"} - set(gate)
        if unknown or missing:
            raise ArgumentError(
                f"{where}: expected 'at', 'ask', 'answer' and perhaps 'choices', got {list(gate)}."
            )
        moment = self._moment_of(self._steps_of(gate["at"], f"gates[{place}]")[0])
        if not moment:
            raise ArgumentError(f"{where}: it hides the first step; begin earlier with from_.")
        choices = tuple(in_languages(one, f"{where}: choices") for one in gate.get("choices", ()))
        ask, answer = (in_languages(gate[word], f"{where}: {word}") for word in ("ask", "answer"))
        return Gate(moment, ask, answer, choices)

    # --- the page ---------------------------------------------------------------------------------

    @property
    def html(self) -> str:
        """The page.

        Raises
        ------
        ArgumentError
            It is larger than a reader's patience: more than 1,000 steps, or 150 KB.
        """
        if len(self.moments) > MOST_STEPS:
            raise ArgumentError(
                f"Player: {len(self.moments):,} steps; at most {MOST_STEPS:,} can be played. "
                f"{HOW_TO_CUT}."
            )
        parts = [_side(side, name) for side, name in zip(self.sides, self.names, strict=True)]
        kinds = {event.kind for side in self.sides for event in side.events}
        data = {
            "moments": self.moments if self.beside else None,
            "lanes": [
                lanes_of(side.events, self.moments, place) for place, side in enumerate(self.sides)
            ],
            "stops": [moment for moment, _ in self.stops],
            "gates": [gate._asdict() for gate in self.gates],
            "kinds": kinds_for_script(kinds),
            "sides": [facts for _, facts in parts],
        }
        page = page_html(
            self.title, [html for html, _ in parts], data, len(self.moments), self.stops
        )
        self._check_size(page)
        return page

    def _check_size(self, page: str) -> None:
        own = len((script() + style()).encode())
        if own > MOST_PLAYER_BYTES:
            raise ArgumentError(f"Player: script and style take {own:,} bytes; expected 20,000.")
        size = len(page.encode())
        if size > MOST_BYTES:
            raise ArgumentError(
                f"Player: {len(self.moments):,} steps make a page of {size:,} bytes; at most "
                f"{MOST_BYTES:,}. {HOW_TO_CUT}."
            )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page: one HTML file that opens by itself.

        Raises
        ------
        ArgumentError
            The page is too large, the file's name does not end with .html, or there is no such
            folder.
        """
        path = Path(path)
        if path.suffix != ".html":
            raise ArgumentError(
                f"Player: save: expected a name like forward.html, got {path.name!r}."
            )
        check_writable(path)
        write_whole(path, self.html)

    def _repr_html_(self) -> str:
        return frame(self.html, " / ".join(dict.fromkeys(self.title.values())))

    def __repr__(self) -> str:
        boxes = f", {len(self.picture.graph.nodes)} boxes" if self.picture else ""
        return (
            f"<Player {self.title['en']!r}: {len(self.moments)} steps{boxes}. "
            f"Keep it by .save('out/forward.html')>"
        )


def _side(side: Player, name: Text | None) -> tuple[SideHtml, dict[str, Any]]:
    picture: Picture | None = side.picture
    states = None
    if picture:
        made = nodes_made(side.tape)
        states = BoxStates(picture.graph, picture.boxes_of_nodes, made)
    facts, told = side_data(side.tape, side.events, states)
    words = picture.words if picture else {}
    boxes = [words[box] for box in facts["boxes"]]
    return SideHtml(name, picture.svg if picture else "", boxes, told), facts


def sight_text(event: Event) -> str:
    """Return what a stop-point is called: kind, name and time."""
    return f"{_name_of(event)} (t={event.t})"


def _name_of(event: Event) -> str:
    return event.name if event.name.startswith(event.kind) else f"{event.kind} {event.name}"
