"""Texts as lists of word numbers: what IMDB and Reuters do with them before a model sees them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError, DataError
from kerascope.spellings import translate


@dataclass(frozen=True)
class WordChoice:
    """Which words of a text are kept, and which numbers mark the others.

    Attributes
    ----------
    num_words : int or None
        Keep words with a smaller number; None keeps all.
    skip_top : int
        Leave out the words with the smallest numbers, the most frequent ones.
    maxlen : int or None
        Keep only texts that are shorter, start mark included; None keeps all.
    start_char : int or None
        Number put in front of each text.
    oov_char : int or None
        Number put in place of a word that is left out; None drops the word.
    index_from : int or None
        Added to each word's number, to leave room for the marks.

    Examples
    --------
    >>> WordChoice(num_words=8).apply_to([1, 4, 9])
    [1, 4, 7, 2]
    """

    num_words: int | None = None
    skip_top: int = 0
    maxlen: int | None = None
    start_char: int | None = 1
    oov_char: int | None = 2
    index_from: int | None = 3

    def apply_to(self, words: Iterable[int]) -> list[int]:
        """Return one text after shifting, marking and leaving out."""
        start = [] if self.start_char is None else [self.start_char]
        shifted = start + [int(word) + (self.index_from or 0) for word in words]
        if self.oov_char is None:
            return [word for word in shifted if self._keeps(word)]
        return [word if self._keeps(word) else self.oov_char for word in shifted]

    def _keeps(self, word: int) -> bool:
        return word >= self.skip_top and (self.num_words is None or word < self.num_words)

    def is_short_enough(self, words: Iterable[int]) -> bool:
        """Tell whether a text with its start mark is shorter than `maxlen`."""
        start = 0 if self.start_char is None else 1
        return self.maxlen is None or len(list(words)) + start < self.maxlen


def choose_words(
    where: str, texts: np.ndarray, labels: np.ndarray, choice: WordChoice
) -> tuple[np.ndarray, np.ndarray]:
    """Return the texts that are short enough, with the chosen words, and their labels.

    Parameters
    ----------
    where : str
        Who asks, for the message.
    texts : ndarray, shape (samples,), of lists of int
    labels : ndarray, shape (samples,)
    choice : WordChoice

    Returns
    -------
    texts : ndarray, shape (kept,), of lists of int
    labels : ndarray, shape (kept,)

    Raises
    ------
    DataError
        If every text is too long.
    """
    kept = [number for number, text in enumerate(texts) if choice.is_short_enough(text)]
    if len(texts) and not kept:
        raise DataError(
            f"{where}: no text is shorter than maxlen; expected at least one, "
            f"got none below {choice.maxlen}. Give a larger maxlen."
        )
    chosen = np.empty(len(kept), dtype=object)  # np.array would make a table of equal lengths
    for place, number in enumerate(kept):
        chosen[place] = choice.apply_to(texts[number])
    return chosen, labels[kept]


def with_old_spelling(where: str, num_words: int | None, old_words: dict[str, Any]) -> int | None:
    """Return `num_words`, which Keras 1 calls `nb_words`; refuse any other keyword."""
    translated = translate(where, old_words)
    unknown = sorted(translated.keys() - {"num_words"})
    if unknown:
        raise ArgumentError(f"{where}: unknown argument {unknown[0]!r}; see its docstring.")
    return translated.get("num_words", num_words)
