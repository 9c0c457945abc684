"""What a typed line consists of: the commands between `;;`, and the number behind a command."""

from __future__ import annotations

from kerascope.errors import ArgumentError


def number_in(words: str, command: str, default: int = 1) -> int:
    """Return how many times a command shall be done.

    Raises
    ------
    ArgumentError
        The words are no whole number.
    """
    if not words:
        return default
    try:
        return int(words)
    except ValueError:
        raise ArgumentError(
            f"{command}: got {words!r}; expected how many times, for example `{command} 3`."
        ) from None


def whole_number(text: str, command: str, what: str) -> int:
    """Return a number that a user typed.

    Raises
    ------
    ArgumentError
        It is none.
    """
    if not text.strip().isdigit():
        raise ArgumentError(f"{command}: got {text.strip()!r}; expected {what}: {command} 1.")
    return int(text)


def split_commands(line: str) -> list[str]:
    """Return the commands that `;;` divides, as in pdb; inside quotes it divides nothing.

    Examples
    --------
    >>> split_commands("b dense_1 ;; c;;p ';;'")
    ['b dense_1', 'c', "p ';;'"]
    """
    pieces, quote, begin, place = [], "", 0, 0
    while place < len(line):
        sign = line[place]
        if sign == "\\" and quote:
            place += 1
        elif sign in "'\"" and quote in ("", sign):
            quote = "" if quote else sign
        elif line.startswith(";;", place) and not quote:
            pieces.append(line[begin:place])
            place += 1
            begin = place + 1
        place += 1
    if not pieces:
        return [line]
    stripped = (piece.strip() for piece in (*pieces, line[begin:]))
    return [piece for piece in stripped if piece]
