"""One step as an animated picture, and as a strip of still pictures: SVG without a script.

The picture is the ladder of the step, or without training the model's calls. Everything is visible
from the start in thin dashed lines. With each beat of `beats.py` its boxes and arrows appear, with
the outputs of calls on their arrows, and its sentence is shown above the picture. The current box
has a thick frame with a flag. Style sheets control the animation. If the reader's settings or the
viewing program do not allow animation, the whole step is shown.

    player.svg                       # animated
    player.strip                     # a still picture for the end of each lane
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from kerascope.engine.network import Network
from kerascope.errors import ArgumentError
from kerascope.player.beats import LANES, Beat, Step, StepTimeline, is_call
from kerascope.player.flows import FORWARD, GRADIENT
from kerascope.player.picture import Picture
from kerascope.player.room import roomy
from kerascope.player.sentences import SENTENCES
from kerascope.player.value_labels import ValueLabel, value_label_inks, value_label_of
from kerascope.player.words import WORDS
from kerascope.printable import printable_lines
from kerascope.trace.events import Event
from kerascope.trace.statistics import Statistics, figure, norm_of
from kerascope.viz.boxes import BoxText, PictureOptions
from kerascope.viz.collapse.view import View, view_of
from kerascope.viz.draw import draw
from kerascope.viz.exports.to_svg import box_marks, head_looks, marks_of, style_sheet
from kerascope.viz.graph import Graph, GraphNode
from kerascope.viz.layout.arrange import Placed, Point, Rect, arrange
from kerascope.viz.layout.ladder import arrange_ladder, is_ladder
from kerascope.viz.layout.measures import Measure, text_width
from kerascope.viz.nesting import hiding_of
from kerascope.viz.overlays.recorded import numbers_of, run_of
from kerascope.viz.overlays.step_figures import StepNumbers, with_numbers
from kerascope.viz.sheet import Group, Label, Line, Mark, Rectangle, flattened, mute
from kerascope.viz.theme import PALETTES, Palette, style_of
from kerascope.viz.writers.svg import arrow_heads, css, svg_mark
from kerascope.viz.writers.svg_syntax import attribute, element, number

# --- what is drawn --------------------------------------------------------------------------------


class Scene(NamedTuple):
    """A step to draw: the pictures before and after it, and the beats in between.

    Attributes
    ----------
    before, after : Graph
        Two graphs with the same boxes. The boxes of weights and slots show their values before
        the step in one graph, and after the step in the other.
    step : Step
    title : str
    facts : list of str
        Texts for the line below the title, such as the loss.
    """

    before: Graph
    after: Graph
    step: Step
    title: str
    facts: list[str]


def scene_of(
    earlier: list[Event], events: list[Event], model: Network | None, picture: Picture | None
) -> Scene:
    """Return the scene that shows the given events.

    Parameters
    ----------
    earlier, events : list of Event
        The earlier events, and the events to show.
    model : Network, optional
        If it is compiled and trained by these events, it is drawn as a ladder.
    picture : Picture, optional
        The picture to use without a model.

    Raises
    ------
    ArgumentError
        If there is neither a model nor a picture, or the events contain no run.
    """
    run = list(run_of(events))
    if not run or (model is None and picture is None):
        raise ArgumentError(
            "play: expected a tape with a call of fit, train_on_batch or predict, and a model that "
            "can be drawn, got none. A moving picture shows one run of a model."
        )
    earlier = [*earlier, *(event for event in events if event.t < run[0].t)]
    is_training = any(event.kind == "commit" for event in run)
    if model is None:
        whole = picture.whole  # type: ignore[union-attr]
        view = View(whole, picture.closed)  # type: ignore[union-attr]
    else:
        trained = is_training and getattr(model, "optimizer", None) is not None
        whole = draw(model, level="training" if trained else "node", most=None).whole
    numbers = numbers_of(run, whole) if is_ladder(whole) else None
    facts = str(whole.attrs.get("caption", "")).split(". ")[:1]
    if numbers is not None:
        whole = with_numbers(whole, numbers)
        facts.append(f"loss {figure(numbers.loss)}")
    if model is not None:
        view = view_of(whole)
    hiding = hiding_of(view.whole, view.closed)
    alias = {node.id: hiding[node.group] for node in view.whole.nodes if hiding[node.group]}
    shown = view.shown
    step = StepTimeline(view.whole, shown, alias).step(earlier, run)
    if not step.beats:
        raise ArgumentError(
            "play: none of the calls in this tape is a box of the picture. Give the model that was "
            "run: play(tape, graph=model)."
        )
    if any(beat.is_thinned for beat in step.beats):
        crowd = sum(beat.calls for beat in step.beats)
        facts.append(f"thinned: {crowd} steps in {len(step.beats)} beats")
    elif alias:
        facts.append("some calls folded into frames")
    before, after = _kept(shown, numbers)
    return Scene(before, after, step, whole.name, [fact for fact in facts if fact])


def _kept(graph: Graph, numbers: StepNumbers | None) -> tuple[Graph, Graph]:
    """Return two pictures, before and after a step, with the values of weights and slots."""
    if numbers is None:
        return graph, graph
    at_first: dict[str, str] = {}
    at_last: dict[str, str] = {}
    for node in graph.nodes:
        if node.id not in numbers.after:
            continue
        if node.kind == "slot":
            at_first[node.id] = figure(_size(numbers.before[node.id]))
        else:
            at_last[node.id] = f"\u2016w\u2016 {figure(_size(numbers.after[node.id]))}"
    return _with_words(graph, at_first), _with_words(graph, at_last)


def _size(value: object) -> float:
    norm = value.norm if isinstance(value, Statistics) else norm_of(value)
    return float("nan") if norm is None else float(norm)


def _with_words(graph: Graph, details: Mapping[str, str]) -> Graph:
    nodes = []
    for node in graph.nodes:
        if node.id in details:
            attrs = {k: v for k, v in node.attrs.items() if k != "share" or node.kind != "slot"}
            node = replace(node, attrs={**attrs, "detail": details[node.id]})
        nodes.append(node)
    return replace(graph, nodes=tuple(nodes), attrs={**graph.attrs, "caption": ""}, name="")


# --- positions -----------------------------------------------------------------------------------

HEAD = 88.0  # above the picture: title, time line, sentence
MARGIN = 14.0
LEAST_WIDTH = 720.0
ROW_GAP = 46.0  # for a value on the arrow between two rows
TITLE_SIZE, SAID_SIZE, FACT_SIZE = 15.0, 14.0, 10.5
SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)  # places for a value along an arrow


class Laid(NamedTuple):
    """A value on an arrow: its label, the arrow's start, the label's middle, and when it appears.

    It appears at the beat with the number `beat`. `key` is its box and direction in `Step.flows`.
    """

    label: ValueLabel
    start: Point
    middle: Point
    beat: int
    key: tuple[str, int]


@dataclass
class Stage:
    """A scene with the positions of its boxes and arrows, and the beats at which boxes appear.

    Attributes
    ----------
    scene : Scene
    beat_of : dict of str to int
        The beat of each box by its id. Boxes that are visible from the start have none.
    """

    scene: Scene
    placed: Placed
    measures: Mapping[str, Measure]
    options: PictureOptions
    beat_of: dict[str, int] = field(default_factory=dict)
    laid: list[Laid] = field(default_factory=list)

    @property
    def cards(self) -> set[str]:
        """Ids of the frames that are cards of a ladder."""
        groups = self.scene.after.groups
        return {group.id for group in groups if group.attrs.get("kind") == "card"}

    @property
    def width(self) -> float:
        """Width of the whole picture."""
        return max(self.placed.width, LEAST_WIDTH)

    @property
    def height(self) -> float:
        """Height of the whole picture, including the title and the sentence above the graph."""
        return HEAD + self.placed.height

    def appears(self, edge: int) -> int:
        """Return the number of the beat at which an arrow appears.

        An arrow with a call's output appears with that call. Every other arrow appears with the
        later of its two boxes.
        """
        one = self.scene.after.edges[edge]
        source, target = self.beat_of.get(one.source, -1), self.beat_of.get(one.target, -1)
        return source if self.is_value(edge) else max(source, target)

    def is_value(self, edge: int) -> bool:
        """Return whether an arrow carries a call's output to another call or to a loss."""
        return is_call(self.scene.after.node(self.scene.after.edges[edge].source))


def stage_of(scene: Scene) -> Stage:
    """Place the boxes and arrows of a scene, and set the beats at which boxes appear."""
    has_ladder = is_ladder(scene.after)
    options = PictureOptions(depth_ranks=False)
    if has_ladder:
        placed, measures = arrange_ladder(_longest(scene), options, ROW_GAP)
    else:
        placed, measures = arrange(scene.after, options)
        placed = roomy(placed)
    stage = Stage(scene, placed, measures, options)
    kept = {node.id for node in scene.after.nodes if node.attrs.get("column") == "weight"}
    kept |= {node.id for node in scene.after.nodes if node.kind in ("slot", "card")}
    for place, beat in enumerate(scene.step.beats):
        for box in beat.boxes:
            if box not in kept:
                stage.beat_of.setdefault(box, place)
    _add_vias(stage)
    stage.laid = list(values_on_arrows(stage))
    return stage


def _longest(scene: Scene) -> Graph:
    """Return the picture with the longer of each cell's two texts, before and after the step.

    Its layout has enough space for both.
    """
    before = {node.id: node for node in scene.before.nodes}
    nodes = tuple(
        max(before[node.id], node, key=lambda one: len(str(one.attrs.get("detail", ""))))
        for node in scene.after.nodes
    )
    return replace(scene.after, nodes=nodes)


def _add_vias(stage: Stage) -> None:
    """Show the contributions to a shared weight at the beat of the weight's gradient."""
    for node in stage.scene.after.nodes:
        if node.attrs.get("column") == "via":
            beat = stage.beat_of.get(f"grad:{node.attrs.get('via', '')}")
            if beat is not None:
                stage.beat_of[node.id] = beat


def values_on_arrows(stage: Stage) -> Iterator[Laid]:
    """Yield the values on the arrows, placed so that they cover no box and no other value."""
    graph, placed = stage.scene.after, stage.placed
    lines = [(one.edges, one.path) for one in placed.strokes if not one.when_pointed]
    lines = lines or [((place,), path) for place, path in enumerate(placed.paths)]
    arriving: dict[str, int] = {}
    for edges, _ in lines:
        target = graph.edges[edges[0]].target
        arriving[target] = arriving.get(target, 0) + 1
    taken = [*placed.boxes.values()]
    taken += [placed.frames[card] for card in stage.cards]
    taken += [
        Rect(one.x, one.y - one.size, text_width(one.text, one.size), one.size)
        for one in placed.words
    ]
    flat = [(edges, [*flattened(path.points, 8)]) for edges, path in lines]
    for edges, path in lines:
        edge = graph.edges[edges[0]]
        home = graph.node(edge.target).attrs
        key, beat = ("", FORWARD), None
        if stage.is_value(edges[0]) and _takes_values(graph.node(edge.target)):
            key, beat = (edge.source, FORWARD), stage.beat_of.get(edge.source)
        elif home.get("rail") == "backward" and arriving[edge.target] == 1:
            key, beat = (str(home.get("beside", "")), GRADIENT), stage.beat_of.get(edge.target)
        spec = stage.scene.step.flows.get(key)
        if not spec or beat is None or edge.attrs.get("operand_of"):
            continue
        label = value_label_of(spec)
        points = [*flattened(path.points, 8)]
        others = [
            line for own, line in flat if own != edges and graph.edges[own[0]].source != edge.source
        ]
        middle = _free_place(label, points, taken, others, placed.width)
        if middle is not None:
            taken.append(label.around(middle))
            yield Laid(label, points[0], middle, beat, key)


def _free_place(
    label: ValueLabel, points: list[Point], used: list[Rect], rest: list[list[Point]], width: float
) -> Point | None:
    """Return a point on a line where a value covers nothing else, or None if there is none.

    Points at which the value covers no other line are preferred.
    """
    crossed: list[tuple[bool, int, Point]] = []
    for place, share in enumerate(SHARES):
        middle = _along(points, share)
        rect = label.around(middle)
        if rect.x < 2 or rect.right > width - 2 or any(rect.overlaps(one) for one in used):
            continue
        hit = any(rect.x < x < rect.right and rect.y < y < rect.bottom
                  for line in rest for x, y in line)  # fmt: skip
        crossed.append((hit, place, middle))
    return min(crossed)[2] if crossed else None


def _takes_values(node: GraphNode) -> bool:
    return is_call(node) or node.kind == "loss"


def _along(points: list[Point], share: float) -> Point:
    """Return the point on a line at a fraction of the line's length, such as 0.5."""
    lengths = [((x - a) ** 2 + (y - b) ** 2) ** 0.5 for (a, b), (x, y) in pairwise(points)]
    rest = share * sum(lengths)
    for length, ((a, b), (x, y)) in zip(lengths, pairwise(points), strict=True):
        if rest <= length and length:
            part = rest / length
            return a + (x - a) * part, b + (y - b) * part
        rest -= length
    return points[-1]


# --- drawing --------------------------------------------------------------------------------------

# Writes marks of a beat: the marks, the beat, and how they appear.
Write = Callable[[Iterable[Mark], int, str], str]
SCOPE = "auto"  # the class of these pictures
STAYS, NOW, TRAVELS, UNTIL = "s", "n", "t", "u"


def _text(marks: Iterable[Mark]) -> str:
    return "".join(svg_mark(mark, SCOPE) for mark in marks)


def _drawn(stage: Stage, write: Write, language: str) -> Iterator[str]:
    """Yield the SVG elements of the whole picture.

    `write(marks, beat, how)` returns the SVG elements of marks. They are visible from this beat of
    the step, only at this beat, or until this beat: `how` is `STAYS` or `TRAVELS`, `NOW`, or
    `UNTIL`. In a still picture of one beat, `write` returns "" for marks that are not visible then.
    """
    yield from _head(stage, write, language)
    yield f'<g transform="translate({number((stage.width - stage.placed.width) / 2)} {HEAD:g})">'
    before = {node.id: node for node in stage.scene.before.nodes}
    updates = {
        box: place for place, beat in enumerate(stage.scene.step.beats)
        if beat.lane == "commit" for box in beat.boxes
    }  # fmt: skip
    for mark in marks_of(stage.scene.after, stage.options, stage.placed, stage.measures):
        mark = mute(mark)
        if not isinstance(mark, Group):
            yield svg_mark(mark, SCOPE)
        elif mark.box:
            yield from _box(stage, mark, before[mark.box], updates, write)
        elif mark.edges:
            yield from _line(stage, mark, updates, write)
        elif mark.look == "edges":
            yield f'<g class="{mark.look}">'
            for line in mark.marks:
                yield from _line(stage, line, updates, write)
            yield "</g>"
    for one in stage.laid:
        dx, dy = one.start[0] - one.middle[0], one.start[1] - one.middle[1]
        yield f'<g style="--x:{number(dx)}px;--y:{number(dy)}px">'
        yield write(one.label.marks(one.middle), one.beat, TRAVELS)
        yield "</g>"
    for place, beat in enumerate(stage.scene.step.beats):
        yield write(_flags(stage, beat), place, NOW)
    yield "</g>"


def _box(
    stage: Stage, group: Group, before: GraphNode, commits: Mapping[str, int], write: Write
) -> Iterator[str]:
    """Yield the SVG elements of a box.

    A box that appears later also has a dashed outline, which is visible from the start. A box whose
    value the step changes has the value before the step and the value after it.
    """
    beat = stage.beat_of.get(group.box, -1)
    rect, measure = stage.placed.boxes[group.box], stage.measures[group.box]
    if group.box in commits:
        inside = box_marks(before, rect, _measured(before, measure), stage.options)
        yield _text([Group(f"box k-{before.kind}", tuple(inside))])
        yield write([group], _card_beat(stage, group.box, commits), STAYS)
        return
    if beat >= 0 and group.marks[0].look != "spot":
        text = measure.text
        todo = replace(measure, text=BoxText(text.sign, text.title, (), (), text.inputs))
        inside = box_marks(_bare(before), rect, todo, stage.options)
        yield write([Group("box todo", tuple(inside))], beat, UNTIL)
    yield write([group], beat, STAYS)


def _bare(node: GraphNode) -> GraphNode:
    return replace(node, attrs={k: v for k, v in node.attrs.items() if k != "share"})


def _measured(node: GraphNode, measure: Measure) -> Measure:
    """Return the size and text of a card's cell, with the value of `node` as its last line."""
    lines = [line for line in measure.text.lines if line.startswith("(")]
    text = replace(measure.text, lines=(*lines, str(node.attrs.get("detail", ""))))
    return replace(measure, text=text)


def _card_beat(stage: Stage, box: str, commits: Mapping[str, int]) -> int:
    """Return the beat at which the value in a cell of a card changes.

    A slot changes at the update, a weight at the commit.
    """
    node = stage.scene.after.node(box)
    if node.kind != "slot":
        return commits[box]
    own = [
        stage.beat_of[one.id] for one in stage.scene.after.nodes
        if one.kind == "update" and one.id in stage.beat_of
        and (one.attrs["line"], one.attrs["column"]) == (node.attrs["line"], node.attrs["column"])
    ]  # fmt: skip
    return min(own, default=commits[box])


def _line(stage: Stage, group: Group, commits: Mapping[str, int], write: Write) -> Iterator[str]:
    edges = stage.scene.after.edges
    if group.look:  # the sign of a written value
        yield write([group], commits.get(edges[group.edges[0]].target, -1), STAYS)
        return
    beat = max(stage.appears(edge) for edge in group.edges)
    if beat >= 0:
        (line,) = group.marks
        later = Line(line.points, line_width=0, look="edge later", curved=True)
        yield write([later], beat, UNTIL)
    yield write([group], beat, STAYS)


def _flags(stage: Stage, beat: Beat) -> Iterator[Mark]:
    """Yield the outlines around the boxes of a beat, and a flag "now" at its call or its cards."""
    flagged: dict[str, list[Rect]] = {}
    for box in beat.boxes:
        rect = stage.placed.boxes[box]
        if rect.width < 20:  # the mark in the cell of a slot
            continue
        style = style_of(stage.scene.after.node(box).kind)
        radius = {"round": 9, "oval": rect.height / 2 + 3}.get(style.corners, 0)
        size = rect.width + 8, rect.height + 8
        yield Rectangle(rect.x - 4, rect.y - 4, *size, look="halo", corner=radius)
        group = stage.scene.after.node(box).group
        flagged.setdefault(group if group in stage.cards else "", []).append(rect)
    first = [rects[0] for group, rects in flagged.items() if not group]
    for rect in [*first, *(stage.placed.frames[group] for group in flagged if group)]:
        x, y = rect.x - 5.5, rect.y - (4 if rect in first else 0)
        corners = ((0, 0), (0, -13), (30, -13), (25, -6.5), (30, 0))
        flag = tuple((x + right, y + down) for right, down in corners)
        yield Line(flag, line_width=0, look="flag", closed=True)
        yield Label(x + 3, y - 3, "now", 9.5, bold=True, look="flag-text")
        if rect in first:
            break  # the cards belong to this call


# --- the head: title, time line, sentence ---------------------------------------------------------


def _head(stage: Stage, write: Write, language: str) -> Iterator[str]:
    scene = stage.scene
    title = Label(MARGIN, 25, scene.title, TITLE_SIZE, bold=True, look="caption")
    x = MARGIN + text_width(scene.title, TITLE_SIZE, True) + 14
    facts = Label(x, 25, " \N{MIDDLE DOT} ".join(scene.facts), FACT_SIZE, look="quiet")
    yield _text([title, facts])
    width = stage.width - 2 * MARGIN
    seconds = _seconds(scene.step.beats, language)
    x, label_x, last = MARGIN, MARGIN, ""
    for place, (beat, own) in enumerate(zip(scene.step.beats, seconds, strict=True)):
        wide = width * own / sum(seconds)
        bar = Rectangle(x, 52, max(wide - 3, 1), 5, look="time", corner=2.5)
        yield _text([bar])
        yield write([replace(bar, look="time past")], place, STAYS)
        if beat.lane != last:
            word = _word(beat.lane, language)
            label_x = max(x, label_x)
            yield _text([Label(label_x, 47, word, FACT_SIZE, look="quiet")])
            label_x += text_width(word, FACT_SIZE) + 8
        x, last = x + wide, beat.lane
        yield write(_said(beat, width, language), place, NOW)


def _word(name: str, language: str) -> str:
    return WORDS[name][language == "zh"]


def _said(beat: Beat, width: float, language: str) -> Iterator[Mark]:
    """Yield the labels for the sentence of a beat, in one or two lines."""
    words = sentence_of(beat, language)
    lane = _word(beat.lane, language)
    x = left = MARGIN + text_width(lane, SAID_SIZE, True) + 10
    y = 82.0
    yield Label(MARGIN, y, lane, SAID_SIZE, bold=True, look="lane")
    for word, is_number in words:
        wide = text_width(word, SAID_SIZE, is_number)
        if x + wide > MARGIN + width and x > left:
            if y > 90:
                yield Label(x, y, "\N{HORIZONTAL ELLIPSIS}", SAID_SIZE, look="said")
                return
            x, y, word = left, y + 20, word.lstrip()
            wide = text_width(word, SAID_SIZE, is_number)
        look = "said number" if is_number else "said"
        yield Label(x, y, word, SAID_SIZE, bold=is_number, look=look)
        x += wide


def sentence_of(beat: Beat, language: str = "en") -> list[tuple[str, bool]]:
    """Return the words of a beat's sentence, and for each word whether it belongs to a number."""
    captions = [beat.caption]
    if beat.also:
        captions.append(["also", ", ".join(beat.also)])
    elif beat.is_thinned:
        captions.append(["beside", str(beat.calls - 1)])
    found: list[tuple[str, bool]] = []
    blank = ""
    for key, *words in captions:
        for place, template in enumerate(SENTENCES[key][language == "zh"].split("*")):
            text, is_number = template.format(*words), bool(place % 2)
            for count, word in enumerate(text.split(" ")):
                blank = blank or " " * (count > 0)
                long = 12 if language == "zh" else max(len(word), 1)
                for first in range(0, len(word), long):
                    found.append((blank + word[first : first + long], is_number))
                    blank = ""
    return found


# --- the two pictures -----------------------------------------------------------------------------

SHORTEST, LONGEST = 1.8, 5.0  # seconds of a beat
PER_CHARACTER = 0.03
PAUSE = 3.0  # at the end, before it repeats
CALM = "@media (prefers-reduced-motion:reduce)"


def moving_svg(scene: Scene, language: str = "en") -> str:
    """Return a step as an SVG with an endless animation.

    Parameters
    ----------
    scene : Scene
    language : {"en", "zh"}
    """
    stage = stage_of(scene)
    beats = scene.step.beats
    last = len(beats) - 1

    def write(marks: Iterable[Mark], beat: int, how: str) -> str:
        text = _text(marks)
        if beat < 0 or not text:
            return text
        is_gone = " gone" if how == UNTIL or (how == NOW and beat != last) else ""
        return f'<g class="moves {how}{beat}{is_gone}">{text}</g>'

    lines = [*_drawn(stage, write, language)]
    rules = [*_rules(scene.after), *_motion(_seconds(beats, language))]
    return _document(scene, stage.width, stage.height, rules, lines, language)


def strip_svg(scene: Scene, language: str = "en") -> str:
    """Return a step as still pictures, one for the end of each lane, in rows for a slide.

    Parameters
    ----------
    scene : Scene
    language : {"en", "zh"}
    """
    beats = scene.step.beats
    ends = [max(i for i, b in enumerate(beats) if b.lane == lane)
            for lane in LANES if any(b.lane == lane for b in beats)]  # fmt: skip
    closing = [
        beat._replace(caption=scene.step.closing.get(beat.lane, beat.caption), also=(),
                      is_thinned=False)
        if place in ends else beat
        for place, beat in enumerate(beats)
    ]  # fmt: skip
    stage = stage_of(scene._replace(step=replace(scene.step, beats=closing)))
    columns = min(
        range(1, len(ends) + 1),
        key=lambda n: abs(n * stage.width * 9 - -(-len(ends) // n) * stage.height * 16),
    )
    lines = []
    for place, end in enumerate(ends):

        def write(marks: Iterable[Mark], beat: int, how: str, end: int = end) -> str:
            there = {NOW: beat == end, UNTIL: beat > end}.get(how, beat <= end)
            return _text(marks) if there else ""

        row, column = divmod(place, columns)
        at = f"{number(column * stage.width)} {number(row * stage.height)}"
        lines += [f'<g transform="translate({at})">', *_drawn(stage, write, language), "</g>"]
    rows = -(-len(ends) // columns)
    size = stage.width * min(columns, len(ends)), stage.height * rows
    return _document(scene, *size, [*_rules(scene.after)], lines, language)


def _seconds(beats: list[Beat], language: str) -> list[float]:
    """Return for how many seconds each beat is shown, by the length of its sentence."""
    factor = 3.0 if language == "zh" else 1.0
    lengths = [sum(len(word) for word, _ in sentence_of(beat, language)) for beat in beats]
    return [min(SHORTEST + PER_CHARACTER * factor * length, LONGEST) for length in lengths]


def _document(
    scene: Scene, width: float, height: float, rules: list[str], lines: list[str], language: str
) -> str:
    description = "; ".join(
        f"{_word(beat.lane, language)}: {''.join(word for word, _ in sentence_of(beat, language))}"
        for beat in scene.step.beats
    )
    size = f"{number(width)} {number(height)}"
    return printable_lines("\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" class="kerascope auto" width="{number(width)}" '
        f'height="{number(height)}" viewBox="0 0 {size}" role="img" '
        f"aria-label={attribute(scene.title)}>",
        element("title", scene.title),
        element("desc", description),
        f"<style>{style_sheet(scene.after, PictureOptions())}",
        *rules,
        "</style>",
        arrow_heads(head_looks(scene.after), SCOPE),
        '<rect class="ground" width="100%" height="100%"/>',
        *filter(None, lines),
        "</svg>",
        "",
    ]))  # fmt: skip


def _rules(graph: Graph) -> Iterator[str]:
    """Yield the CSS rules that only moving pictures and strips need."""
    yield ".kerascope .halo{fill:none;stroke-width:3}.kerascope .edge.later{stroke-width:1}"
    yield ".kerascope .edge.later{stroke-dasharray:2 4}"
    yield ".kerascope .todo .line{stroke-width:1!important;stroke-dasharray:3 3!important}"
    yield f".kerascope .said,.kerascope .lane{{font-size:{SAID_SIZE}px}}"
    yield ".kerascope .lane,.kerascope .number,.kerascope .flag-text{font-weight:bold}"
    yield ".kerascope .flag-text{font-size:9.5px}"
    for name, around in (("light", "{}"), ("dark", "@media (prefers-color-scheme:dark){{{}}}")):
        rules = "".join(f".kerascope {rule}" for rule in _colours(PALETTES[name]))
        rules += css(value_label_inks(PALETTES[name]), (), SCOPE)
        yield around.format(rules)


def _colours(palette: Palette) -> Iterator[str]:
    now = palette.mark("orange")
    yield f".said{{fill:{palette.text}}}"
    yield f".lane{{fill:{palette.sign('orange')}}}"
    yield f".halo{{stroke:{now}}}"
    yield f".flag{{fill:{now}}}"
    yield f".flag-text{{fill:{palette.background}}}"
    yield f".time{{fill:{palette.group_line};fill-opacity:.3}}"
    yield f".time.past{{fill:{now};fill-opacity:1}}"
    yield f".todo .line{{fill:{palette.background}!important;stroke:{palette.edge}!important}}"
    yield f".todo .title{{fill:{palette.quiet_text}}}"
    yield f".todo .sign{{fill:{palette.quiet_text}}}"


def _motion(seconds: list[float]) -> Iterator[str]:
    """Yield the animation rules: when the elements of each beat appear and disappear."""
    whole = sum(seconds) + PAUSE
    yield f".moves{{animation:{whole:.1f}s ease-out infinite}}"
    yield ".moves.gone{opacity:0}"
    start = 0.0
    for place, own in enumerate(seconds):
        is_last = place == len(seconds) - 1
        a = 100 * start / whole
        b = 98.5 if is_last else 100 * (start + own) / whole
        fade = 100 * 0.25 / whole
        travel = 100 * min(0.9, own / 2) / whole
        before = f"0%,{max(a - 0.01, 0):.2f}%"
        far = "transform:translate(var(--x),var(--y))"
        yield f".s{place}{{animation-name:s{place}}}.n{place}{{animation-name:n{place}}}"
        yield f".t{place}{{animation-name:t{place}}}.u{place}{{animation-name:u{place}}}"
        yield (
            f"@keyframes s{place}{{{before}{{opacity:0}}{a + fade:.2f}%,99%{{opacity:1}}"
            f"100%{{opacity:0}}}}"
        )
        yield (
            f"@keyframes n{place}{{{before}{{opacity:0}}{a + fade / 3:.2f}%,{b:.2f}%{{opacity:1}}"
            f"{b + 0.01:.2f}%,100%{{opacity:0}}}}"
        )
        yield (
            f"@keyframes t{place}{{{before}{{opacity:0;{far}}}{a + fade:.2f}%{{opacity:1;{far}}}"
            f"{a + fade + travel:.2f}%,99%{{opacity:1;transform:none}}100%{{opacity:0}}}}"
        )
        yield (
            f"@keyframes u{place}{{{before}{{opacity:1}}{a + fade:.2f}%,99%{{opacity:0}}"
            f"100%{{opacity:1}}}}"
        )
        start += own
    yield f"{CALM}{{.moves{{animation:none}}}}"
