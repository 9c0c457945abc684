"""A training as a film: the ladder of many steps, as a GIF or as an animated SVG without a script.

    ks.play(model, x, y, steps=50, to="training.gif")

The ladder is drawn once, as on the page. Each frame adds the numbers after one step, from the tape
of this step: the values on the arrows, the weights and gradients on the cards, and the losses so
far as a curve. All frames have the same layout.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from kerascope.engine.network import Network
from kerascope.errors import ArgumentError
from kerascope.files import check_writable, write_whole
from kerascope.player.beats import Step
from kerascope.player.flows import ATTENTION, FORWARD, GRADIENT, Spec
from kerascope.player.moving import Scene, Stage, values_on_arrows
from kerascope.player.step_ladder import VALUE_WIDTH, LadderFlows, LadderPicture, ladder_of
from kerascope.player.value_labels import value_label_inks, value_label_of
from kerascope.preprocessing.image_files import pil_image
from kerascope.trace.events import END, Event
from kerascope.trace.records import counted
from kerascope.trace.statistics import figure
from kerascope.trace.tape_store import Tape
from kerascope.viz.layout.arrange import Placed, Point, Rect
from kerascope.viz.layout.ladder import CELL_PADDING, MARK_WIDTH
from kerascope.viz.overlays.recorded import begins_run
from kerascope.viz.sheet import Group, Ink, Label, Line, Mark, Sheet
from kerascope.viz.theme import PALETTES
from kerascope.viz.writers.printed import render_sheet
from kerascope.viz.writers.svg import svg_of_sheet

FRAME_SECONDS, LAST_SECONDS = 0.2, 2.0  # how long a frame is shown; the last one is longer
GIF_DPI, GIF_COLORS = 72, 128
CURVE = Rect(360, 26, 320, 44)  # the curve of the losses
COUNT_SIZE = 13.0
INSET = 2.0  # between a value and the border of its cell
_GRADIENT = "grad:"

Values = dict[tuple[str, int], Spec]


class Frame(NamedTuple):
    """The numbers of one step: its loss, and its values by box and direction (`Flows.now`)."""

    loss: float
    values: Values


class Film:
    """A training as a moving picture. It is displayed in a notebook.

    Parameters
    ----------
    model : Model or None
        The compiled model that is trained on the tapes; None raises.
    tapes : iterable of Tape
        Each contains one or several training steps. Only the numbers of a tape are kept.
    most : int, optional
        The maximum number of steps.

    Raises
    ------
    ArgumentError
        If the tapes contain no training step of the model.
    """

    def __init__(
        self, model: Network | None, tapes: Iterable[Tape], most: int | None = None
    ) -> None:
        self.frames: list[Frame] = []
        picture = None
        for tape, run in _training_steps(tapes):
            picture = picture or ladder_of(model, run)
            if picture is None or len(self.frames) == most:
                break
            self.frames.append(_frame_of(picture, tape, run))
        if picture is None:
            raise ArgumentError(
                "play: expected training steps of a compiled model for a film, got none. Use "
                "play(model, x, y, steps=50), or record a fit: `with ks.trace(model) as tape:`."
            )
        self.picture = picture
        self.name = picture.whole.name

    @property
    def svg(self) -> str:
        """The film as an animated SVG without a script."""
        return film_svg(self.picture, self.frames)

    @property
    def gif(self) -> bytes:
        """The film as a GIF."""
        return film_gif(self.picture, self.frames)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the film to a file: "training.gif" or "training.svg".

        Raises
        ------
        ArgumentError
            If the file name has another ending, or the folder does not exist.
        MissingToolError
            For a GIF, if PIL or Graphviz is not installed.
        """
        path = Path(path)
        check_film_name(path)
        check_writable(path)
        write_whole(path, self.gif if path.suffix == ".gif" else self.svg)

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        steps = counted(len(self.frames), "step")
        return f"<Film of {self.name!r}: {steps}. Save it with .save('film.gif')>"


def check_film_name(path: str | PathLike[str]) -> None:
    """Raise an error if a film cannot be saved under this name.

    Call this before the steps run, which may take an hour.
    """
    if Path(path).suffix not in (".gif", ".svg"):
        raise ArgumentError(
            f"play: expected a name like training.gif or training.svg for a film, got "
            f"{Path(path).name!r}. For a page with one step, leave out steps."
        )
    if Path(path).suffix == ".gif":
        _pil_image()


def _pil_image() -> ModuleType:
    return pil_image("play", "An .svg does not need it.")


def _training_steps(tapes: Iterable[Tape]) -> Iterator[tuple[Tape, list[Event]]]:
    """Yield the events of each training step on the tapes, with its tape."""
    for tape in tapes:
        run: list[Event] = []
        for event in tape[:]:
            if run or (begins_run(event) and event.name == "train_function"):
                run.append(event)
            if run and event.ph == END and event.depth == run[0].depth:
                yield tape, run
                run = []


def _frame_of(picture: LadderPicture, tape: Tape, run: Sequence[Event]) -> Frame:
    """Return the frame of a training step from its events on a tape."""
    flows = LadderFlows(picture, tape)
    for event in run:
        flows.feed(event)
    losses = [d.value for event in run for d in event.deltas if d.name == "total_loss"]
    return Frame(float(losses[-1]), dict(flows.now))


# --- the pictures of the frames -------------------------------------------------------------------


def film_sheets(picture: LadderPicture, frames: Sequence[Frame]) -> tuple[Sheet, list[list[Mark]]]:
    """Return the sheet of a ladder without numbers, and the marks that each frame adds to it."""
    base, placed, measures = picture.drawn(has_states=False)
    palette = PALETTES["light"]
    own = (
        *value_label_inks(palette),
        Ink(".curve", "none", palette.edge, "1"),
        Ink(".curve.past", "none", palette.mark("orange"), "2.5"),
        Ink(".count", palette.text, more=f"font-size:{COUNT_SIZE:g}px;font-weight:bold"),
    )
    whole = Line(_curve(frames), line_width=0, look="curve")
    base = replace(base, inks=(*base.inks, *own), marks=(*base.marks, whole))
    scene = Scene(picture.graph, picture.graph, Step(flows=_by_calls(frames[0].values)), "", [])
    stage = Stage(scene, placed, measures, picture.options)
    stage.beat_of = dict.fromkeys((node.id for node in picture.graph.nodes), 0)
    places = [(laid.key, laid.middle) for laid in values_on_arrows(stage)]
    return base, [
        [*_head(frames, place), *_cells(picture, placed, frame), *_on_arrows(places, frame)]
        for place, frame in enumerate(frames)
    ]


def _by_calls(values: Values) -> Values:
    """Return values whose gradients have the id of their call instead of the gradient's box."""
    return {
        (box.removeprefix(_GRADIENT) if way == GRADIENT else box, way): spec
        for (box, way), spec in values.items()
    }


def _on_arrows(places: Sequence[tuple[tuple[str, int], Point]], frame: Frame) -> Iterator[Mark]:
    values = _by_calls(frame.values)
    for key, (x, y) in places:
        if key not in values:
            continue
        label = value_label_of(values[key])
        yield from label.marks((x, y))
        maps = values.get((key[0], ATTENTION)) if key[1] == FORWARD else None
        if maps:
            beside = value_label_of(maps)
            yield from beside.marks((x + (label.width + beside.width) / 2 + INSET, y))


def _cells(picture: LadderPicture, placed: Placed, frame: Frame) -> Iterator[Mark]:
    """Yield the values in the cells of the cards."""
    for node in picture.graph.nodes:
        ways = FORWARD, GRADIENT
        spec = next((frame.values[node.id, w] for w in ways if (node.id, w) in frame.values), None)
        if "line" not in node.attrs or spec is None:
            continue
        label, rect = value_label_of(spec), placed.boxes[node.id]
        has_mark = node.kind in ("variable", "slot")
        right = rect.right - CELL_PADDING - (MARK_WIDTH if has_mark else 0)
        middle = right - VALUE_WIDTH / 2, rect.y + rect.height / 2
        fit = min(1, VALUE_WIDTH / label.width, (rect.height - 2 * INSET) / label.height)
        if label.has_text and fit < 1:  # the norm is shorter
            norm = "NaN/Inf!" if spec[0] is None else figure(spec[0])
            yield Label(middle[0], middle[1] + 3.7, norm, anchor="middle", look="chip-text")
        else:
            yield from label.marks(middle, fit)


def _head(frames: Sequence[Frame], place: int) -> Iterator[Mark]:
    """Yield the number and the loss of a step, and the curve of the losses until then."""
    loss = frames[place].loss
    written = "NaN" if loss != loss else figure(loss)
    words = f"step {place + 1} of {len(frames)}", f"loss {written}"
    for word, x in zip(words, (CURVE.x, CURVE.x + 110), strict=True):
        yield Label(x, CURVE.y - 8, word, COUNT_SIZE, bold=True, look="count")
    past = _curve(frames)[: place + 1]
    yield Line(past if len(past) > 1 else past * 2, line_width=0, look="curve past")


def _curve(frames: Sequence[Frame]) -> tuple[Point, ...]:
    """Return the points of the curve of all losses. Losses that are not finite are at the top."""
    losses = [frame.loss for frame in frames]
    finite = [loss for loss in losses if abs(loss) < float("inf")]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    shares = [(loss - low) / (high - low or 1.0) if loss <= high else 1.0 for loss in losses]
    step = CURVE.width / max(len(losses) - 1, 1)
    return tuple(
        (CURVE.x + i * step, CURVE.bottom - CURVE.height * max(share, 0.0))
        for i, share in enumerate(shares)
    )


# --- files ----------------------------------------------------------------------------------------


def film_svg(picture: LadderPicture, frames: Sequence[Frame]) -> str:
    """Return a film as an animated SVG without a script.

    If the reader's settings or the viewing program do not allow animation, the last frame is shown.
    """
    base, added = film_sheets(picture, frames)
    last = len(added) - 1
    whole = len(added) * FRAME_SECONDS + LAST_SECONDS
    groups = [
        Group(f"moves m{place}{' last' if place == last else ''}", tuple(marks))
        for place, marks in enumerate(added)
    ]
    svg = svg_of_sheet(replace(base, marks=(*base.marks, *groups)))
    share, rest = (100 * one / whole for one in (FRAME_SECONDS, FRAME_SECONDS + LAST_SECONDS))
    rules = [
        f".moves{{visibility:hidden;animation:frame {whole:g}s step-end infinite}}",
        ".moves.last{visibility:visible;animation-name:last}",
        *(f".m{i}{{animation-delay:{i * FRAME_SECONDS - whole:.1f}s}}" for i in range(len(added))),
        f"@keyframes frame{{0%{{visibility:visible}}{share:.3f}%,100%{{visibility:hidden}}}}",
        f"@keyframes last{{0%{{visibility:visible}}{rest:.3f}%,100%{{visibility:hidden}}}}",
        "@media (prefers-reduced-motion:reduce){.moves{animation:none}}",
    ]
    return svg.replace("</style>", "\n".join([*rules, "</style>"]), 1)


def film_gif(picture: LadderPicture, frames: Sequence[Frame]) -> bytes:
    """Return a film as a GIF.

    Raises
    ------
    MissingToolError
        PIL or Graphviz is not installed.
    """
    images = _pil_image()
    base, added = film_sheets(picture, frames)
    shown = []
    for marks in added:
        png = render_sheet(replace(base, marks=(*base.marks, *marks)), "png", dpi=GIF_DPI)
        shown.append(images.open(io.BytesIO(png)).convert("RGB"))
    colors = shown[-1].quantize(GIF_COLORS)
    packed = [image.quantize(palette=colors, dither=images.Dither.NONE) for image in shown]
    seconds = [*[FRAME_SECONDS] * (len(shown) - 1), FRAME_SECONDS + LAST_SECONDS]
    file = io.BytesIO()
    packed[0].save(
        file, "GIF", save_all=True, append_images=packed[1:], loop=0, optimize=True,
        duration=[round(1000 * one) for one in seconds],
    )  # fmt: skip
    return file.getvalue()
