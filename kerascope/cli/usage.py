"""Wrong usage: the command line is not valid, or a file that it names cannot be read.

All commands use the same exit codes: 2 for wrong usage, 1 if the command ran and the script or the
work failed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any, NoReturn

from kerascope.errors import KerascopeError
from kerascope.registry import did_you_mean

_CODES = {
    0: "success",
    1: "the command ran, and the script or the work failed; a script may set its own code",
    2: "wrong usage, or an input is missing or cannot be read",
    130: "interrupted",
}


class UsageError(Exception):
    """Raised when a command line is not valid, or names a file that cannot be read."""


def exit_codes(others: Mapping[int, str] | None = None) -> str:
    """Return the part of a command's help text that lists its exit codes.

    Parameters
    ----------
    others : mapping of int to str, optional
        Meanings of the exit codes of one command. If a code is also one of those that all
        commands have, its meaning here is printed below the common meaning.

    Examples
    --------
    >>> print(exit_codes({2: "also: too late", 3: "found"}))
    exit codes:
      0    success
      1    the command ran, and the script or the work failed; a script may set its own code
      2    wrong usage, or an input is missing or cannot be read
           also: too late
      3    found
      130  interrupted
    """
    others = others or {}
    lines = ["exit codes:"]
    for code in sorted({*_CODES, *others}):
        first, *more = [words[code] for words in (_CODES, others) if code in words]
        lines += [f"  {code:<4} {first}", *(f"       {words}" for words in more)]
    return "\n".join(lines)


@contextmanager
def given(expected: str = "") -> Iterator[None]:
    """Raise `UsageError` in place of a `KerascopeError` inside a `with` block.

    Use it for blocks that only check or read the arguments of a command.

    Parameters
    ----------
    expected : str
        A sentence that is added to the error's message.

    Raises
    ------
    UsageError
        The block raised a `KerascopeError`.
    """
    try:
        yield
    except KerascopeError as error:
        raise UsageError(" ".join([str(error), expected]).rstrip()) from None


NEARLY_THE_SAME = 0.8  # of an option's letters, since all options begin with two dashes


class Parser(argparse.ArgumentParser):
    """Parses command lines; raises `UsageError`, and suggests the word that may have been meant."""

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError`. The usage is not printed, because it can be 20 lines long."""
        raise UsageError(f"{message}\n({self.prog} --help shows all options, and examples)")

    def refuse(self, words: list[str]) -> NoReturn:
        """Raise for unknown words; the message suggests the option that may have been meant."""
        wrong = next((word for word in words if word.startswith("-")), "")
        hint = did_you_mean(wrong.partition("=")[0], self.option_names, NEARLY_THE_SAME)
        self.error(f"unrecognized arguments: {' '.join(words)}. {hint}".rstrip())

    @property
    def option_names(self) -> list[str]:
        """The names of all options: `-o`, `--output`, ..."""
        return [name for action in self._actions for name in action.option_strings]

    @property
    def options_with_value(self) -> list[str]:
        """The names of the options that take the next word as their value."""
        taking = (action for action in self._actions if action.nargs is None)
        return [name for action in taking for name in action.option_strings]

    def with_their_values(self, words: Iterable[str]) -> Iterator[list[str]]:
        """Yield lists of words: an option with its value, or a single word."""
        rest = iter(words)
        for word in rest:
            yield [word, *islice(rest, 1 if word in self.options_with_value else 0)]

    def split_at_script(self, words: list[str]) -> tuple[list[str], list[str]]:
        """Separate the options and the script from the script's arguments, as Python does."""
        ours: list[str] = []
        for option in self.with_their_values(words):
            ours += option
            if not option[0].startswith("-"):
                break
        return ours, words[len(ours) :]

    def split_around_script(self, words: list[str]) -> tuple[list[str], list[str]]:
        """Separate the options, before or after the script, from the script's arguments.

        The script is the first word that is neither an option nor an option's value.

        Returns
        -------
        ours, theirs : list of str
            The words of kerascope and the script's words, both in the order of the command line.
        All words after `--` are arguments of the script.

        Raises
        ------
        UsageError
            A word after the script looks like a misspelt option of kerascope.

        Examples
        --------
        >>> parser = Parser()
        >>> _ = parser.add_argument("-o")
        >>> parser.split_around_script(["train.py", "data.csv", "-o", "p.svg", "--", "-o", "x"])
        (['train.py', '-o', 'p.svg'], ['data.csv', '-o', 'x'])
        """
        ours: list[str] = []
        theirs: list[str] = []
        script_seen, at = False, 0
        for option in self.with_their_values(words):
            word = option[0]
            at += len(option)
            if word == "--" and script_seen:
                return ours, theirs + words[at:]
            is_option = word.partition("=")[0] in self.option_names
            if is_option or not script_seen:
                ours += option
                script_seen = script_seen or not word.startswith("-")
            else:
                self._check_spelling(word)
                theirs += option
        return ours, theirs

    def _check_spelling(self, word: str) -> None:
        name = word.partition("=")[0]
        if name.startswith("--") and name not in self.option_names:
            hint = did_you_mean(name, self.option_names, NEARLY_THE_SAME)
            if hint:
                raise UsageError(
                    f"unrecognized argument: {word}. {hint}Write the script's own words after "
                    f"--.\n({self.prog} --help shows all options, and examples)"
                )

    def chosen(self, options: argparse.Namespace) -> Parser:
        """Return the parser of the innermost command that was typed, such as `lessons check`."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                inner: Parser = action.choices[getattr(options, action.dest)]
                return inner.chosen(options)
        return self

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise for a value that is not among the choices; the message suggests one of them."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        hint = did_you_mean(str(value), choices)
        raise argparse.ArgumentError(
            action, f"invalid choice: {value!r}. {hint}Expected one of {', '.join(choices)}."
        )
