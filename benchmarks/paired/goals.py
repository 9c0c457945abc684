"""The goals for kerascope's time and memory, compared with the results of the benchmark.

A goal is open if its metric or the engine that it names was not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.paired.columns import COLUMNS, REFERENCE
from benchmarks.paired.report import amount, as_markdown, seconds, three_digits
from benchmarks.paired.results import Block
from benchmarks.paired.workloads import METRICS

MINE = "kerascope"
LEVEL = 1.05
"""Ratios up to this value count as equal: the spread of the medians of two equal columns."""

STEPS_OF_EPOCH = {
    "W1.fit": ("W1.step", 2),
    "W2.fit": ("W2.step", 50),
    "W3.fit": ("W3.step128", 10),
    "W4.fit": ("W4.step", 10),
    "W5.fit": ("W5.step", 10),
}
KERAS_BACKENDS = ("keras-jax", "keras-tf", "keras-torch")
BEATEN = {
    **{f"{name}.step": (*KERAS_BACKENDS, "torch") for name in ("W1", "W2", "W4", "W5")},
    "W6.predict32": ("keras-numpy", "keras-torch"),
    "W6.predict128": ("keras-numpy", "keras-torch"),
}
STEP, FIT, MEMORY, GROWTH = 1.2, 1.3, 1.3, 1.5
OF_TENSORFLOW = {1: 1.3, 2: 1.6}
PREDICT, IMPORT, FIRST_STEP = 30e-6, 0.2, 0.6

Row = tuple[str, str, float, float, Callable[[float], str]]
"""Metric, description, measured value, limit, and the format of both."""


class Goals:
    """The goals of the benchmark for one number of threads, and their results."""

    def __init__(self, blocks: list[Block], threads: int) -> None:
        self.threads = threads
        self.rows = {block.metric: block.rows for block in blocks if block.threads == threads}

    def value(self, metric: str, column: str, field: str = "median") -> float | None:
        """Return a measured value of a column for a metric; None if it was not measured."""
        found: Any = self.rows.get(metric, {}).get(column, {}).get(field)
        return found

    def against(self, metric: str, column: str, limit: float) -> Iterator[Row]:
        """Yield the goal that kerascope needs at most `limit` times a column's time or memory."""
        memory = metric.endswith(".memory")
        field = "traced" if memory else "median"
        mine, theirs = self.value(metric, MINE, field), self.value(metric, column, field)
        if mine is None or theirs is None:
            return
        ratio = mine / theirs
        if column == REFERENCE:  # the ratio in each round is more precise than that of the medians
            ratio = self.value(metric, MINE, "ratio") or ratio
        write = amount if memory else seconds
        asked = f"at most {limit:g} x {COLUMNS[column].title} ({write(theirs)})"
        yield metric, asked, ratio, limit, three_digits

    def at_most(self, metric: str, limit: float, *, beyond: str = "") -> Iterator[Row]:
        """Yield the goal that kerascope takes at most these seconds more than column `beyond`.

        Without `beyond`, the seconds are the limit of the whole time.
        """
        mine = self.value(metric, MINE)
        base = self.value(metric, beyond) if beyond else 0.0
        if mine is not None and base is not None:
            more = f" beyond {COLUMNS[beyond].title}" if beyond else ""
            yield metric, f"at most {seconds(limit)}{more}", mine - base, limit, seconds

    def of_epochs(self) -> Iterator[Row]:
        """Yield the goals for an epoch of `fit`, compared with its train steps alone."""
        for metric, (step, number) in STEPS_OF_EPOCH.items():
            epoch, one = self.value(metric, MINE), self.value(step, MINE)
            if epoch is not None and one is not None:
                asked = f"at most {FIT:g} x {number} of {step} ({seconds(one * number)})"
                yield metric, asked, epoch / (one * number), FIT, three_digits

    def of_chains(self) -> Iterator[Row]:
        """Yield the goals for chains: how much longer a layer may take in a long one.

        The time for each layer of the longest chain is compared with that of the shortest chain.
        """
        for name in ("W7", "W9"):
            for phase in ("build", "map", "compile"):
                lengths = sorted(
                    int(metric.split(".")[1])
                    for metric, rows in self.rows.items()
                    if metric.startswith(f"{name}.") and metric.endswith(f".{phase}")
                    if "median" in rows.get(MINE, {})
                )
                if len(lengths) > 1:
                    few, many = lengths[0], lengths[-1]
                    times = [self.value(f"{name}.{n}.{phase}", MINE) or 0.0 for n in (few, many)]
                    growth = times[1] / times[0] * few / many
                    asked = f"a layer of {many:,} at most {GROWTH:g} x a layer of {few:,}"
                    yield f"{name}.{phase}", asked, growth, GROWTH, three_digits

    def all(self) -> Iterator[Row]:
        """Yield every goal for which all values were measured."""
        for metric, found in METRICS.items():
            if found.what == "step":
                yield from self.against(metric, REFERENCE, STEP)
            if metric.startswith("W3.step"):
                yield from self.against(metric, "keras-tf", OF_TENSORFLOW.get(self.threads, 1.6))
            for column in BEATEN.get(metric, ()):
                level = metric == "W2.step" and column in KERAS_BACKENDS
                yield from self.against(metric, column, LEVEL if level else 1.0)
        yield from self.of_epochs()
        yield from self.at_most("W1.predict", PREDICT)
        yield from self.of_chains()
        yield from self.at_most("W8.import", IMPORT, beyond=REFERENCE)
        yield from self.at_most("W8.first_step", FIRST_STEP)
        for metric, found in METRICS.items():
            if found.what == "memory":
                yield from self.against(metric, REFERENCE, MEMORY)


def judged(blocks: list[Block], *, markdown: bool) -> str:
    """Return a table of the goals and whether they are reached, for each number of threads."""
    parts = []
    for threads in sorted({block.threads for block in blocks}):
        cells = [["metric", "goal", "measured", "result"]]
        for metric, asked, found, limit, write in Goals(blocks, threads).all():
            cells.append([metric, asked, write(found), "reached" if found <= limit else "missed"])
        reached = sum(row[-1] == "reached" for row in cells)
        name = f"{threads} thread{'s' if threads > 1 else ''}: {reached} of {len(cells) - 1} goals"
        parts.append(f"### {name}" if markdown else f"=== {name}")
        parts.append(as_markdown(cells) if markdown else lined_up(cells))
    return "\n\n".join(parts) + "\n"


def lined_up(cells: list[list[str]]) -> str:
    """Return a table for the terminal, with each column as wide as its widest cell."""
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )
