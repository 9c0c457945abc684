"""The registry of the debugger's commands.

A command is a function of the debugger and of the words after the command's name. A decorator gives
its names, its group and its completions, which `help`, completion and the check of arguments use. A
`Registry` combines the commands of several modules, in their order.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean

GROUPS = (
    *("forward", "backward", "in time", "stop at", "values", "what if", "source", "all of it"),
    "session",
)
END_OF_INPUT = "EOF"  # read at the end of the input; ends the session
SIGNS = {"!": "statement"}  # signs that replace a command's name
Function = Callable[[Any, str], bool | None]
Complete = Callable[[Any, str, str, int, int], list[str]]


@dataclass(frozen=True)
class Command:
    """A command of the debugger: its function, its names, its help and its completions.

    Attributes
    ----------
    function : callable
        Called with the debugger and the words after the name; returns whether to leave the prompt.
    names : tuple of str
        The full name first, then the abbreviations.
    group : str
        The heading under which `help all` lists it.
    takes_words : bool
        Whether the command accepts arguments.
    moves : bool
        Whether the command continues the program or ends the session.
    completes : tuple of str, callable or None
        The arguments that the tab key completes, or a function that returns them. The function
        is called with the debugger, the text, the line, and the text's begin and end in the line.
        With None, all names are completed.
    """

    function: Function
    names: tuple[str, ...]
    group: str
    takes_words: bool = True
    moves: bool = False
    completes: tuple[str, ...] | Complete | None = None

    @property
    def help(self) -> str:
        """The help text: the function's docstring."""
        return inspect.getdoc(self.function) or f"{self.names[0]}: no help"

    @property
    def shown(self) -> str:
        """The name that `help all` lists: a symbol if there is one (`!`), or the full name."""
        name = self.names[0]
        return next((sign for sign, meant in SIGNS.items() if meant == name), name)

    def check_words(self, name: str, words: str) -> None:
        """Raise if arguments are given to a command that takes none.

        Raises
        ------
        ArgumentError
            The command takes no arguments, and some were given.
        """
        if words and not self.takes_words:
            raise ArgumentError(f"{name}: expected no arguments, got {words!r}.")


_marked: dict[Function, Command] = {}


def command(
    *names: str,
    group: str,
    takes_words: bool = True,
    moves: bool = False,
    completes: Collection[str] | Complete | None = None,
) -> Callable[[Function], Function]:
    """Make a function a command of the debugger; its docstring is the help text.

    Parameters
    ----------
    *names : str
        The full name, then the abbreviations.
    group : str
        One of GROUPS.
    takes_words, moves, completes
        See `Command`.

    Raises
    ------
    ArgumentError
        The group is not one of GROUPS.

    Examples
    --------
    >>> @command("greet", "g", group="session", completes=("world",))
    ... def greet(debugger, words):
    ...     '''Say hello.'''
    >>> registered(greet).names, registered(greet).help
    (('greet', 'g'), 'Say hello.')
    """
    if group not in GROUPS:
        near = did_you_mean(group, GROUPS)
        raise ArgumentError(f"command {names[0]}: unknown group {group!r}. {near}".rstrip())
    words = completes if completes is None or callable(completes) else tuple(completes)

    def mark(function: Function) -> Function:
        _marked[function] = Command(function, names, group, takes_words, moves, words)
        return function

    return mark


def registered(function: Function) -> Command:
    """Return the command that a decorated function implements.

    Raises
    ------
    ArgumentError
        The function has no decorator `command`.
    """
    if function not in _marked:
        raise ArgumentError(f"{function!r} is not a command. Put `@command(...)` above it.")
    return _marked[function]


class Registry:
    """The debugger's commands, collected from the modules that define them.

    Parameters
    ----------
    *modules : module
        Modules with functions that `command` decorates. Within each group, `help all` lists the
        commands in the order of the modules, then in the order of the source.

    Attributes
    ----------
    by_name : dict of str to Command
        Each command under its full name and under each of its abbreviations.

    Raises
    ------
    ArgumentError
        Two commands have the same name.

    Examples
    --------
    >>> from kerascope.debugger import moving
    >>> known = Registry(moving)
    >>> known.find("n").names, known.find("nothing")
    (('next', 'n'), None)
    >>> known.listed()["backward"]
    ['rs', 'rn', 'ru', 'rr', 'rc']
    """

    def __init__(self, *modules: ModuleType) -> None:
        self.by_name: dict[str, Command] = {}
        for module in modules:
            for one in vars(module).values():
                is_own = inspect.isfunction(one) and one.__module__ == module.__name__
                if is_own and one in _marked:
                    self._add(_marked[one])

    def _add(self, one: Command) -> None:
        for name in one.names:
            if name in self.by_name:
                other = self.by_name[name].names[0]
                raise ArgumentError(f"command {one.names[0]}: {name!r} already names {other}.")
            self.by_name[name] = one

    def __iter__(self) -> Iterator[Command]:
        return iter(dict.fromkeys(self.by_name.values()))

    @property
    def names(self) -> list[str]:
        """The names and abbreviations of all commands, sorted."""
        return sorted(self.by_name)

    def find(self, name: str | None) -> Command | None:
        """Return the command with this name, abbreviation or symbol (`!`), or None."""
        return None if name is None else self.by_name.get(SIGNS.get(name, name))

    def moves(self, word: str) -> bool:
        """Return whether a word is a command that moves the program.

        The word that marks the end of the input counts as such a command.
        """
        found = self.find(word)
        return word == END_OF_INPUT or (found is not None and found.moves)

    def listed(self) -> dict[str, list[str]]:
        """Return the names of the commands in each group, as `help all` lists them."""
        groups: dict[str, list[str]] = {title: [] for title in GROUPS}
        for one in self:
            groups[one.group].append(one.shown)
        return {title: names for title, names in groups.items() if names}
