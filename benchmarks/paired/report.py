"""Tables of the results, as text or as Markdown: a row for each metric, a column for each engine.

A cell contains the median and, in brackets, the ratio to hand-written NumPy: the median of the
ratios in each round. `--least` shows minimum times instead of medians.
"""

from __future__ import annotations

from typing import Any

from benchmarks.paired.columns import COLUMNS, REFERENCE
from benchmarks.paired.results import Block
from benchmarks.paired.workloads import METRICS, titled

NOTHING = "-"
UNIMPORTANT = ("versions", "load")


def seconds(value: float) -> str:
    """Return a time with three digits and its unit.

    Examples
    --------
    >>> seconds(0.0000291), seconds(0.0123), seconds(2.5)
    ('29.1 us', '12.3 ms', '2.50 s')
    """
    for factor, unit in ((1e6, "us"), (1e3, "ms")):
        if value * factor < 999.5:
            return f"{three_digits(value * factor)} {unit}"
    return f"{three_digits(value)} s"


def three_digits(value: float) -> str:
    """Return a number as text with three digits, with commas if it is large."""
    return f"{value:,.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}"


def amount(bytes_: float) -> str:
    """Return a number of bytes as text, in megabytes."""
    return f"{three_digits(bytes_ / 1024 / 1024)} MB"


def cell(row: dict[str, Any] | None, column: str, which: str = "median") -> str:
    """Return the text of a cell: the value of one column for one metric, with its ratio."""
    if row is None:
        return NOTHING
    if "error" in row:
        return str(row["error"])
    if row["kind"] == "memory":
        text = amount(row["traced"]) if "traced" in row else f"+{amount(row['grown'])}"
    else:
        text = seconds(row[which])
    if "megabytes" in row:
        text += f", {row['megabytes']:.0f} MB"
    if column != REFERENCE and "ratio" in row:
        text += f" ({three_digits(row['ratio'])})"
    return text


def table(blocks: list[Block], which: str = "median") -> list[list[str]]:
    """Return the rows of the report's table: the header, then a row of texts for each metric."""
    columns = [c for c in COLUMNS if any(c in block.rows for block in blocks)]
    head = ["metric", *(COLUMNS[c].title for c in columns)]
    body = [
        [titled(block.metric), *(cell(block.rows.get(c), c, which) for c in columns)]
        for block in blocks
    ]
    return [head, *body]


def as_markdown(cells: list[list[str]]) -> str:
    """Return a table of Markdown."""
    head, *body = cells
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *body))


def as_text(cells: list[list[str]]) -> str:
    """Return a table for the terminal: engines in rows, one block for each metric."""
    head, *body = cells
    width = max(len(title) for title in head)
    lines = []
    for name, *values in body:
        lines.append(name)
        lines += [
            f"  {title:<{width}}  {value:>24}"
            for title, value in zip(head[1:], values, strict=True)
            if value != NOTHING
        ]
        lines.append("")
    return "\n".join(lines).rstrip()


def told(facts: dict[str, Any]) -> str:
    """Return a sentence about the conditions of a run: machine, packages, commit and date."""
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    label = f"{facts['label']}. " if facts.get("label") else ""
    return (
        f"{label}{facts['processor']}, {facts['cores']} cores, {facts['system']}; "
        f"Python {facts['python']}, {facts.get('blas', 'unknown BLAS')}; {versions}; "
        f"commit {facts['commit']}, {facts['date']}."
    )


def places(blocks: list[Block]) -> list[dict[str, Any]]:
    """Return the machines and settings of the runs, each once, with the versions of all engines."""
    found: dict[str, dict[str, Any]] = {}
    for block in blocks:
        others = {key: value for key, value in block.facts.items() if key not in UNIMPORTANT}
        facts = found.setdefault(repr(sorted(others.items())), others | {"versions": {}})
        facts["versions"].update(block.facts["versions"])
    for facts in found.values():
        facts["versions"] = dict(sorted(facts["versions"].items()))
    return list(found.values())


def is_memory(metric: str) -> bool:
    """Return whether a metric is memory, in bytes."""
    return metric in METRICS and METRICS[metric].what == "memory"


def is_timed(metric: str) -> bool:
    """Return whether a metric is a time: that of train steps, `fit` or `predict` of a workload."""
    return metric in METRICS and not is_memory(metric)


def is_cold(metric: str) -> bool:
    """Return whether a metric is of W8, the start of a process."""
    return metric.startswith("W8.")


def is_chain(metric: str) -> bool:
    """Return whether a metric is of W7, W9 or W10, which the report shows in a separate table."""
    return not (is_timed(metric) or is_memory(metric) or is_cold(metric))


def report(blocks: list[Block], *, markdown: bool, which: str = "median") -> str:
    """Return the report: tables for each number of threads, and the conditions of the runs."""
    parts = []
    for threads in sorted({block.threads for block in blocks}):
        name = f"{threads} thread{'s' if threads > 1 else ''}, {which} of the rounds"
        parts.append(f"### {name}" if markdown else f"=== {name}\n")
        for kind in (is_timed, is_memory, is_cold, is_chain):
            here = [block for block in blocks if block.threads == threads and kind(block.metric)]
            if here:
                cells = table(here, which)
                parts.append(as_markdown(cells) if markdown else as_text(cells))
    parts += [f"Measured on: {told(facts)}" for facts in places(blocks)]
    return "\n\n".join(parts) + "\n"
