"""Fact R50: the document's pdb session, with its very commands (S4:51, S4:146 to S4:524)."""

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kerascope.backend.function import Function
from kerascope.engine.keras1 import graph_map as graph_map_keras1
from kerascope.engine.model import Model
from kerascope.optimizers import Optimizer

ROOT = Path(__file__).resolve().parents[2]
SESSION = Path(__file__).with_name("session.txt")

# Where the session stops: a function, and the beginning of one of its lines.
PLACES: dict[str, tuple[Callable[..., Any], str]] = {
    "the graph is mapped": (graph_map_keras1.build_map_of_graph, "return {"),
    "the model is compiled": (Model._compile_events, "self.train_function = "),
    "the train function is being made": (
        Model._train_function_events,
        "training_updates = ",
    ),
    "the gradients are asked for": (Optimizer._gradients, "swept = "),
    "the updates are read": (Function.__init__, "if v not in "),
}

# What the documents' Theano prints otherwise: the name that it gives to a product.
OTHER_NAMES = {"Elemwise{mul,no_inplace}.0": "loss/multiply"}


class Exchange(NamedTuple):
    """A command of the session, where it is given, and what is printed."""

    place: str
    command: str
    printed: str


def read_session(text: str) -> list[Exchange]:
    exchanges: list[Exchange] = []
    place = ""
    for line in text.splitlines():
        if line.startswith("@ "):
            place = line.removeprefix("@ ")
        elif line.startswith("(Pdb) "):
            exchanges.append(Exchange(place, line.removeprefix("(Pdb) "), ""))
        elif line and not line.startswith("#"):
            exchanges[-1] = exchanges[-1]._replace(printed=f"{exchanges[-1].printed}{line}\n")
    return exchanges


def line_of(function: Callable[..., Any], beginning: str) -> int:
    """Return the number of the one line of a function that begins like this."""
    lines, first = inspect.getsourcelines(function)
    found = [i for i, line in enumerate(lines) if line.strip().startswith(beginning)]
    assert len(found) == 1, f"{function.__qualname__}: {len(found)} lines begin with {beginning!r}"
    return first + found[0]


def breakpoint_at(place: str) -> str:
    """Return pdb's command for a place: `tbreak file:line`."""
    function, beginning = PLACES[place]
    return f"tbreak {inspect.getsourcefile(function)}:{line_of(function, beginning)}"


def run_pdb(commands: list[str], home: Path) -> list[str]:
    """Pipe commands into pdb on the example; return what each one printed."""
    environment = {
        **os.environ,
        "KERASCOPE_DIALECT": "1.2",
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "PYTHON_COLORS": "0",
        "HOME": str(home),  # no .pdbrc of whoever runs the tests
    }
    finished = subprocess.run(
        [sys.executable, "-m", "pdb", "examples/example.py"],
        input="\n".join([*commands, "q"]) + "\n",
        capture_output=True,
        cwd=ROOT,
        env=environment,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    _, *answers = finished.stdout.split("(Pdb) ")
    assert len(answers) == len(commands) + 1, finished.stdout + finished.stderr
    return answers[: len(commands)]


def normalized(printed: list[str]) -> list[str]:
    """Renumber ids in the order in which `id` gives them, hide addresses, drop all spaces.

    NumPy 2 adds the shape to an array of which it prints only the ends.
    """
    ids = [text.strip() for text in printed if re.fullmatch(r"\d{6,}", text.strip())]
    results = []
    for text in printed:
        for number, one in enumerate(ids):
            text = re.sub(rf"\b{one}\b", f"id{number}", text)
        text = re.sub(r"0x[0-9a-f]+", "0x...", text)
        text = OTHER_NAMES.get(text.strip(), text)
        if text.startswith("{"):  # a set has no order
            text = ", ".join(sorted(text.strip(" {}\n").split(", ")))
        results.append("".join(text.split()).replace("shape=(20,64),", ""))
    return results


def test_R50_the_documents_pdb_session_prints_what_the_document_prints(tmp_path):
    """R50, S4:51: `python3 -m pdb example.py`, its commands, piped."""
    session = read_session(SESSION.read_text(encoding="utf-8"))
    places = list(dict.fromkeys(exchange.place for exchange in session))
    assert places == list(PLACES)
    commands = [breakpoint_at(place) for place in places]
    asked = []  # the index of each of the document's commands among ours
    for place in places:
        commands.append("c")
        for exchange in session:
            if exchange.place == place:
                asked.append(len(commands))
                commands.append(exchange.command)
    answers = run_pdb(commands, tmp_path)
    ours = normalized([answers[index] for index in asked])
    printed = normalized([exchange.printed for exchange in session])
    for exchange, expected, got in zip(session, printed, ours, strict=True):
        assert got == expected, exchange.command
    assert len(session) == 15


def test_R50_pdb_steps_through_a_stage_as_through_any_function(tmp_path):
    """R50: `until` steps over the whole get_updates, which another stage does, to the next line."""
    place = "the train function is being made"
    after = line_of(PLACES[place][0], "count = ")
    commands = [breakpoint_at(place), "c", f"until {after}", "p len(training_updates)"]
    *_, stepped, printed = run_pdb(commands, tmp_path)
    assert "count = " in stepped
    assert printed == "12\n"


@pytest.mark.parametrize("text", ["", "@ a\n(Pdb) p x\n1\n\n# a note\n(Pdb) p y\n[1,\n 2]\n"])
def test_a_session_is_read_with_the_lines_that_each_command_prints(text):
    exchanges = read_session(text)
    wanted = [Exchange("a", "p x", "1\n"), Exchange("a", "p y", "[1,\n 2]\n")]
    assert exchanges == (wanted if text else [])
