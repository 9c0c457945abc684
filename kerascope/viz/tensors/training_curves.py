"""Pictures of training: `history.plot()`, `tape.plot(...)`, `tape.gradient_flow()`.

A `History` has a number for each epoch. A tape has all batches. Batches without recorded events are
executed again to get their numbers. This takes time, so if a tape has many batches, only evenly
spaced ones are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from kerascope.callbacks import History
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.batch_figures import BatchValues, events_of_batch, values_of_batch
from kerascope.trace.events import SKIPPED
from kerascope.trace.history import value_of_event
from kerascope.trace.statistics import figure as shown
from kerascope.trace.statistics import norm, relative_change
from kerascope.trace.tape_store import BatchOnTape, Tape
from kerascope.viz.tensors.curves import BACKENDS, Axes, Curve, Curves, draw_with_matplotlib, styled
from kerascope.viz.tensors.heat_maps import HeatMaps
from kerascope.viz.tensors.panels import ArrayPart, ordinal, panels_of
from kerascope.viz.tensors.picture import Picture
from kerascope.viz.tensors.scales import MINUS_INF

VALIDATION = "val_"
MOST_BATCHES = 200
LOSSES = "losses"


# --- epochs ---------------------------------------------------------------------------------------


def plot_history(
    history: History,
    names: Sequence[str] = (),
    *,
    log: bool = False,
    ax: Any = None,
    backend: str | None = None,
    title: str = "training",
    theme: str = "auto",
) -> Any:
    """Return the picture for `History.plot`, which documents the arguments."""
    logs = history.history
    if not logs:
        raise ArgumentError(
            "plot: this History has no epochs yet. Use the one that `fit` returned."
        )
    known = list(dict.fromkeys(name.removeprefix(VALIDATION) for name in logs))
    for name in names:
        if name.removeprefix(VALIDATION) not in known:
            raise ArgumentError(
                f"plot: no {name!r} in the history. {did_you_mean(name, known)}"
                f"It has: {', '.join(known)}."
            )
    wanted = [name.removeprefix(VALIDATION) for name in names] or known
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(wanted):
        is_loss = name == "loss" or name.endswith("_loss")
        groups.setdefault(LOSSES if is_loss else name, []).append(name)
    axes = []
    for group, members in groups.items():
        curves = []
        for color, name in enumerate(members):
            for style, full in enumerate((name, f"{VALIDATION}{name}")):
                if full in logs:
                    y = tuple(map(_number, logs[full]))
                    curves.append(Curve(full, _places(history.epoch, len(y)), y, style, color))
        group = members[0] if len(members) == 1 else group
        axes.append(Axes(group, "epoch", tuple(curves), log))
    return picture_of(Curves(title, tuple(axes)), ax, backend, theme)


def _places(epochs: Sequence[int], number: int) -> tuple[float, ...]:
    """Return the epochs to which the `number` values of a log key belong: the last ones.

    A callback may start to log a key after the first epoch. If there are more values than epochs,
    return 0, 1, 2, ... instead.
    """
    return tuple(
        map(float, epochs[len(epochs) - number :] if number <= len(epochs) else range(number))
    )


def _number(value: Any) -> float:
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "biuf":
        return math.nan
    return float(array.reshape(()))


def picture_of(curves: Curves, ax: Any, backend: str | None, theme: str) -> Any:
    """Return a picture of curves; with `ax` or `backend="matplotlib"`, draw it with matplotlib."""
    if backend is not None and backend not in BACKENDS:
        raise ArgumentError(
            f"plot: unknown backend {backend!r}. {did_you_mean(str(backend), BACKENDS)}"
            f"Use one of: {', '.join(BACKENDS)}."
        )
    if ax is not None or backend == "matplotlib":
        return draw_with_matplotlib(curves, ax)
    return Picture(curves, theme)


# --- batches --------------------------------------------------------------------------------------


def _gradient(values: BatchValues, name: str) -> float:
    return norm(values.gradients[name]) if name in values.gradients else math.nan


def _weight(values: BatchValues, name: str) -> float:
    return norm(values.weights[name][1]) if name in values.weights else math.nan


def _change(values: BatchValues, name: str) -> float:
    if name not in values.weights:
        return math.nan
    found = relative_change(*values.weights[name])
    return math.nan if found is None else found


FIGURES: Mapping[str, tuple[str, Callable[[BatchValues, str], float]]] = {
    "|g|": ("norm of the gradient", _gradient),
    "|w|": ("norm of the weight after the batch", _weight),
    "change": ("change by the batch, relative to the weight", _change),
}


# Figures with an array for each batch, drawn as one histogram per batch.
HISTOGRAMS: Mapping[str, tuple[str, Callable[[BatchValues, str], Any]]] = {
    "histogram": (
        "the weight after the batch",
        lambda v, name: v.weights.get(name, (None,) * 2)[1],
    ),
    "gradient histogram": ("the gradient", lambda v, name: v.gradients.get(name)),
}
BINS = 24


def plot_tape(
    tape: Tape,
    name: str = "loss",
    figure: str = "|g|",
    *,
    log: bool | None = None,
    most: int = MOST_BATCHES,
    ax: Any = None,
    backend: str | None = None,
    theme: str = "auto",
) -> Any:
    """Return the picture for `Tape.plot`, which documents the arguments."""
    with _without_recording_all(tape):
        batches = list(tape.batches())
        if not batches:
            raise ArgumentError("plot: the tape has no training batches. Record a call of `fit`.")
        outs = _outs(tape, batches)
        if name in outs:
            x = tuple(float(i) for i in range(len(batches)))
            curves: tuple[Curve, ...] = (Curve(name, x, outs[name]),)
            axes = Axes(name, "batch", curves, bool(log))
            return picture_of(Curves(f"{name} of each batch", (axes,)), ax, backend, theme)
        known = (*FIGURES, *HISTOGRAMS)
        if figure not in known:
            raise ArgumentError(
                f"plot: unknown figure {figure!r}. {did_you_mean(str(figure), known)}"
                f"Use one of: {', '.join(known)}."
            )
        places, values, notes = _values(tape, batches, most)
    weights = list(dict.fromkeys(n for one in values for n in (*one.gradients, *one.weights)))
    matching = [weight for weight in weights if fnmatchcase(weight, name)]
    if not matching:
        raise ArgumentError(
            f"plot: no weight or metric {name!r} on the tape. "
            f"{did_you_mean(name, [*weights, *outs])}It has: {', '.join([*outs, *weights])}."
        )
    if figure in HISTOGRAMS:
        if ax is not None or backend == "matplotlib":
            raise ArgumentError(
                f"plot: figure={figure!r} is not a curve, so matplotlib cannot draw it. Leave out "
                f"ax and backend, or use one of: {', '.join(FIGURES)}."
            )
        return Picture(_histograms(matching, figure, places, values, notes), theme)
    words, of = FIGURES[figure]
    curves = styled([Curve(one, places, tuple(of(v, one) for v in values)) for one in matching])
    axes = Axes(f"{figure}: {words}", "batch", curves, _is_wide(curves) if log is None else log)
    return picture_of(Curves(f"{figure} of {name}", (axes,), tuple(notes)), ax, backend, theme)


@contextmanager
def _without_recording_all(tape: Tape) -> Iterator[None]:
    """In a `with` block, keep the tape from executing all batches when one batch is read."""
    if tape.settle is not None:
        tape.settle()
    expands_all, tape.expands_all = tape.expands_all, False
    try:
        yield
    finally:
        tape.expands_all = expands_all


def _is_wide(curves: Sequence[Curve]) -> bool:
    found = [y for curve in curves for y in curve.y if 0 < y < math.inf]
    return bool(found) and max(found) > 100 * min(found)


def _outs(tape: Tape, batches: Sequence[BatchOnTape]) -> dict[str, tuple[float, ...]]:
    """Return the loss and the metrics of the given batches by name: a number for each batch."""
    most = max(len(one.outs or ()) for one in batches)
    names = ["loss", *(f"#{number}" for number in range(1, most))]
    own = list(getattr(_model_of(tape, batches[0]), "metrics_names", ()) or ())
    names = own if len(own) == most else names
    return {
        name: tuple(
            float(one.outs[i]) if one.outs is not None and i < len(one.outs) else math.nan
            for one in batches
        )
        for i, name in enumerate(names[:most])
    }


def _model_of(tape: Tape, one: BatchOnTape) -> Any:
    if one.fit < 0:
        return None
    event = tape.told(one.fit)
    return None if event.kind == SKIPPED else tape.live(value_of_event(event, "model"))


def _values(
    tape: Tape, batches: Sequence[BatchOnTape], most: int
) -> tuple[tuple[float, ...], list[BatchValues], list[str]]:
    """Return the indices and arrays of at most `most` batches, and a note if some are left out."""
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ArgumentError(f"plot: expected most to be 1 or more batches, got {most!r}.")
    step = math.ceil(len(batches) / most)
    chosen = list(range(0, len(batches), step))
    notes = []
    if step > 1:
        notes.append(f"{len(chosen)} of {len(batches)} batches are drawn: every {ordinal(step)}")
    values = [values_of_batch(events_of_batch(tape, batches[i].t).events) for i in chosen]
    if not any(one.gradients for one in values):
        raise ArgumentError(
            "plot: the tape has no gradients. Record `fit` in detail: "
            "`with kerascope.trace() as tape:`."
        )
    return tuple(map(float, chosen)), values, notes


# --- histograms -----------------------------------------------------------------------------------


def _histograms(
    names: Sequence[str],
    figure: str,
    places: Sequence[float],
    values: Sequence[BatchValues],
    notes: Sequence[str],
) -> HeatMaps:
    """Return a panel for each weight. Each column is the histogram of one batch, in per cent."""
    words, of = HISTOGRAMS[figure]
    parts = []
    for name in names:
        arrays = [_numbers_of(of, one, name) for one in values]
        finite = [array[np.isfinite(array)] for array in arrays]
        found = [x for x in finite if x.size]
        low, high = (
            (min(x.min() for x in found), max(x.max() for x in found)) if found else (0.0, 1.0)
        )
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges = np.linspace(low, high, BINS + 1)
        counts = [np.histogram(x, edges)[0] / max(x.size, 1) for x in finite]
        shares = 100 * np.array(counts).T[::-1]  # the largest numbers are at the top
        middles = tuple(shown(x, 3) for x in ((edges[1:] + edges[:-1]) / 2)[::-1])
        labels = (("value", middles), ("batch", tuple(f"{int(x)}" for x in places)))
        odd = sum(a.size - f.size for a, f in zip(arrays, finite, strict=True))
        lines = [*notes, *([f"{odd} numbers are not finite and not drawn"] if odd else [])]
        part = ArrayPart(name, shares, ("value", "batch"), labels=labels, notes=tuple(lines))
        ends = f"from {shown(low, 3)} to {shown(high, 3)} in {BINS} steps"
        most = max(x.size for x in arrays)
        summary = f"{most:,} numbers · {len(places)} batches · {ends}; colour: per cent"
        limits = (0.0, float(shares.max()) or 1.0)
        parts.append(replace(panels_of(part, 1, limits=limits), summary=summary))
    return HeatMaps(f"histogram of {words}", tuple(parts))


def _numbers_of(
    of: Callable[[BatchValues, str], Any], values: BatchValues, name: str
) -> np.ndarray:
    """Return the elements of one array of a batch as a vector; empty if the array is missing."""
    try:
        array = of(values, name)
    except KeyError:
        return np.empty(0)
    if not isinstance(array, (np.ndarray, np.generic)):
        raise ArgumentError(
            f"plot: the tape has only statistics of {name}. Record it without statistics_only=True."
        )
    return np.asarray(array, "float64").ravel()


# --- gradient flow --------------------------------------------------------------------------------


def gradient_flow(
    tape: Tape, *, by: str = "layer", most: int = MOST_BATCHES, theme: str = "auto"
) -> Picture:
    """Return the picture for `Tape.gradient_flow`, which documents the arguments."""
    if by not in ("layer", "weight"):
        raise ArgumentError(f"gradient_flow: expected by to be 'layer' or 'weight', got {by!r}.")
    with _without_recording_all(tape):
        batches = list(tape.batches())
        if not batches:
            raise ArgumentError(
                "gradient_flow: the tape has no training batches. Record a call of `fit`."
            )
        places, values, notes = _values(tape, batches, most)
    groups: dict[str, list[str]] = {}
    for weight in dict.fromkeys(name for one in values for name in one.gradients):
        groups.setdefault(weight.rpartition("/")[0] if by == "layer" else weight, []).append(weight)
    sizes = np.array([[_of_group(one, members) for one in values] for members in groups.values()])
    with np.errstate(divide="ignore"):
        powers = np.log10(sizes)
    labels = ((by, tuple(groups)), ("batch", tuple(f"{int(x)}" for x in places)))
    part = ArrayPart("", powers, (by, "batch"), labels=labels, notes=tuple(notes), has_zero=False)
    found = sizes[np.isfinite(sizes) & (sizes > 0)]
    words = [f"{len(groups)} {by}s x {len(places)} batches"]
    if found.size:
        words.append(f"|g| from {found.min():.3g} to {found.max():.3g}")
    for count, word in (((sizes == 0).sum(), "of 0"), ((~np.isfinite(sizes)).sum(), "not finite")):
        words += [f"{int(count)} {word}"] if count else []
    panels = replace(
        panels_of(part, 1), summary=" · ".join(words), odd_words=((MINUS_INF, "|g| = 0"),)
    )
    return Picture(HeatMaps("gradient flow: log10 |g|", (panels,)), theme)


def _of_group(values: BatchValues, members: Sequence[str]) -> float:
    own = [values.gradients[name] for name in members if name in values.gradients]
    return float(norm(own)) if own else math.nan
