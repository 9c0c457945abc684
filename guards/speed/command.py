"""The command measures two checkouts in turn, prints a table, and reports slower metrics."""

from __future__ import annotations

import argparse
import compileall
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from guards.checkouts import ROOT, Mistake, copied
from guards.speed.asking import METRICS, Broken, measured
from guards.speed.intervals import LEAST, Ratio, ratio_of

EPILOGUE = """
examples:
  python -m guards.speed HEAD~1                     this checkout and its last commit
  python -m guards.speed 4a5e894 --json speed.json
  python -m guards.speed ../before --only W1.step W5.step --minutes 1

The ratio is this checkout's processor time over the other's: 1.05 is 5 % slower. The interval is
that of the median, 95 %, by a bootstrap over pairs of processes and rounds. A busy machine makes it
wider, not wrong. Below the table, the largest slowdown that it could hide is printed.

exit codes: 0 nothing is surely slower; 1 a whole interval is above the limit; 2 not measured.
"""
WANTED = 0.015
"""An interval that is wider than this on both sides is pointed out."""


def options(words: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m guards.speed",
        description=__doc__,
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("other", help="a folder with a checkout, or a git revision")
    parser.add_argument("--this", default=str(ROOT), help="measure that instead of this checkout")
    parser.add_argument("--minutes", type=float, default=4.5, help="how long (default: 4.5)")
    parser.add_argument("--limit", type=float, default=1.02, help="alarm above (default: 1.02)")
    parser.add_argument(
        "--only", nargs="+", choices=METRICS, default=list(METRICS), metavar="METRIC",
        help=f"some of {', '.join(METRICS)}",
    )  # fmt: skip
    parser.add_argument("--json", type=Path, help="write the numbers")
    parser.add_argument("--markdown", type=Path, help="write the table")
    found = parser.parse_args(words)
    if found.minutes < 0 or found.limit <= 0:
        parser.error("--minutes and --limit are not negative")
    return found


def table(found: dict[str, Ratio], limit: float) -> str:
    """Return the results as a table in Markdown, with a row for each metric.

    Examples
    --------
    >>> print(table({"W1.step": Ratio(1.05, 1.04, 1.06, 80)}, 1.02))
    | what | ratio | 95 % interval | rounds | |
    |---|---|---|---|---|
    | W1.step: train step, 20-64-64-1, rmsprop | 1.050 | 1.040 to 1.060 | 80 | SLOWER |
    """
    lines = ["| what | ratio | 95 % interval | rounds | |", "|---|---|---|---|---|"]
    for metric, ratio in found.items():
        verdict = "SLOWER" if ratio.is_above(limit) else "faster" if ratio.high < 1 else ""
        if ratio.count < LEAST:
            verdict = "too few rounds"
        lines.append(
            f"| {metric}: {METRICS[metric]} | {ratio.median:.3f} "
            f"| {ratio.low:.3f} to {ratio.high:.3f} | {ratio.count} | {verdict} |"
        )
    return "\n".join(lines)


def said(found: dict[str, Ratio], limit: float) -> str:
    """Return a text with the metrics that are certainly slower, and those measured imprecisely."""
    slower = [metric for metric, ratio in found.items() if ratio.is_above(limit)]
    wide = [m for m, ratio in found.items() if ratio.half_width > WANTED or ratio.count < LEAST]
    lines = [
        f"Slower by more than {100 * (limit - 1):.3g} %: {', '.join(slower)}."
        if slower
        else f"Nothing is surely slower by more than {100 * (limit - 1):.3g} %."
    ]
    if wide:
        most = max(found[metric].high for metric in wide)
        lines.append(
            f"Known less well than to +-{100 * WANTED:.2g} %: {', '.join(wide)}; up to "
            f"{100 * (most - 1):.2g} % could hide there. A quieter machine or --minutes says more."
        )
    return "\n".join(lines)


def main(words: list[str]) -> int:
    """Run the command; return the exit code."""
    found = options(words)
    try:
        with tempfile.TemporaryDirectory(prefix="kerascope-speed-") as folder:
            # Names of equal length, because memory addresses depend on them.
            this, other = (Path(folder).resolve() / name for name in ("this-one", "that-one"))
            for word, place in ((found.other, other), (found.this, this)):
                copied(word, place, "kerascope")
            compileall.compile_dir(folder, quiet=2)
            ratios = measured(this, other, found.only, found.minutes)
    except (Mistake, Broken) as mistake:
        print(f"guards.speed: {mistake}", file=sys.stderr)
        return 2
    by_metric = {metric: ratio_of(pairs) for metric, pairs in ratios.items()}
    written = table(by_metric, found.limit)
    print(f"{found.this} beside {found.other}\n\n{written}\n\n{said(by_metric, found.limit)}")
    if found.markdown:
        found.markdown.write_text(written + "\n", encoding="utf-8")
    if found.json:
        numbers = {metric: asdict(ratio) for metric, ratio in by_metric.items()}
        everything = {"this": found.this, "other": found.other, "limit": found.limit}
        everything |= {"metrics": numbers, "ratios": ratios}
        found.json.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    return int(any(ratio.is_above(found.limit) for ratio in by_metric.values()))
