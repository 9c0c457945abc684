"""The file of results, as lines of JSON. A run begins with a line about its conditions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.paired.columns import COLUMNS
from benchmarks.paired.environments import ROOT
from benchmarks.paired.workloads import METRICS, Mistake

DEFAULT = ROOT / "out" / "benchmarks" / "results.jsonl"


@dataclass
class Block:
    """The rows of one metric with one number of threads, measured together.

    Attributes
    ----------
    metric : str
        The name of the metric, such as "W1.step".
    threads : int
        The number of threads with which the rows were measured.
    facts : dict
        The conditions of the run that measured the rows.
    rows : dict
        The results of each column of the report, by the column's name, in the order of the report.
    """

    metric: str
    threads: int
    facts: dict[str, Any]
    rows: dict[str, dict[str, Any]]


def append(path: Path, rows: list[dict[str, Any]]) -> None:
    """Add lines to a file of results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def read(path: Path) -> list[Block]:
    """Return the blocks in a file of results. A repeated measurement replaces the earlier one.

    Raises
    ------
    Mistake
        If the file is missing or has a different format.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise Mistake(
            f"no results in {path.name}: {error.strerror}. Measure first: "
            "python3 -m benchmarks.paired run W1"
        ) from error
    blocks: dict[tuple[str, int], Block] = {}
    facts: dict[str, Any] = {}
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            if row["kind"] == "run":
                facts = row
                continue
            key, column = (row["metric"], row["threads"]), row["column"]
        except (ValueError, KeyError, TypeError) as error:
            raise Mistake(f"{path.name}, line {number}: not a result of this benchmark") from error
        if key not in blocks or blocks[key].facts is not facts:
            blocks[key] = Block(*key, facts, {})
        blocks[key].rows[column] = row
    for block in blocks.values():
        block.rows = {c: block.rows[c] for c in COLUMNS if c in block.rows}
    order = [*METRICS]
    return sorted(
        blocks.values(),
        key=lambda b: (b.threads, order.index(b.metric) if b.metric in order else len(order)),
    )
