"""`kerascope profile script.py`: run a script, then measure the functions that it called."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np
from rich.console import Console

from kerascope.backend.function import Function
from kerascope.backend.program.profiling import NANO, timed
from kerascope.cli.scripts import ScriptRun, checked_script, output_aside
from kerascope.cli.usage import given
from kerascope.engine.network import Network
from kerascope.errors import KerascopeError
from kerascope.viz.drawing import check_target
from kerascope.viz.overlays.times import readable_share, readable_time
from kerascope.viz.profile import FUNCTIONS, Profile, owner_of, profile
from kerascope.viz.profile.rows import measure_roofline
from kerascope.viz.table_layout import Cell, Column, table_lines

INTERRUPTED = 130
MOST_CALLED = 200  # functions; a script may make one for each K.eval
MOST_PROFILED = 6
LEAST_SHARE = 0.01  # of the time in all functions; those below it are profiled only with --all
NARROWEST = 60
COMPUTE = "_compute"  # the method for calls without observers
MODEL_FUNCTIONS = tuple(f"{name}_function" for name in FUNCTIONS)

Shapes = tuple[tuple[int, ...], ...]


@dataclass
class Calls:
    """The calls of one function with arrays of the same shapes.

    Attributes
    ----------
    count : int
        The number of calls, including those that raised an error.
    seconds : float
        The total time of the calls that returned.
    inputs : list of array_like
        The inputs of the last call.
    """

    count: int = 0
    seconds: float = 0.0
    inputs: Sequence[Any] = ()


@dataclass
class CalledFunction:
    """A backend function that the script called, with the statistics of its calls.

    Attributes
    ----------
    model : Network or None
        The model that created the function; None if no model is known to have created it.
    """

    function: Function
    model: Network | None
    calls: dict[Shapes, Calls] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of all calls of the function."""
        return sum(calls.count for calls in self.calls.values())

    @property
    def seconds(self) -> float:
        """The total time of all calls of the function, in seconds."""
        return sum(calls.seconds for calls in self.calls.values())

    @property
    def usual(self) -> tuple[Shapes, Calls]:
        """The most frequent input shapes, and the statistics of the calls with these shapes."""
        return max(self.calls.items(), key=lambda item: item[1].count)

    @property
    def name(self) -> str:
        """The name of the function, with the name of its model."""
        return self.function.name + (f" of {self.model.name}" if self.model is not None else "")


@contextmanager
def called_functions() -> Iterator[dict[Function, CalledFunction]]:
    """Return a context manager that records which functions are called inside its block.

    Its value is a dict with the functions in the order of their first calls. Recording adds two
    microseconds to a call. Times are measured by `timed`, as in a profile.
    """
    found: dict[Function, CalledFunction] = {}
    plain = Function._compute

    def recorded_call(function: Function, inputs: Sequence[Any]) -> Any:
        calls = _calls_of(found, function, inputs)
        if calls is None:
            return plain(function, inputs)
        calls.count += 1
        calls.inputs = inputs
        nanoseconds, result = timed(perf_counter_ns, plain, function, inputs)
        calls.seconds += nanoseconds * NANO
        return result

    setattr(Function, COMPUTE, recorded_call)
    try:
        yield found
    finally:
        setattr(Function, COMPUTE, plain)


def _calls_of(
    found: dict[Function, CalledFunction], function: Function, inputs: Sequence[Any]
) -> Calls | None:
    """Return the statistics for calls of a function with the shapes of these inputs.

    Return None for a new function if too many functions are recorded already.
    """
    if function not in found:
        if len(found) >= MOST_CALLED:
            return None
        # The model is looked up now, because it may be deleted before the script ends.
        model = owner_of(function) if function.name in MODEL_FUNCTIONS else None
        found[function] = CalledFunction(function, model)
    return found[function].calls.setdefault(tuple(map(np.shape, inputs)), Calls())


# --- the command ----------------------------------------------------------------------------------


def run_profile(options: Namespace) -> int:
    """Run the script of `kerascope profile`, print the profiles, and return the exit code."""
    path = checked_script(options.script)
    for output in options.output:
        with given():
            check_target(output)
    script = ScriptRun(path, options.script_words, for_good=options.for_good)
    with called_functions() as found:
        nanoseconds, code = timed(perf_counter_ns, _run, script, options.json)
    took = nanoseconds * NANO
    called = sorted(found.values(), key=lambda one: -one.seconds)
    if not called:
        if code:
            return code
        raise KerascopeError(
            f"'{path}' called no function, so there is nothing to profile. Expected a script that "
            f"trains a model or predicts with it (fit, train_on_batch, evaluate, predict)."
        )
    if code:
        _say(f"'{path}' did not run to its end. The tables show its calls until then.")
    chosen = _chosen(called, options.all)
    roofline = measure_roofline()
    most = None if options.all else 20
    profiles = [
        profile(
            one.function, list(one.usual[1].inputs), sort=options.sort, most=most,
            repeats=options.repeats, roofline=roofline,
        )
        for one in chosen
    ]  # fmt: skip
    if options.json:
        by_function = dict(zip([one.function for one in chosen], profiles, strict=True))
        _print_json(path, took, called, by_function)
    else:
        _print_tables(path, took, called, profiles)
    for output in options.output:
        _draw(profiles, output)
    return code


def _run(script: ScriptRun, is_json: bool) -> int:
    """Run a script and return its exit code, also after an interrupt."""
    try:
        with output_aside(is_json):
            return script.run()
    except KeyboardInterrupt:
        return INTERRUPTED


def _chosen(called: Sequence[CalledFunction], is_all: bool) -> list[CalledFunction]:
    """Return the few slowest of the functions that models created.

    If models created none, return the slowest of all functions. With `is_all`, return all
    functions.
    """
    if is_all:
        return list(called)
    total = sum(one.seconds for one in called)
    of_models = [one for one in called if one.model is not None]
    some = [one for one in of_models or called if one.seconds >= LEAST_SHARE * total]
    return (some or list(called))[:MOST_PROFILED]


def _say(message: str) -> None:
    sys.stdout.flush()
    print(f"kerascope: {message}", file=sys.stderr)


# --- what is printed ------------------------------------------------------------------------------


def _print_tables(
    path: Path, took: float, called: Sequence[CalledFunction], found: Sequence[Profile]
) -> None:
    console = Console(file=sys.stdout, highlight=False)
    width = max(console.width, NARROWEST)
    inside = sum(one.seconds for one in called)
    share = readable_share(inside / took if took else 0.0)
    print(
        f"\n{path.name}: {readable_time(took)}, of which {readable_time(inside)} ({share}) in "
        f"these functions:"
    )
    rows = list(called[: max(len(found), 12)])
    for line in table_lines(_columns(rows), width):
        print("".join(text for text, _ in line))
    if len(rows) < len(called):
        print(f"and {len(called) - len(rows)} more (--all shows them)")
    for one in found:
        print()
        console.print(one, width=width, no_wrap=False, crop=False)


def _columns(called: Sequence[CalledFunction]) -> list[Column]:
    def cells(texts: list[str]) -> list[Cell]:
        return [Cell([[(text, "")]]) for text in texts]

    shapes = []
    for one in called:
        usual, _ = one.usual
        others = len(one.calls) - 1
        shapes.append(f"{', '.join(map(str, usual))}{f' and {others} more' if others else ''}")
    return [
        Column("Function", cells([one.name for one in called])),
        Column("Calls", cells([f"{one.count:,}" for one in called]), is_number=True),
        Column("Time", cells([readable_time(one.seconds) for one in called]), is_number=True),
        Column(
            "Each",
            cells([readable_time(one.seconds / max(one.count, 1)) for one in called]),
            is_number=True,
        ),
        Column("Inputs", cells(shapes)),
    ]


def _print_json(
    path: Path, took: float, called: Sequence[CalledFunction], found: dict[Function, Profile]
) -> None:
    functions = [
        {
            "function": one.function.name,
            "model": None if one.model is None else one.model.name,
            "calls": one.count,
            "seconds": one.seconds,
            "shapes": [
                {"inputs": [list(x) for x in shapes], "calls": own.count, "seconds": own.seconds}
                for shapes, own in one.calls.items()
            ],
            "profile": found[one.function].as_dict() if one.function in found else None,
        }
        for one in called
    ]
    print(json.dumps({"script": path.name, "seconds": took, "functions": functions}, indent=2))


def _draw(found: Sequence[Profile], output: str) -> None:
    """Draw the model whose function took most of the script's time."""
    drawn = next((one for one in found if one.model is not None), None)
    if drawn is None:
        _say(f"{output} was not written: none of the functions belongs to a model.")
        return
    print(f"wrote {drawn.draw().save(output)}: {drawn.name}", file=sys.stderr)
