"""`kerascope profile script.py`: run a script, then measure the functions that it has called."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from kerascope.backend.function import Function
from kerascope.cli.scripts import ScriptRun, checked_script, output_aside
from kerascope.cli.usage import given
from kerascope.engine.network import Network
from kerascope.errors import KerascopeError
from kerascope.viz.drawing import check_target
from kerascope.viz.overlays.times import readable_share, readable_time
from kerascope.viz.profile import FUNCTIONS, Profile, owner_of, profile
from kerascope.viz.profile.rows import measure_roofline
from kerascope.viz.table_layout import Cell, Column, laid_out

INTERRUPTED = 130
MOST_HEARD = 200  # functions; a script may make one for each K.eval
MOST_PROFILED = 6
LEAST_SHARE = 0.01  # of the time in all functions: what took less is not measured without --all
NARROWEST = 60
COMPUTE = "_compute"  # the method through which every call goes that nobody watches
MODEL_FUNCTIONS = tuple(f"{name}_function" for name in FUNCTIONS)

Shapes = tuple[tuple[int, ...], ...]


@dataclass
class Calls:
    """The calls of one function with arrays of the same shapes.

    Attributes
    ----------
    inputs : list of array_like
        Of the last call.
    """

    count: int = 0
    seconds: float = 0.0
    inputs: Sequence[Any] = ()


@dataclass
class Heard:
    """A function that was called.

    Attributes
    ----------
    model : Network or None
        Whose it is.
    """

    function: Function
    model: Network | None
    calls: dict[Shapes, Calls] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How often it was called."""
        return sum(calls.count for calls in self.calls.values())

    @property
    def seconds(self) -> float:
        """How long that took."""
        return sum(calls.seconds for calls in self.calls.values())

    @property
    def usual(self) -> tuple[Shapes, Calls]:
        """The shapes that came most often, and their calls."""
        return max(self.calls.items(), key=lambda item: item[1].count)

    @property
    def name(self) -> str:
        """Its name, and whose it is."""
        return self.function.name + (f" of {self.model.name}" if self.model is not None else "")


class Listener:
    """Hears which functions are called, on what, and how long that takes.

    Nothing is stepped: a call takes two microseconds longer than without it.

    Attributes
    ----------
    heard : dict of Function to Heard
        By the order of their first calls.
    """

    def __init__(self) -> None:
        self.heard: dict[Function, Heard] = {}

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear all calls inside the `with` block."""
        plain = Function._compute

        def heard_call(function: Function, inputs: Sequence[Any]) -> Any:
            calls = self._calls_of(function, inputs)
            start = time.perf_counter()
            try:
                return plain(function, inputs)
            finally:
                if calls is not None:
                    calls.seconds += time.perf_counter() - start
                    calls.count += 1
                    calls.inputs = inputs

        setattr(Function, COMPUTE, heard_call)
        try:
            yield
        finally:
            setattr(Function, COMPUTE, plain)

    def _calls_of(self, function: Function, inputs: Sequence[Any]) -> Calls | None:
        heard = self.heard.get(function)
        if heard is None:
            if len(self.heard) >= MOST_HEARD:
                return None
            # Found now: a model that only a function of the script knows may be gone at its end.
            model = owner_of(function) if function.name in MODEL_FUNCTIONS else None
            heard = self.heard[function] = Heard(function, model)
        return heard.calls.setdefault(tuple(map(np.shape, inputs)), Calls())


# --- the command ----------------------------------------------------------------------------------


def run_profile(options: Namespace) -> int:
    """Run the script of `kerascope profile`, print the profiles, and return the exit code."""
    path = checked_script(options.script)
    for output in options.output:
        with given():
            check_target(output)
    script = ScriptRun(path, options.script_words, for_good=options.for_good)
    listener = Listener()
    start = time.perf_counter()
    code = _run(script, listener, options.json)
    took = time.perf_counter() - start
    heard = sorted(listener.heard.values(), key=lambda one: -one.seconds)
    if not heard:
        if code:
            return code
        raise KerascopeError(
            f"'{path}' has called no function: there is nothing to profile. Expected a script that "
            f"trains a model or predicts with it (fit, train_on_batch, evaluate, predict)."
        )
    if code:
        _say(f"'{path}' did not come to its end; this is what it has called until then.")
    chosen = _chosen(heard, options.all)
    roofline = measure_roofline()
    most = None if options.all else 20
    found = [
        profile(
            one.function, list(one.usual[1].inputs), sort=options.sort, most=most,
            repeats=options.repeats, roofline=roofline,
        )
        for one in chosen
    ]  # fmt: skip
    if options.json:
        profiles = dict(zip([one.function for one in chosen], found, strict=True))
        _print_json(path, took, heard, profiles)
    else:
        _print_tables(path, took, heard, found)
    for output in options.output:
        _draw(found, output)
    return code


def _run(script: ScriptRun, listener: Listener, is_json: bool) -> int:
    """Run a script and return its exit code; one that is interrupted is profiled all the same."""
    try:
        with listener.listening(), output_aside(is_json):
            return script.run()
    except KeyboardInterrupt:
        return INTERRUPTED


def _chosen(heard: Sequence[Heard], is_all: bool) -> list[Heard]:
    """Return what is measured: what took most of the time, and the functions of models first."""
    if is_all:
        return list(heard)
    total = sum(one.seconds for one in heard)
    of_models = [one for one in heard if one.model is not None]
    some = [one for one in of_models or heard if one.seconds >= LEAST_SHARE * total]
    return (some or list(heard))[:MOST_PROFILED]


def _say(message: str) -> None:
    sys.stdout.flush()
    print(f"kerascope: {message}", file=sys.stderr)


# --- what is printed ------------------------------------------------------------------------------


def _print_tables(
    path: Path, took: float, heard: Sequence[Heard], found: Sequence[Profile]
) -> None:
    console = Console(file=sys.stdout, highlight=False)
    width = max(console.width, NARROWEST)
    inside = sum(one.seconds for one in heard)
    share = readable_share(inside / took if took else 0.0)
    print(
        f"\n{path.name}: {readable_time(took)}, of which {readable_time(inside)} ({share}) in the "
        f"functions that it called:"
    )
    rows = list(heard[: max(len(found), 12)])
    for line in laid_out(_columns(rows), width):
        print("".join(text for text, _ in line))
    if len(rows) < len(heard):
        print(f"and {len(heard) - len(rows)} more (--all shows them)")
    for one in found:
        print()
        console.print(one, width=width, no_wrap=False, crop=False)


def _columns(heard: Sequence[Heard]) -> list[Column]:
    def cells(texts: list[str]) -> list[Cell]:
        return [Cell([[(text, "")]]) for text in texts]

    shapes = []
    for one in heard:
        usual, _ = one.usual
        others = len(one.calls) - 1
        shapes.append(f"{', '.join(map(str, usual))}{f' and {others} more' if others else ''}")
    return [
        Column("Function", cells([one.name for one in heard])),
        Column("Calls", cells([f"{one.count:,}" for one in heard]), is_number=True),
        Column("Time", cells([readable_time(one.seconds) for one in heard]), is_number=True),
        Column(
            "Each",
            cells([readable_time(one.seconds / max(one.count, 1)) for one in heard]),
            is_number=True,
        ),
        Column("Inputs", cells(shapes)),
    ]


def _print_json(
    path: Path, took: float, heard: Sequence[Heard], found: dict[Function, Profile]
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
        for one in heard
    ]
    print(json.dumps({"script": path.name, "seconds": took, "functions": functions}, indent=2))


def _draw(found: Sequence[Profile], output: str) -> None:
    """Draw the model whose function took most of the script's time."""
    drawn = next((one for one in found if one.model is not None), None)
    if drawn is None:
        _say(f"{output} was not written: none of the functions belongs to a model.")
        return
    print(f"wrote {drawn.draw().save(output)}: {drawn.name}", file=sys.stderr)
