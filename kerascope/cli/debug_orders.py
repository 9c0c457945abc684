"""What the options of `kerascope debug` and `kerascope replay` ask for together, checked."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import NamedTuple

from kerascope.cli.usage import UsageError
from kerascope.debugger.stopping import MOVES
from kerascope.debugger.unattended import FORMATS, LAST_STOP, Wanted
from kerascope.debugger.until import Until
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.conditions import parse_conditions
from kerascope.trace.events import GRAINS


class Orders(NamedTuple):
    """What the options ask for.

    Attributes
    ----------
    conditions : set of str
        With which it fails.
    until : Until or None
        To where it runs without asking.
    wanted : Wanted or None
        What is written if nobody is asked; None if somebody is.
    """

    conditions: set[str]
    until: Until | None
    wanted: Wanted | None


def orders_of(options: Namespace, file: str, commands: list[str], fail_on: str | None) -> Orders:
    """Return what the options ask for.

    Parameters
    ----------
    options : Namespace
        With `step_all`, `until` and `format`.
    file : str
        The script or the tape.
    commands : list of str
        Of `-c` and `-x`.
    fail_on : str or None

    Raises
    ------
    UsageError
        They make no sense, alone or together.
    """
    conditions = _conditions(fail_on)
    grain = _grain(options.step_all, file)
    until = _until(options.until)
    is_plain = options.format is None and options.step_all is None
    if is_plain and not (until and conditions):
        return Orders(conditions, until, None)
    form = LAST_STOP if is_plain else _form(options.format)
    if form == "svg" and options.step_all is not None:
        raise UsageError(
            "--step-all and --format svg do not go together: a picture has no stops. Leave out "
            "--step-all; --until says when the picture is drawn."
        )
    for line in commands:
        if line.strip().partition(" ")[0] in MOVES:
            given = "--until and --fail-on" if is_plain else "--step-all or --format"
            raise UsageError(
                f"-c {line!r}: with {given} nobody is asked, and it moves by itself. Leave it out; "
                f"--until says where it ends."
            )
    wanted = Wanted(form, grain, until, conditions, commands, Path(file).name)
    return Orders(conditions, until, wanted)


def _conditions(text: str | None) -> set[str]:
    if text is None:
        return set()
    try:
        return {condition.name for condition in parse_conditions(text)}
    except ArgumentError as error:
        raise UsageError(f"--fail-on: {error}") from None


def _grain(grain: str | None, file: str) -> str | None:
    """Return the grain of `--step-all`; None for the usual one."""
    if grain and grain not in GRAINS:
        near = did_you_mean(grain, GRAINS)
        raise UsageError(f"--step-all={grain}: {near}Expected one of {', '.join(GRAINS)}.")
    if grain is not None and file in GRAINS and not Path(file).is_file():
        raise UsageError(f"there is no file {file!r}. Did you mean --step-all={file}?")
    if grain == "":
        return "node"
    return grain


def _until(text: str | None) -> Until | None:
    if text is None:
        return None
    try:
        return Until(text)
    except ArgumentError as error:
        said = str(error).removeprefix("tbreak: ")
        raise UsageError(f"--until: {said}") from None


def _form(form: str | None) -> str:
    if form is None:
        return "text"
    if form not in FORMATS:
        near = did_you_mean(form, FORMATS)
        raise UsageError(f"--format {form}: {near}Expected one of {', '.join(FORMATS)}.")
    return form
