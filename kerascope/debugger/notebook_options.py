"""What can be typed after `%kdb` and `%%kdb`: options first, as after `kerascope debug`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.conditions import parse_conditions

LONG = {"-c": "--command", "-x": "--commands-from", "-t": "--tape"}
OPTIONS = ("--command", "--commands-from", "--tape", "--fail-on")
_WORD = re.compile(r"""(--?[\w-]*)(?:=|\s*)("[^"]*"|'[^']*'|[^\s"']\S*)?\s*""")


@dataclass
class Options:
    """What was typed.

    Attributes
    ----------
    commands : list of str
        Done first.
    fail_on : str or None
        Conditions at the first of which the cell fails.
    tape : str or None
        Under which name the tape is put into the notebook.
    statement : str
        What stands behind the options.
    """

    commands: list[str] = field(default_factory=list)
    fail_on: str | None = None
    tape: str | None = None
    statement: str = ""

    @property
    def conditions(self) -> set[str]:
        """The names of the conditions of `fail_on`."""
        return {c.name for c in parse_conditions(self.fail_on)} if self.fail_on else set()


def parse_options(line: str) -> Options:
    """Return what stands on the line of a magic.

    Raises
    ------
    ArgumentError
        An option is unknown, has no value, or its value makes no sense.

    Examples
    --------
    >>> found = parse_options("-c 'b dense_2' -c c model.fit(x, y)")
    >>> found.commands, found.statement
    (['b dense_2', 'c'], 'model.fit(x, y)')
    """
    options = Options()
    rest = line.strip()
    while rest.startswith("-"):
        found = _WORD.match(rest)
        name, value = (found[1], found[2]) if found else (rest.split()[0], None)
        name = LONG.get(name, name)
        if name not in OPTIONS:
            near = did_you_mean(name, OPTIONS)
            raise ArgumentError(
                f"kdb: unknown option {name!r}. {near}Expected -c COMMAND, -x FILE, "
                "--fail-on CONDITIONS or --tape NAME."
            )
        if found is None or not value:
            raise ArgumentError(
                f"kdb: {name}: expected a value behind it, in quotes if it has spaces: "
                "-c 'b dense_1'."
            )
        _take(options, name, value[1:-1] if value[0] in "\"'" else value)
        rest = rest[found.end() :]
    options.statement = rest
    return options


def _take(options: Options, name: str, value: str) -> None:
    if name == "--command":
        options.commands.append(value)
    elif name == "--commands-from":
        options.commands += _lines_of(value)
    elif name == "--tape":
        if not value.isidentifier():
            raise ArgumentError(f"kdb: --tape: expected a name for the tape, got {value!r}.")
        options.tape = value
    else:
        parse_conditions(value)
        options.fail_on = value


def _lines_of(file: str) -> list[str]:
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"kdb: -x {file}: expected a text file of commands; {error}.") from None
    lines = (line.strip() for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]
