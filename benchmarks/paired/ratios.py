"""Computes the ratios of one column to the others: medians over the rounds, with intervals."""

from __future__ import annotations

from math import comb
from statistics import median
from typing import Any

from benchmarks.paired.columns import COLUMNS
from benchmarks.paired.report import NOTHING, as_markdown, as_text, seconds, three_digits
from benchmarks.paired.results import Block
from benchmarks.paired.workloads import titled

CONFIDENCE = 0.95


def interval(values: list[float]) -> tuple[float, float]:
    """Return two of the values between which the true median is, with a confidence of 95 %.

    Fewer than six values give the smallest and the largest, with less confidence.

    Examples
    --------
    >>> interval([3.0, 1.0, 2.0, 5.0, 4.0, 7.0, 6.0, 9.0, 8.0])
    (2.0, 8.0)
    """
    ordered, n = sorted(values), len(values)
    outside, skipped = 2.0, 0  # of 2 ** n equally likely arrangements, on both sides
    while (outside + 2 * comb(n, skipped + 1)) / 2**n <= 1 - CONFIDENCE:
        skipped += 1
        outside += 2 * comb(n, skipped)
    return ordered[skipped], ordered[n - 1 - skipped]


def ratio(mine: dict[str, Any], theirs: dict[str, Any], clock: str) -> str:
    """Return the median ratio of two columns and its interval as text; a dash without a ratio."""
    field = f"rounds_{clock}"
    if field not in mine or len(mine[field]) != len(theirs.get(field, [])):
        return NOTHING
    ratios = [a / b for a, b in zip(mine[field], theirs[field], strict=True)]
    low, high = interval(ratios)
    return f"{three_digits(median(ratios))} ({three_digits(low)} to {three_digits(high)})"


def ratios(blocks: list[Block], column: str, clock: str, *, markdown: bool) -> str:
    """Return a table of the ratios of one column's seconds to each other column's, by metric."""
    blocks = [block for block in blocks if f"rounds_{clock}" in block.rows.get(column, {})]
    others = [c for c in COLUMNS if c != column and any(c in block.rows for block in blocks)]
    cells = [["metric", COLUMNS[column].title, *(f"over {COLUMNS[c].title}" for c in others)]]
    for block in blocks:
        mine = block.rows[column]
        threads = f"; {block.threads} thread{'s' if block.threads > 1 else ''}"
        time = seconds(median(mine[f"rounds_{clock}"]))
        found = [ratio(mine, block.rows.get(c, {}), clock) for c in others]
        cells.append([titled(block.metric) + threads, time, *found])
    return (as_markdown(cells) if markdown else as_text(cells)) + "\n"
