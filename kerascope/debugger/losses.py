"""The losses of two timelines side by side, as `rerun` and `diff 1 2` print them."""

from __future__ import annotations

import math

from kerascope.debugger.run_table import SPREAD, sparks
from kerascope.debugger.tables import lines_of_table
from kerascope.trace.forks import TrainCall
from kerascope.trace.statistics import figure

AT_ENDS, AT_PARTING = 5, 2  # rows at each end of a long table, and around the first difference
MOST_ROWS = 24
WIDEST = 60


def lines_of_losses(
    rows: list[TrainCall], numbers: tuple[int, int], ascii_only: bool = False
) -> list[str]:
    """Return printed lines with a loss curve for each timeline, the first difference and a table.

    Parameters
    ----------
    rows : list of TrainCall
        The train calls of both timelines, each with its two losses. A long table is abridged.
    numbers : (int, int)
        The numbers of the two timelines.
    ascii_only : bool
        Whether the curves are drawn with ASCII characters only.
    """
    models = list(dict.fromkeys(row.model for row in rows))
    lines = []
    for model in models:
        own = [row for row in rows if row.model == model]
        lines += _curves(own, numbers, f" of {model}" if len(models) > 1 else "", ascii_only)
    parts = next((place for place, row in enumerate(rows) if not row.is_same), None)
    if parts is None:
        is_near = any(abs(row.first - row.second) > 0 for row in rows)
        lines.append(f"they are the same {'up to rounding on JAX' if is_near else 'bit for bit'}")
    else:
        one = rows[parts]
        pair = " -> ".join(distinct_figures(one))
        whose = f" of {one.model}" if len(models) > 1 else ""
        lines.append(f"first difference: {_label(one)}{whose}, loss {pair}")
    return lines + _table(rows, numbers, parts, len(models) > 1)


def distinct_figures(row: TrainCall) -> tuple[str, str]:
    """Return the two losses of a call as texts, with enough digits to show a difference."""
    texts = figure(row.first), figure(row.second)
    if row.is_same or row.first == row.second or texts[0] != texts[1]:
        return texts
    return f"{row.first:.9g}", f"{row.second:.9g}"


def _label(row: TrainCall) -> str:
    return f"epoch {row.epoch} batch {row.batch}" if row.epoch else f"batch {row.batch}"


def _curves(
    rows: list[TrainCall], numbers: tuple[int, int], whose: str, ascii_only: bool
) -> list[str]:
    """Return the losses of two timelines as two lines of bars, which have the same scale."""
    both = [[row.first for row in rows], [row.second for row in rows]]
    scale = [x for losses in both for x in losses if math.isfinite(x)]
    span = f", {figure(min(scale))} to {figure(max(scale))}" if scale else ""
    lines = [f"loss{whose}{span}"]
    if scale and 0 < SPREAD * min(scale) < max(scale):
        lines[0] += ", logarithmic"
        both = [[math.log(x) if x > 0 else x for x in losses] for losses in both]
        scale = [math.log(x) for x in scale]
    for number, losses, last in zip(numbers, both, (rows[-1].first, rows[-1].second), strict=True):
        lines.append(f"   {number}  {sparks(losses, WIDEST, ascii_only, scale)}  {figure(last)}")
    return lines


def _table(
    rows: list[TrainCall], numbers: tuple[int, int], parts: int | None, names_models: bool
) -> list[str]:
    shown = set(range(len(rows)))
    if len(rows) > MOST_ROWS:
        around = range(-1, AT_PARTING) if parts is not None else ()
        shown = {*range(AT_ENDS), *range(len(rows) - AT_ENDS, len(rows))}
        shown.update(parts + i for i in around if parts is not None and 0 <= parts + i < len(rows))
    one, other = numbers
    table: list[tuple[str, ...]] = [
        ("", "model", "epoch", "batch", f"timeline {one}", f"timeline {other}")
    ]
    gap = False
    for place, row in enumerate(rows):
        if place not in shown:
            if not gap:
                table.append(("", "...", "", "...", "", ""))
            gap = True
            continue
        gap = False
        sign = ">" if place == parts else ""
        losses = figure(row.first), figure(row.second)
        table.append((sign, row.model, row.epoch, str(row.batch), *losses))
    if not names_models:
        table = [(sign, *rest) for sign, _, *rest in table]
    if not any(row.epoch for row in rows):
        place = 2 if names_models else 1
        table = [(*line[:place], *line[place + 1 :]) for line in table]
    return lines_of_table(table)
