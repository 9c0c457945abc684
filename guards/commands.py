"""Collects facts about the command line, the debugger, settings and environment variables."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

from guards.interface import PACKAGE, ROOT, plain
from kerascope import settings
from kerascope.cli import commands as command_line
from kerascope.cli import options, usage
from kerascope.debugger.front import COMMANDS


def command_line_facts() -> Iterator[str]:
    """Yield the facts about the command line: commands, options, arguments and exit codes."""
    whole, commands = command_line._parsers()
    yield from _parser_facts("kerascope", whole)
    for name, command in commands.items():
        yield from _parser_facts(f"kerascope {name}", command)
    for action in options.LEARN_ACTIONS:
        yield f"command kerascope learn: action {action}"
    for code, words in {**usage._CODES, **command_line.OTHER_CODES}.items():
        yield f"command exit code {code}: {words}"


def _parser_facts(command: str, told: argparse.ArgumentParser) -> Iterator[str]:
    yield f"command {command}"
    for action in told._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                if command != "kerascope":  # its actions are listed one by one
                    yield from _parser_facts(f"{command} {name}", inner)
        else:
            yield f"command {command}: {_option(action, told)}"


def _option(action: argparse.Action, told: argparse.ArgumentParser) -> str:
    """Return the names of a command-line option, its allowed values and its default, as text."""
    default = told.get_default(action.dest)
    parts = [", ".join(action.option_strings) or f"word {action.metavar or action.dest}"]
    if action.option_strings and action.nargs != 0:
        parts.append(str(action.metavar or "VALUE"))
    if action.nargs not in (None, 0):
        parts.append(f"nargs {action.nargs}")
    if action.choices is not None:
        parts.append(f"one of {' '.join(map(str, action.choices))}")
    if default not in (None, argparse.SUPPRESS):
        parts.append(f"default {plain(default)}")
    if action.required and action.option_strings:
        parts.append("required")
    return "; ".join(parts)


def debugger_facts() -> Iterator[str]:
    """Yield the facts about the debugger: its commands, and each alias with its command."""
    for name, command in COMMANDS.by_name.items():
        if name != command.names[0]:
            yield f"debugger {name} = {command.names[0]}"
        else:
            usage_line = re.search(r"Usage: (.*)", command.help)
            yield f"debugger {name}: {usage_line[1] if usage_line else 'no usage'}"


def setting_facts() -> Iterator[str]:
    """Yield the facts about kerascope's settings: their defaults and allowed values."""
    fresh = settings.Config()
    for name in sorted(vars(fresh)):
        choices = settings._CHOICES.get(name)
        one_of = f", one of {plain(choices)}" if choices else ""
        yield f"setting {name}: {plain(getattr(fresh, name))}{one_of}"


# --- environment variables ------------------------------------------------------------------------

_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$")
_READ = ("get", "getenv", "pop")


def environment_facts(folder: Path = ROOT / PACKAGE) -> Iterator[str]:
    """Yield the facts about environment variables: the names that the package reads."""
    found: set[str] = set()
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "environ" in text:
            found |= variables_read(text)
    yield from (f"environment {name}" for name in sorted(found))


def variables_read(source: str) -> set[str]:
    """Return the names of the environment variables that a Python file reads.

    Examples
    --------
    >>> sorted(variables_read("A = 'MY_A'; os.environ[A]; os.environ.get('MY_B'); x['MY_C'] = 1"))
    ['MY_A', 'MY_B']
    """
    tree = ast.parse(source)
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _READ and _is_environment(node.func.value):
                asked = node.args[:1]
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            asked = [node.slice] if _is_environment(node.value) else []
        elif isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple):
            asked = node.iter.elts  # for name in ("LC_ALL", "LANG"): environment.get(name)
        for one in asked:
            name = constants.get(one.id) if isinstance(one, ast.Name) else None
            name = one.value if isinstance(one, ast.Constant) else name
            if isinstance(name, str) and _VARIABLE.match(name):
                found.add(name)
    return found


def _is_environment(node: ast.expr) -> bool:
    return ast.unparse(node) in ("os.environ", "environ", "environment")
