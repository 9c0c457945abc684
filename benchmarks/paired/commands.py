"""The commands of the paired benchmark: run, check, report, environments, list."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.paired import cold, columns, environments, machine, results, workloads
from benchmarks.paired.checking import check
from benchmarks.paired.driver import (
    Chunks,
    Timing,
    measure,
    measure_memory,
    processes,
    rows_of,
    say_what_is_missing,
)
from benchmarks.paired.goals import judged
from benchmarks.paired.picture import picture
from benchmarks.paired.ratios import ratios
from benchmarks.paired.report import as_text, report, table
from benchmarks.paired.workloads import METRICS, OTHERS, WORKLOADS, Mistake

EXAMPLES = """examples, from the project's root:
  python3 -m benchmarks.paired check                        every column computes the same
  python3 -m benchmarks.paired run W1 W5.step               kerascope and every available engine
  python3 -m benchmarks.paired run W3 --columns keras-tf torch --threads 1 2
  python3 -m benchmarks.paired run W8                       cold start; W7 and W9: deep chains
  python3 -m benchmarks.paired report                       a table of the measurements
  python3 -m benchmarks.paired report --markdown --picture ratios.svg
  python3 -m benchmarks.paired report --of kerascope-jax    its ratios to the others
  python3 -m benchmarks.paired report --goals               goals that are reached or missed
  python3 -m benchmarks.paired environments torch tf        build environments of other engines
  python3 -m benchmarks.paired list                         workloads, metrics, columns
"""
QUICK = Timing(rounds=2, target=0.02)


def positive(word: str) -> int:
    """Return a command-line argument as a whole number of at least 1; raise if it is not one."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r}: expected a whole number of at least 1")
    return int(word)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    formatter = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(
        prog="python3 -m benchmarks.paired",
        description="Measure kerascope, hand-written NumPy and other engines.",
        epilog=EXAMPLES,
        formatter_class=formatter,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="command")
    run = commands.add_parser("run", help="measure", epilog=EXAMPLES, formatter_class=formatter)
    checking = commands.add_parser("check", help="check that all columns compute the same")
    for command in (run, checking):
        command.add_argument(
            "workloads", nargs="*", help="W1, or one metric: W1.step (default: all)"
        )
        command.add_argument("--columns", nargs="+", help="engines (default: all available)")
        command.add_argument("--log", type=Path, help="file for the engines' messages")
    checking.add_argument("--threads", type=positive, default=1)
    run.add_argument("--threads", type=positive, nargs="+", default=[1], help="1 2: both")
    run.add_argument("--quick", action="store_true", help="first results in seconds")
    run.add_argument("--rounds", type=positive, default=7, help="chunks of each column")
    run.add_argument("--restarts", type=positive, default=1, help="of each column's process")
    run.add_argument("--target", type=float, default=0.25, help="seconds of a chunk")
    run.add_argument("--patience", type=float, default=0.0, help="seconds to wait for quiet")
    run.add_argument("--label", default="", help="a note about this run for the report")
    run.add_argument("--results", type=Path, default=results.DEFAULT, help="file for the results")
    told = commands.add_parser("report", help="tables and a picture of the results")
    told.add_argument("--results", type=Path, default=results.DEFAULT)
    told.add_argument("--markdown", action="store_true")
    told.add_argument("--least", action="store_true", help="minimum times instead of medians")
    told.add_argument("--goals", action="store_true", help="the goals: reached or missed")
    told.add_argument("--of", help="ratios of this column to the others, with intervals")
    told.add_argument("--clock", choices=["cpu", "wall"], default="cpu", help="of --of")
    told.add_argument("--picture", type=Path, help="write the ratios as SVG")
    told.add_argument("--threads", type=positive, default=1, help="of the picture")
    built = commands.add_parser("environments", help="build environments of other engines")
    built.add_argument(
        "names", nargs="*", help=f"{', '.join(environments.PACKAGES)} (default: all)"
    )
    commands.add_parser("list", help="list workloads, metrics and columns")
    return top


def run(arguments: argparse.Namespace) -> int:
    """Measure, and write each block of results when it is complete; return the exit code.

    It is 1 if a column failed. The results of the other columns are written anyway.
    """
    failures: list[str] = []

    def complain(text: str) -> None:
        failures.append(text)
        print(text, flush=True)

    metrics = workloads.chosen(arguments.workloads or [*WORKLOADS, *OTHERS])
    wanted = columns.chosen(arguments.columns or list(columns.COLUMNS))
    timing = Timing(
        arguments.rounds, arguments.target, arguments.patience, restarts=arguments.restarts
    )
    timing = QUICK if arguments.quick else timing
    log = arguments.log or arguments.results.with_suffix(".log")
    say_what_is_missing(wanted, print)
    there = [column for column in wanted if environments.python_of(column)]
    facts = machine.facts(there, arguments.label)
    begun = False

    def keep(rows: list[dict[str, object]]) -> None:
        nonlocal begun
        if not rows:
            return
        results.append(arguments.results, rows if begun else [facts, *rows])
        begun = True
        for metric in dict.fromkeys(str(row["metric"]) for row in rows):
            found = {str(row["column"]): row for row in rows if row["metric"] == metric}
            block = results.Block(metric, 0, facts, found)
            print(as_text(table([block])), end="\n\n", flush=True)

    for threads in arguments.threads:
        rounds = 1 if arguments.quick else min(timing.rounds, 3)
        for name in [*WORKLOADS, *OTHERS]:
            here = [metric for metric in metrics if metric.split(".")[0] == name]
            timed = [m for m in here if m in METRICS and METRICS[m].what != "memory"]
            if timed:
                chunks: dict[str, Chunks] = {metric: {} for metric in timed}
                for _ in range(timing.restarts):
                    with processes(there, name, threads, log, complain) as alive:
                        for metric in timed:
                            measure(metric, alive, timing, complain, chunks[metric])
                for metric in timed:
                    keep(rows_of(metric, chunks[metric], threads, timing))
            for metric in here:
                if metric in METRICS and metric not in timed:
                    keep(measure_memory(metric, there, threads, log, complain))
            if here == ["W8"]:
                keep(cold.cold_start(there, threads, timing.rounds, complain))
            elif here == ["W10"]:
                keep(cold.first_calls(there, threads, rounds, complain))
            elif here in (["W7"], ["W9"]):
                lengths = (100,) if arguments.quick else cold.LENGTHS
                keep(cold.chains(name, there, threads, rounds, complain, lengths))
    if failures:
        print(f"{len(failures)} failed; the engines' own messages are in {log.name}")
    return 1 if failures else 0


def check_all(arguments: argparse.Namespace) -> int:
    """Compare the first losses and outputs of all columns; return 1 if one differs, otherwise 0."""
    names = {metric.split(".")[0] for metric in workloads.chosen(arguments.workloads or WORKLOADS)}
    wanted = columns.chosen(arguments.columns or list(columns.COLUMNS))
    log = arguments.log or results.DEFAULT.with_suffix(".log")
    say_what_is_missing(wanted, print)
    wrong = []
    for name in sorted(names & set(WORKLOADS)):
        found = check(name, wanted, arguments.threads, log, print)
        wrong += [f"{name} {column}" for column in found]
    print("DIFFER: " + ", ".join(wrong) if wrong else "all columns compute the same")
    return 1 if wrong else 0


def show(arguments: argparse.Namespace) -> int:
    """Print the report, and write the picture if requested."""
    blocks = results.read(arguments.results)
    which = "least" if arguments.least else "median"
    if arguments.of:
        column = columns.known(arguments.of)
        print(ratios(blocks, column, arguments.clock, markdown=arguments.markdown), end="")
    elif arguments.goals:
        print(judged(blocks, markdown=arguments.markdown), end="")
    else:
        print(report(blocks, markdown=arguments.markdown, which=which), end="")
    if arguments.picture:
        arguments.picture.parent.mkdir(parents=True, exist_ok=True)
        arguments.picture.write_text(picture(blocks, arguments.threads), encoding="utf-8")
        print(f"wrote {arguments.picture.name}", file=sys.stderr)
    return 0


def show_names() -> int:
    """Print the names of all workloads, metrics and columns."""
    for name, workload in WORKLOADS.items():
        print(f"{name}  {workload.title}")
        for metric, found in METRICS.items():
            if found.workload == name:
                print(f"    {metric:<14} {found.title}")
    for name, title in OTHERS.items():
        print(f"{name}  {title}")
    print("\ncolumns")
    for name, column in columns.COLUMNS.items():
        there = "" if environments.python_of(name) else "  (environment not built)"
        print(f"    {name:<20} {column.title}{there}")
    return 0


def main(words: list[str]) -> int:
    """Run the command; return the exit code."""
    arguments = parser().parse_args(words)
    try:
        if arguments.command == "run":
            return run(arguments)
        if arguments.command == "check":
            return check_all(arguments)
        if arguments.command == "report":
            return show(arguments)
        if arguments.command == "environments":
            environments.build(arguments.names)
            return 0
        return show_names()
    except Mistake as mistake:
        print(f"benchmarks.paired: {mistake}", file=sys.stderr)
        return 2
