"""Wrong usage: what cannot be done because of what was typed, or of what it names.

Every command has the same rule. 2: it was called wrongly, or what it was given is not there or
cannot be read. 1: it ran, and the script or the work failed.
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
    0: "done",
    1: "it ran, and the script or the work failed; a script may give a code of its own",
    2: "it was called wrongly, or what it was given is not there or cannot be read",
    130: "interrupted",
}


class UsageError(Exception):
    """The command line makes no sense, or names what cannot be read; the message says why."""


def exit_codes(others: Mapping[int, str] | None = None) -> str:
    """Return the exit codes for a help text.

    Parameters
    ----------
    others : mapping of int to str, optional
        What one command has beside those of all; what it has more for one of them is added to it.

    Examples
    --------
    >>> print(exit_codes({2: "or it is too late", 3: "found"}))
    exit codes:
      0    done
      1    it ran, and the script or the work failed; a script may give a code of its own
      2    it was called wrongly, or what it was given is not there or cannot be read
           or it is too late
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
    """Let an error of the block be wrong usage: the block only reads what a command was given.

    Parameters
    ----------
    expected : str
        A sentence that is said after the error's own words.

    Raises
    ------
    UsageError
        In the place of a `KerascopeError`.
    """
    try:
        yield
    except KerascopeError as error:
        raise UsageError(f"{error} {expected}".rstrip()) from None


NEARLY_THE_SAME = 0.8  # of an option's letters, since all options begin with two dashes


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError`, and suggests the word that may have been meant."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line, in few words: the usage of some commands has 20 lines."""
        raise UsageError(f"{message}\n({self.prog} --help shows all options, and examples)")

    def refuse(self, words: list[str]) -> NoReturn:
        """Refuse words that no option takes, with the option that may have been meant."""
        wrong = next((word for word in words if word.startswith("-")), "")
        hint = did_you_mean(wrong.partition("=")[0], self.option_names, NEARLY_THE_SAME)
        self.error(f"unrecognized arguments: {' '.join(words)}. {hint}".rstrip())

    @property
    def option_names(self) -> list[str]:
        """All options: `-o`, `--output`, ..."""
        return [name for action in self._actions for name in action.option_strings]

    @property
    def options_with_value(self) -> list[str]:
        """Those behind which a word stands that belongs to them."""
        taking = (action for action in self._actions if action.nargs is None)
        return [name for action in taking for name in action.option_strings]

    def with_their_values(self, words: Iterable[str]) -> Iterator[list[str]]:
        """Yield each word; an option that takes a value together with that."""
        rest = iter(words)
        for word in rest:
            yield [word, *islice(rest, 1 if word in self.options_with_value else 0)]

    def split_at_script(self, words: list[str]) -> tuple[list[str], list[str]]:
        """Tell our own options and the script from its arguments, as Python does."""
        ours: list[str] = []
        for option in self.with_their_values(words):
            ours += option
            if not option[0].startswith("-"):
                break
        return ours, words[len(ours) :]

    def split_around_script(self, words: list[str]) -> tuple[list[str], list[str]]:
        """Tell our own options, before the script or after it, from the script's arguments.

        The script is the first word that is neither an option nor an option's value.

        Returns
        -------
        ours, theirs : list of str
            Each in its order. What stands behind `--` is the script's in any case.

        Raises
        ------
        UsageError
            A word behind the script looks like one of our options misspelt.

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
                    f"unrecognized argument: {word}. {hint}The script's own words stand behind "
                    f"--.\n({self.prog} --help shows all options, and examples)"
                )

    def chosen(self, options: argparse.Namespace) -> Parser:
        """Return the parser of the innermost command that was typed: that of `lessons check`."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                inner: Parser = action.choices[getattr(options, action.dest)]
                return inner.chosen(options)
        return self

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is none of the choices, with the one that may have been meant."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        hint = did_you_mean(str(value), choices)
        raise argparse.ArgumentError(
            action, f"invalid choice: {value!r}. {hint}Expected one of {', '.join(choices)}."
        )
