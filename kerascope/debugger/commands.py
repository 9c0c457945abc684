"""The registry of the debugger's commands: who asks what there is to type asks here.

A command is a function of the debugger and of the words behind it, with a decorator above that says
what it is called and how it is listed. `help`, completion, and what may stand behind a name on a
line all read that; nothing of it is told twice. A `Registry` puts the commands of some modules
together, in their order.
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
END_OF_INPUT = "EOF"  # what is read when there is no more; it ends the session
SIGNS = {"!": "statement"}  # a sign in the place of a name
Function = Callable[[Any, str], bool | None]
Complete = Callable[[Any, str, str, int, int], list[str]]


@dataclass(frozen=True)
class Command:
    """What can be typed, and what is done then.

    Attributes
    ----------
    function : callable
        Is given the debugger and the words behind the name; returns whether the prompt is left.
    names : tuple of str
        The whole name first.
    group : str
        Under which `help all` lists it.
    takes_words : bool
        Whether anything may stand behind it.
    moves : bool
        Whether the program goes on then, or the session ends.
    completes : tuple of str, callable or None
        What its words can be; a function is given the debugger, and what `readline` tells: the word
        that is typed, the line, and where in it the word begins and ends. None for any names.
    """

    function: Function
    names: tuple[str, ...]
    group: str
    takes_words: bool = True
    moves: bool = False
    completes: tuple[str, ...] | Complete | None = None

    @property
    def help(self) -> str:
        """What `help` says of it: the function's docstring."""
        return inspect.getdoc(self.function) or f"{self.names[0]}: no help"

    @property
    def shown(self) -> str:
        """The name or sign by which it is listed."""
        name = self.names[0]
        return next((sign for sign, meant in SIGNS.items() if meant == name), name)

    def check_words(self, name: str, words: str) -> None:
        """Refuse words behind a command that expects none.

        Raises
        ------
        ArgumentError
            There are some.
        """
        if words and not self.takes_words:
            raise ArgumentError(f"{name}: got {words!r}; nothing is expected behind {name}.")


_marked: dict[Function, Command] = {}


def command(
    *names: str,
    group: str,
    takes_words: bool = True,
    moves: bool = False,
    completes: Collection[str] | Complete | None = None,
) -> Callable[[Function], Function]:
    """Make a function a command of the debugger; its docstring is its help.

    Parameters
    ----------
    *names : str
        The whole name, then the short ones.
    group : str
        One of GROUPS.
    takes_words, moves, completes
        See `Command`.

    Raises
    ------
    ArgumentError
        There is no such group.

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
    """Return the command that a function is.

    Raises
    ------
    ArgumentError
        It is none.
    """
    if function not in _marked:
        raise ArgumentError(f"{function!r} is no command; expected `@command(...)` above it.")
    return _marked[function]


class Registry:
    """The commands of some modules.

    Parameters
    ----------
    *modules : module
        In the order in which `help all` lists what belongs to one group; inside of a module it is
        the order in which the functions are written.

    Attributes
    ----------
    by_name : dict of str to Command
        By all their names.

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
                raise ArgumentError(f"command {one.names[0]}: {name!r} is {other} already.")
            self.by_name[name] = one

    def __iter__(self) -> Iterator[Command]:
        return iter(dict.fromkeys(self.by_name.values()))

    @property
    def names(self) -> list[str]:
        """All that can be typed, sorted."""
        return sorted(self.by_name)

    def find(self, name: str | None) -> Command | None:
        """Return the command of a name or sign; None if there is none."""
        return None if name is None else self.by_name.get(SIGNS.get(name, name))

    def moves(self, word: str) -> bool:
        """Return whether a word leaves the prompt: a command that moves, or the end of input."""
        found = self.find(word)
        return word == END_OF_INPUT or (found is not None and found.moves)

    def listed(self) -> dict[str, list[str]]:
        """Return how the commands are listed, group by group."""
        groups: dict[str, list[str]] = {title: [] for title in GROUPS}
        for one in self:
            groups[one.group].append(one.shown)
        return {title: names for title, names in groups.items() if names}
