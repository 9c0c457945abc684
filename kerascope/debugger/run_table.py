"""Tables of a run: all batches, two batches compared, one value over the batches.

These are `info batches`, `diff batch 10 11` and `plot dense_1/kernel`. The loss and the metrics of
each batch are on the tape. The other columns come from the events of the batch. A batch without
recorded events is executed again, and marked with `~`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Tensor
from kerascope.debugger.moving import time_of_batch
from kerascope.debugger.rendering import entry_that_differs, short_text, text_of_value
from kerascope.debugger.shell import Shell
from kerascope.debugger.tables import caught_in, lines_of_table
from kerascope.errors import ArgumentError
from kerascope.trace.batch_figures import BatchValues, events_of_batch, values_of_batch
from kerascope.trace.events import END, SKIPPED
from kerascope.trace.expressions import Expression, parse_expression, value_named
from kerascope.trace.history import runs_of, value_of_event
from kerascope.trace.records import listed
from kerascope.trace.selectors import parse_address
from kerascope.trace.snapshots import same
from kerascope.trace.statistics import Statistics, figure, norm, relative_change
from kerascope.trace.tape_store import BatchOnTape, Difference, Tape

MOST_BATCHES, FIRST_BATCHES, JUMPS = 24, 6, 8  # rows of a long run: its ends, and the largest jumps
JUMP, LEVEL = 2, 10  # a jump: the loss is at least 2 times the largest of the 10 before
MOST_WEIGHTS = 10**6  # a larger model's batches are not executed again for a table
MOST_ROWS = 10  # printed rows in each part of `diff batch`: those with the largest changes
MOST_LAYERS = 24
AGAIN = "~"
BARS = "▁▂▃▄▅▆▇█"
PLAIN_BARS = "_.:-=+*#"
BINS = 24
SPREAD = 50  # a larger ratio is drawn on a logarithmic scale
LOSS = "loss"
LARGE = "the model is large: `goto batch 17` executes that batch again, and fills in its row"
ALWAYS = ("", "t", "batch")
FIRST = ("", "t", "fit", "epoch", "batch", "jump")
OF_EVENTS = ("|W|", "|g|", "|dW|/|W|", "dead")
CAUGHT = "caught"


# --- info batches ---------------------------------------------------------------------------------


def say_batches(shell: Shell) -> None:
    """Print the table of `info batches`, and a line of bars for each loss and metric."""
    run = FitBatches(shell)
    if not run.batches:
        shell.say("`fit` has trained on no batch up to here")
        return
    shown = worth_showing(run.batches)
    figures = BatchFigures(shell, run.is_large)
    cells = [run.cells_of(one, jump, figures) for one, jump in shown]
    names = dict.fromkeys(name for one, _ in shown for name in run.outs_of(one))
    header = [*FIRST, *names, *OF_EVENTS, CAUGHT]
    for line in lines_of_table(_with_room(header, cells, [*names], shell.width)):
        shell.say_line(line)
    if len(shown) < len(run.batches):
        left = len(run.batches) - len(shown)
        whose = f" of {run.here.model}" if run.is_of_several else ""
        shell.say(f"{left} more between them; `goto epoch 0 batch 17{whose}` goes to any")
    if figures.has_again:
        shell.say(f"{AGAIN} was executed again for the columns after the metrics")
    for why in _merged(figures.reasons):
        shell.say_text(why)
    for line in run.courses():
        shell.say_line(line)


def _merged(reasons: Iterable[str]) -> list[str]:
    """Return the reasons why batches were not executed again; batches with equal reasons share one.

    Examples
    --------
    >>> _merged(["batch 1: it is gone.", "batch 2: it is gone.", "it is large"])
    ['batches 1, 2: it is gone.', 'it is large']
    """
    found: dict[str, list[str]] = {}
    for reason in reasons:
        named = re.fullmatch(r"batch (\d+): (.+)", reason, re.DOTALL)
        found.setdefault(named[2] if named else reason, []).extend([named[1]] if named else [])
    lines = []
    for why, numbers in found.items():
        whose = f"batch{'es' if len(numbers) > 1 else ''} {listed(numbers, 4)}: "
        lines.append(whose + why if numbers else why)
    return lines


class FitBatches:
    """The batches of all calls of `fit`, with the names of their losses and metrics.

    Attributes
    ----------
    batches : list of BatchOnTape
    fits : list of int
        The times at which the calls of `fit` began.
    is_of_several : bool
        Whether several models were trained.
    """

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self.batches = list(shell.session.tape.batches())
        self._runs = [*dict.fromkeys((one.fit, one.model) for one in self.batches)]
        first = {(one.fit, one.model): one for one in reversed(self.batches)}
        self._models = {run: self._model_of(first[run]) for run in self._runs}
        self.fits = runs_of(shell.session.tape, len(shell.session.tape)).fits
        self.is_of_several = len({model for _, model in self._runs}) > 1

    def _model_of(self, one: BatchOnTape) -> Any:
        """Return the model of a batch, or None if it does not exist any more."""
        session = self._shell.session
        event = session.tape.told(one.t if one.fit < 0 else one.fit)
        if event.kind == SKIPPED:
            run, _, _ = event.deltas[1].value
            facts = run.journal.recorder.memory.facts(run.function)
            return None if facts is None else facts.model
        description, recorder = value_of_event(event, "model"), session.recorder
        return None if recorder is None else recorder.describer.live(description)

    @property
    def is_large(self) -> bool:
        """Whether any of the trained models is too large to execute its batches again for a table.

        A model with many trainable weights counts as too large.
        """
        weights = (
            getattr(model, "_collected_trainable_weights", None) or ()
            for model in self._models.values()
        )
        return any(sum(math.prod(w.shape) for w in own) > MOST_WEIGHTS for own in weights)

    @property
    def here(self) -> BatchOnTape:
        """The last batch that began by the current time; if there is none, the first batch."""
        now = self._shell.session.stepper.now
        return max((one for one in self.batches if one.t <= now), default=self.batches[0])

    def of_the_model_here(self) -> list[BatchOnTape]:
        """Return the completed batches of the model that is trained at the current time."""
        here = self.here.model
        return [one for one in self.batches if one.model == here and one.outs is not None]

    def outs_of(self, one: BatchOnTape) -> dict[str, float]:
        """Return the values of the loss and the metrics of a batch, by their names."""
        outs = [*map(float, one.outs or ())]
        names = [*getattr(self._models[one.fit, one.model], "metrics_names", ())]
        if len(names) != len(outs):  # the model was compiled again, or there is only a file
            names = [LOSS, *(f"#{number}" for number in range(1, len(outs)))]
        return dict(zip(names, outs, strict=False))

    def cells_of(self, one: BatchOnTape, jump: str, figures: BatchFigures) -> dict[str, str]:
        """Return the cells of a batch's row in `info batches`, by column name."""
        mark, words = figures.of(one)
        fits = self.fits
        fit = str(fits.index(one.fit) + 1) if len(fits) > 1 and one.fit >= 0 else ""
        return {
            "": f"{'>' if one == self.here else ''}{mark}",
            "t": f"t={one.t}",
            "fit": f"{fit} {one.model}".strip() if self.is_of_several else fit,
            "epoch": str(one.epoch) if one.fit >= 0 else "",
            "batch": str(one.number),
            "jump": jump,
            **{name: figure(x) for name, x in self.outs_of(one).items()},
            **dict(zip(OF_EVENTS, words, strict=True)),
            CAUGHT: ", ".join(caught_in(self._shell, one.t, self.batches)),
        }

    def courses(self) -> list[str]:
        """Return a line of bars for each loss and metric of each model: a value per batch."""
        lines: list[str] = []
        shell = self._shell
        for model in dict.fromkeys(model for _, model in self._runs):
            outs = [self.outs_of(one) for one in self.batches if one.model == model]
            for name in dict.fromkeys(name for one in outs for name in one):
                values = [one[name] for one in outs if name in one]
                title = f"{model} {name}" if self.is_of_several else name
                if len(values) > 2 and len(lines) < MOST_ROWS:
                    lines.append(course(title, values, shell.width, shell.ascii_only))
        return lines


class FiguresCache(dict[tuple[int, int], tuple[str, list[str]]]):
    """A cache of the table cells that `BatchFigures` has computed for batches.

    The keys are (timeline number, time). The values are (mark, cells): the mark is "~" if the batch
    was executed again, otherwise "".
    """


class BatchFigures:
    """Computes the table cells of a batch that need its events, such as the norm of the weights.

    A batch without recorded events is executed again, unless the model is large.

    Attributes
    ----------
    has_again : bool
        Whether a batch was executed again.
    reasons : dict of str to None
        The reasons why batches were not executed again, in order.
    """

    def __init__(self, shell: Shell, is_large: bool) -> None:
        self._is_large = is_large
        self._tape = shell.session.tape
        self._known = shell.state(FiguresCache)
        self._timeline = shell.session.timelines.current.number
        self.has_again = False
        self.reasons: dict[str, None] = {}

    def of(self, one: BatchOnTape) -> tuple[str, list[str]]:
        """Return the mark of a batch and its cells in the table.

        The mark is "~" if the batch was executed again, otherwise "".
        """
        key = (self._timeline, one.t)
        if key not in self._known:
            found = self._asked(one)
            if found is None:
                return "", [""] * len(OF_EVENTS)
            self._known[key] = found
        mark, words = self._known[key]
        self.has_again = self.has_again or bool(mark)
        return mark, words

    def _asked(self, one: BatchOnTape) -> tuple[str, list[str]] | None:
        is_at_hand = self._tape.told(one.t).kind != SKIPPED
        if self._is_large and not is_at_hand:
            self.reasons[LARGE] = None
            return None
        try:
            events, is_again = events_of_batch(self._tape, one.t)
        except ArgumentError as why:
            self.reasons[str(why)] = None
            return None
        values = values_of_batch(events)
        dead = f"{100 * values.dead / values.units:.0f} %" if values.units else ""
        measured = (values.weight_norm, values.gradient_norm, values.change)
        is_trained = bool(values.weights)
        words = [
            figure(x, 3) if is_trained and not _is_unknown(x, values) else "" for x in measured
        ]
        return (AGAIN if is_again else ""), [*words, dead]


def _is_unknown(x: float, values: BatchValues) -> bool:
    """Return whether a number is NaN because the tape has only statistics of a batch's arrays."""
    parts = [*values.gradients.values(), *(x for pair in values.weights.values() for x in pair)]
    return math.isnan(x) and any(isinstance(part, Statistics) for part in parts)


def _with_room(
    header: list[str], cells: list[dict[str, str]], metrics: list[str], width: int
) -> list[list[str]]:
    """Return the header and rows of a table without empty columns.

    If the table is wider than `width`, the last metrics are left out first, then other columns.
    """
    kept = [name for name in header if name in ALWAYS or any(row.get(name) for row in cells)]
    wide = {name: max(len(name), *(len(row.get(name, "")) for row in cells)) for name in kept}
    spare = [name for name in kept if name in metrics[1:]] or kept[len(ALWAYS) + 1 :]
    while spare and sum(wide[name] + 2 for name in kept) - 2 > width:
        kept.remove(spare.pop())
        spare = spare or kept[len(ALWAYS) + 1 :]
    return [kept, *([row.get(name, "") for name in kept] for row in cells)]


def worth_showing(batches: list[BatchOnTape]) -> list[tuple[BatchOnTape, str]]:
    """Return the batches to print, each with its jump of the loss as text, or "" without a jump.

    These are all batches of a short run. For a long run, these are the first and last batches, and
    those with the largest jumps. A jump is the ratio of a loss to the largest loss of the batches
    before. A loss that is NaN or infinite after a finite loss is also a jump.
    """
    losses = [_loss_of(one) for one in batches]
    jumps: dict[int, float] = {}
    for place, now in enumerate(losses[1:], 1):
        near = range(max(place - LEVEL, 0), place)
        before = [losses[p] for p in near if batches[p][4:] == batches[place][4:]]
        is_spoilt = bool(before) and np.isfinite(before[-1]) and not np.isfinite(now)
        is_spoilt = is_spoilt and batches[place].outs is not None  # it has a loss
        largest_before = max((x for x in before if np.isfinite(x)), default=0.0)
        if is_spoilt:
            jumps[place] = np.inf
        elif np.isfinite(now) and largest_before > 0:
            jumps[place] = now / largest_before
    chosen = list(range(len(batches)))
    if len(batches) > MOST_BATCHES:
        largest = sorted((p for p in jumps if jumps[p] >= JUMP), key=jumps.__getitem__)[-JUMPS:]
        chosen = sorted({*chosen[:FIRST_BATCHES], *chosen[-FIRST_BATCHES:], *largest})
    return [(batches[place], _jump(jumps.get(place, 0.0), losses[place])) for place in chosen]


def _jump(times: float, loss: float) -> str:
    """Return a jump of the loss as "x12", "nan" or "inf", or "" if it is small."""
    if times < JUMP:
        return ""
    return f"x{figure(times)}" if np.isfinite(times) else figure(loss)


def course(name: str, values: Sequence[float], width: int, is_plain: bool = False) -> str:
    """Return a line that shows how a value changes: first value, bars, last value, range.

    Examples
    --------
    >>> course("loss", [4.0, 3.0, 2.0, 1.0], 60)
    'loss  4 █▆▃▁ 1   from 1 to 4'
    >>> course("loss", [1.0, 10.0, 100.0, 1000.0], 60)
    'loss  1 ▁▃▆█ 1000   from 1 to 1000, logarithmic'
    """
    finite = [x for x in values if math.isfinite(x)]
    first, last = figure(values[0]), figure(values[-1])
    span = f"   from {figure(min(finite))} to {figure(max(finite))}" if finite else ""
    if finite and 0 < SPREAD * min(finite) < max(finite):
        values, span = [math.log(x) if x > 0 else x for x in values], f"{span}, logarithmic"
    room = max(width - len(f"{name}  {first}  {last}{span}"), 8)
    return f"{name}  {first} {sparks(values, min(room, 60), is_plain)} {last}{span}"


def sparks(
    values: Sequence[float], width: int, is_plain: bool = False, scale: Sequence[float] = ()
) -> str:
    """Return a row of at most `width` bars, one for each number or for several of them.

    A bar for several numbers shows the largest. NaN and infinity are `!`. The heights are scaled as
    if the numbers of `scale` were included.

    Examples
    --------
    >>> sparks([0.0, 1.0, math.nan], 10), sparks([1.0, 1.0], 10)
    ('▁█!', '▁▁')
    """
    pieces = np.array_split(np.asarray(values, "float64"), min(width, len(values)))
    tops = [math.nan if not np.isfinite(piece).all() else float(piece.max()) for piece in pieces]
    finite = [x for x in (*tops, *scale) if math.isfinite(x)]
    least, greatest = min(finite, default=0.0), max(finite, default=0.0)
    bars = PLAIN_BARS if is_plain else BARS
    span = greatest - least
    if not 0 < span < math.inf:
        return "".join(bars[0] if math.isfinite(x) else "!" for x in tops)
    return "".join(
        bars[round((x - least) / span * (len(bars) - 1))] if math.isfinite(x) else "!" for x in tops
    )


# --- diff batch -----------------------------------------------------------------------------------


class Contrast(NamedTuple):
    """The comparison of an activation, a gradient or a weight in two batches.

    `one` and `other` are the two norms, `apart` is how much they differ (see `_apart`), and `text`
    is the printed row.
    """

    part: str
    name: str
    one: float
    other: float
    apart: float
    text: str


def batches_named(shell: Shell, words: str) -> tuple[BatchOnTape, BatchOnTape] | None:
    """Return the two batches that a text such as "batch 10 11" names, or None for other texts.

    The fit and epoch that the second batch omits are those of the first. A model at the end, as
    in "batch 10 11 of D", applies to both batches.
    """
    text = " ".join(words.replace(",", " ").split())
    found = re.fullmatch(r"(.*?batch \d+(?: of \S+)?) ((?:fit|epoch|batch|\d).*)", text)
    if found is None:
        return None
    rest = f"batch {found[2]}" if found[2][0].isdigit() else found[2]
    one, other = parse_address(found[1], "diff"), parse_address(rest, "diff")
    if one is None or other is None or other.batch is None:
        return None
    one = one._replace(model=one.model or other.model)
    said = {name: value for name, value in other._asdict().items() if value not in (None, "")}
    other = one._replace(**said)
    batches = {batch.t: batch for batch in shell.session.tape.batches()}
    first, second = (batches[time_of_batch(shell, address, "diff")] for address in (one, other))
    return first, second


def say_contrast(shell: Shell, one: BatchOnTape, other: BatchOnTape) -> None:
    """Print a table of the activations, gradients and weights of two batches, with differences."""
    asked = [events_of_batch(shell.session.tape, batch.t) for batch in (one, other)]
    if not all(found.events for found in asked):
        if None in (one.outs, other.outs):
            raise ArgumentError("diff: one of the batches has not ended. `r` goes to its end.")
        raise ArgumentError("diff: only the loss of one of the batches is kept.")
    values = [values_of_batch(found.events) for found in asked]
    run = FitBatches(shell)
    outs, others = run.outs_of(one), run.outs_of(other)
    contrasts = [_contrast("", name, x, others[name]) for name, x in outs.items() if name in others]
    contrasts += contrasts_of(*values)
    epoch = f"epoch {one.epoch}" if one.epoch == other.epoch else ""
    fits, is_one_fit, is_one_model = run.fits, one.fit == other.fit, one.model == other.model
    heads = [
        f"{AGAIN if found.is_again else ''}"
        f"{'' if is_one_fit or batch.fit < 0 else f'fit {fits.index(batch.fit) + 1} '}"
        f"{'' if epoch else f'epoch {batch.epoch} '}batch {batch.number}"
        f"{'' if is_one_model else f' of {batch.model}'}"
        for batch, found in zip((one, other), asked, strict=True)
    ]
    rows: list[Sequence[str]] = [(epoch, *heads, "")]
    part = ""
    for contrast in _largest(contrasts):
        if contrast.part != part:
            part = contrast.part
            rows.append((part, "", "", ""))
        name = f"  {contrast.name}" if part else contrast.name
        rows.append((name, figure(contrast.one), figure(contrast.other), contrast.text))
    for line in lines_of_table(rows):
        shell.say_line(line)
    if any(found.is_again for found in asked):
        shell.say(f"{AGAIN} was executed again")


def contrasts_of(one: BatchValues, other: BatchValues) -> list[Contrast]:
    """Compare each activation, gradient and weight that both batches have, as a `Contrast`."""
    found = [
        _contrast(part, name, mine[name], theirs[name])
        for part, mine, theirs in (
            ("activations", one.activations, other.activations),
            ("gradients", one.gradients, other.gradients),
        )
        for name in mine
        if name in theirs
    ]
    for name, (before, _) in one.weights.items():
        if name in other.weights:
            now = other.weights[name][0]
            change = relative_change(before, now)
            sizes = norm(before), norm(now)
            if change is None:
                found.append(_contrast("weights before", name, *sizes))
            else:
                text = f"changed by {figure(change, 3)} of itself" if change else ""
                found.append(Contrast("weights before", name, *sizes, change, text))
    return found


def _contrast(part: str, name: str, one: Any, other: Any) -> Contrast:
    a, b = norm(one), norm(other)
    apart = _apart(a, b)
    text = ""
    if math.isfinite(apart) and apart > math.log(1.005):
        text = f"x{figure(b / a, 3)}"
    elif not math.isfinite(apart):
        text = "from 0" if a == 0 else "to 0" if b == 0 else "not finite"
    return Contrast(part, name, a, b, apart, text)


def _apart(a: float, b: float) -> float:
    """Return the distance of two norms, |log(b / a)|; it is infinite if a norm is 0 or not finite.

    The distance of equal norms, or of two NaNs, is 0.
    """
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    if not (math.isfinite(a) and math.isfinite(b) and a and b):
        return math.inf
    return abs(math.log(b / a))


def _largest(contrasts: list[Contrast]) -> list[Contrast]:
    """Return the rows that differ most between two batches, in the order of the table.

    They are chosen separately in each part of the table: activations, gradients and weights. If a
    part has several rows, the text of the row that differs most ends with `<-`.
    """
    found = []
    for part in dict.fromkeys(contrast.part for contrast in contrasts):
        own = [contrast for contrast in contrasts if contrast.part == part]
        ranked = sorted(own, key=lambda contrast: -contrast.apart)
        top = ranked[0] if part and len(ranked) > 1 and ranked[0].apart > 0 else None
        kept = ranked[:MOST_ROWS]
        for contrast in own:
            if any(contrast is one for one in kept):
                is_top = contrast is top
                found.append(contrast._replace(text=f"{contrast.text}  <-") if is_top else contrast)
    return found


# --- diff FILE ------------------------------------------------------------------------------------


def say_difference_of_runs(shell: Shell, file: str) -> None:
    """Print how this run differs from a recorded one: first difference, losses and layers."""
    path = Path(file).with_suffix(".jsonl")
    if not path.exists():
        raise ArgumentError(f"diff: there is no file {path}. `record {path.name}` writes one.")
    here, there = shell.session.tape, Tape.load(path, history=None)
    found = here.diff(there)
    if not found:
        shell.say(f"no difference: {file} has recorded the same")
        return
    shell.say_line(f"first difference {found.name} t={found.t}")
    entry, *values = entry_that_differs(*found.values)
    for whose, value in zip(("here: ", "there:"), values, strict=True):
        shell.say_line(f"   {whose} {entry}{short_text(value)}")
    mine, theirs = ([one for one in tape.batches() if one.outs] for tape in (here, there))
    apart = next((k for k, (a, b) in enumerate(zip(mine, theirs, strict=False))
                  if not same(_loss_of(a), _loss_of(b))), None)  # fmt: skip
    if apart is not None:
        one, last = mine[apart], min(len(mine), len(theirs)) - 1
        rows: list[Sequence[str]] = [("loss", "here", "there")]
        for k, when in ((apart, "first apart"), (last, "last of both")):
            one, other = mine[k], theirs[k]
            place = f"{when}: epoch {one.epoch} batch {one.number}"
            rows.append((place, figure(_loss_of(one)), figure(_loss_of(other))))
        for line in lines_of_table(rows):
            shell.say_line(line)
    if len(mine) != len(theirs):
        shell.say(f"batches: {len(mine)} here, {len(theirs)} there")
    _say_layers(shell, found, _last_weights(here), _last_weights(there))


def _loss_of(batch: BatchOnTape) -> float:
    return float(batch.outs[0]) if batch.outs else math.nan


def _last_weights(tape: Tape) -> dict[str, Any]:
    """Return the last value of each weight on a tape, by the weight's name."""
    found: dict[str, Any] = {}
    for event in tape.back(len(tape) - 1):
        if event.kind == "update.apply":
            found.setdefault(event.name, value_of_event(event, "new"))
        elif event.kind == "weight.create":
            found.update((d.key, d.value) for d in event.deltas if d.key not in found)
    return found


def _say_layers(
    shell: Shell, found: Difference, mine: dict[str, Any], theirs: dict[str, Any]
) -> None:
    rows: list[Sequence[str]] = [("layer", "ops that differ", "|W| here", "there", "apart by")]
    for layer, (differ, of_all) in found.layers.items():
        if not differ or not layer:
            continue
        own = [n for n in mine if n.startswith(f"{layer}/") and n in theirs and n.count("/") == 1]
        one, other = [mine[n] for n in own], [theirs[n] for n in own]
        sizes = [figure(norm(x)) if own else "" for x in (one, other)]
        changes = [relative_change(a, b) for a, b in zip(one, other, strict=True)]
        known = [x for x in changes if x is not None]
        rows.append(
            (layer, f"{differ} of {of_all}", *sizes, figure(max(known), 3) if known else "")
        )
    for line in lines_of_table(rows[: MOST_LAYERS + 1]):
        shell.say_line(line)
    if len(rows) > MOST_LAYERS + 1:
        shell.say(f"{len(rows) - MOST_LAYERS - 1} more layers")


# --- plot -----------------------------------------------------------------------------------------


def say_plot(shell: Shell, words: str) -> None:
    """Print a value after each batch: a number as a bar, an array as statistics and a histogram."""
    run = FitBatches(shell)
    batches = run.of_the_model_here() if run.batches else []
    if not batches:
        raise ArgumentError("plot: `fit` has trained on no batch up to here.")
    outs = [run.outs_of(one) for one in batches]
    if any(words in one for one in outs):
        say_course(shell, words, batches, [one.get(words, math.nan) for one in outs])
        return
    shown = [one for one, _ in worth_showing(batches)]
    expression = parse_expression(words, "plot")
    shell.names()  # makes the user's own names known
    values = [_value_after(shell, expression, one) for one in shown]
    sizes = [norm(value) for value in values]
    if all(math.isnan(size) for size in sizes) and not any(_is_numeric(v) for v in values):
        raise ArgumentError(f"plot: expected numbers, got {words!r} = {text_of_value(values[-1])}.")
    if all(np.ndim(value) == 0 for value in values if not isinstance(value, Statistics)):
        say_course(shell, words, shown, [_number(value) for value in values])
        return
    _say_spread(shell, words, shown, values, sizes)


def _is_numeric(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | int | float | Statistics)


def _number(value: Any) -> float:
    return float(value) if _is_numeric(value) and np.ndim(value) == 0 else math.nan


def _value_after(shell: Shell, expression: Expression, batch: BatchOnTape) -> Any:
    """Return the value of an expression right after a batch has written its weights.

    At that time the gradients and activations of the batch still have values.
    """
    stepper, tape = shell.session.stepper, shell.session.tape
    _ = tape[batch.t]  # puts the events of the batch on the tape
    t = last = batch.t
    first = tape[t]
    while tape.told(t)[3:6] != (first.kind, END, first.depth):
        event = tape.told(t + 1)
        t = event.t
        last = t if event.kind == "commit" and event.ph == END else last
    at = t if last == batch.t else last
    names = stepper.names_for(expression, at)
    if isinstance(names.get(expression.text), Tensor):  # a symbol of the script, and a layer
        array = value_named(tape, expression.text, at)
        names = names if array is None else {**names, expression.text: array}
    return expression.value(names)


def say_course(
    shell: Shell, name: str, batches: Sequence[BatchOnTape], numbers: Sequence[float]
) -> None:
    """Print a row with a value and a bar for each batch that `worth_showing` selects.

    If there are more than two batches, print a line with a bar for each of them.
    """
    number_of = {one.t: number for one, number in zip(batches, numbers, strict=True)}
    finite = [x for x in numbers if math.isfinite(x)]
    greatest = max(map(abs, finite), default=0.0)
    sign = "#" if shell.ascii_only else BARS[-1]
    rows: list[Sequence[str]] = [("epoch", "batch", name, "")]
    for one, _ in worth_showing(list(batches)):
        number = number_of[one.t]
        is_bar = math.isfinite(number) and 0 < greatest < math.inf
        bar = sign * round(40 * abs(number) / greatest) if is_bar else ""
        rows.append((str(one.epoch), str(one.number), figure(number), bar))
    for line in lines_of_table(rows):
        shell.say_line(line)
    if len(batches) > 2:
        shell.say_line(course(name, numbers, shell.width, shell.ascii_only))


def _say_spread(
    shell: Shell,
    name: str,
    batches: Sequence[BatchOnTape],
    values: Sequence[Any],
    sizes: Sequence[float],
) -> None:
    low, high = _range_of(values)
    scale = f"{figure(low, 3)} .. {figure(high, 3)}"
    rows: list[Sequence[str]] = [("epoch", "batch", "|x|", "min", "max", scale)]
    for one, value, size in zip(batches, values, sizes, strict=True):
        least, greatest = _range_of([value])
        spread = spread_of(value, low, high, shell.ascii_only)
        place = str(one.epoch), str(one.number)
        rows.append((*place, figure(size), figure(least, 3), figure(greatest, 3), spread))
    shell.say(f"{name}, with histograms of its numbers")
    for line in lines_of_table(rows):
        shell.say_line(line)
    if len(sizes) > 2:
        shell.say_line(course("|x|", sizes, shell.width, shell.ascii_only))


def _range_of(values: Iterable[Any]) -> tuple[float, float]:
    lows, highs = [], []
    for value in values:
        if isinstance(value, Statistics):
            ends = [x for x in (value.min, value.max) if x is not None]
        else:
            numbers = np.asarray(value, "float64")
            finite = numbers[np.isfinite(numbers)]
            ends = [float(finite.min()), float(finite.max())] if finite.size else []
        lows += ends[:1]
        highs += ends[-1:]
    return min(lows, default=math.nan), max(highs, default=math.nan)


def spread_of(value: Any, low: float, high: float, is_plain: bool = False) -> str:
    """Return a histogram of an array as a row of bars; "" if only statistics are kept.

    The bars divide the range from `low` to `high`. With `is_plain` they are ASCII characters.

    Examples
    --------
    >>> spread_of(np.array([0.0, 0.0, 1.0]), 0.0, 1.0, is_plain=True)
    '#______________________='
    """
    if isinstance(value, Statistics) or not math.isfinite(low) or not low < high:
        return ""
    numbers = np.asarray(value, "float64").ravel()
    counts, _ = np.histogram(numbers[np.isfinite(numbers)], bins=BINS, range=(low, high))
    if not counts.any():
        return "no finite number"
    bars = PLAIN_BARS if is_plain else BARS
    heights = np.ceil(counts / counts.max() * (len(bars) - 1)).astype(int)
    return "".join(bars[height] for height in heights)
