"""Text made into numbers: words, hashes of words, and `Tokenizer`, which counts and numbers them.

Keras keeps these in `keras.preprocessing.text`; the class is in `tokenizer.py`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable

from kerascope.errors import ArgumentError, ConfigError
from kerascope.preprocessing.tokenizer import DEFAULT_FILTERS, Tokenizer, text_to_word_sequence

__all__ = [
    "Tokenizer",
    "hashing_trick",
    "one_hot",
    "text_to_word_sequence",
    "tokenizer_from_json",
]


def one_hot(
    text: str, n: int, filters: str = DEFAULT_FILTERS, lower: bool = True, split: str = " "
) -> list[int]:
    """Return a number from 1 to n - 1 for each word of a text, by Python's `hash`.

    Two words may have the same number.

    Parameters
    ----------
    text : str
    n : int
        One more than the greatest number.
    filters, lower, split
        See `text_to_word_sequence`.

    Notes
    -----
    Python's `hash` of text is another one in each process (unless the environment variable
    PYTHONHASHSEED is set). Numbers that shall mean the same tomorrow come from
    `hashing_trick(text, n, hash_function="md5")`.

    Examples
    --------
    >>> numbers = one_hot("the cat and the dog", 50)
    >>> numbers[0] == numbers[3], len(numbers)
    (True, 5)
    """
    return hashing_trick(text, n, hash, filters, lower, split)


def hashing_trick(
    text: str,
    n: int,
    hash_function: str | Callable[[str], int] | None = None,
    filters: str = DEFAULT_FILTERS,
    lower: bool = True,
    split: str = " ",
) -> list[int]:
    """Return a number from 1 to n - 1 for each word of a text, by a hash function.

    Parameters
    ----------
    text : str
    n : int
        One more than the greatest number; 0 stands for no word.
    hash_function : {"md5"} or callable, optional
        "md5" gives the same numbers on every machine and every day. Default: Python's `hash`, which
        is another one in each process.
    filters, lower, split
        See `text_to_word_sequence`.

    Raises
    ------
    ArgumentError
        `n` is less than 2, or there is no such hash function.

    Examples
    --------
    >>> hashing_trick("The cat and the dog", 200, hash_function="md5")
    [165, 20, 121, 165, 193]
    """
    if n < 2:
        raise ArgumentError(
            f"hashing_trick: n is {n}; expected 2 or more, since the numbers are 1 to n - 1."
        )
    function = _hash_function(hash_function)
    words = text_to_word_sequence(text, filters=filters, lower=lower, split=split)
    return [function(word) % (n - 1) + 1 for word in words]


def _hash_function(chosen: str | Callable[[str], int] | None) -> Callable[[str], int]:
    if chosen is None:
        return hash
    if chosen == "md5":
        return _md5
    if callable(chosen):
        return chosen
    raise ArgumentError(
        f"hashing_trick: hash_function is {chosen!r}; expected 'md5', a function or None."
    )


def _md5(word: str) -> int:
    return int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16)


_COUNTED = ("word_counts", "word_docs", "index_docs", "index_word", "word_index")


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """Return the tokenizer that `Tokenizer.to_json` described.

    Raises
    ------
    ConfigError
        The text is no such description.

    Examples
    --------
    >>> tokenizer = Tokenizer()
    >>> tokenizer.fit_on_texts(["a cat", "a dog"])
    >>> tokenizer_from_json(tokenizer.to_json()).word_index
    {'a': 1, 'cat': 2, 'dog': 3}
    """
    try:
        config = dict(json.loads(json_string)["config"])
        counted = {name: json.loads(config.pop(name)) for name in _COUNTED}
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"tokenizer_from_json: no description of a Tokenizer; expected what to_json returned. "
            f"({type(error).__name__}: {error})"
        ) from error
    tokenizer = Tokenizer(**config)
    vars(tokenizer).update(counted)
    for name in ("word_counts", "word_docs"):
        setattr(tokenizer, name, Counter(counted[name]))
    for name in ("index_docs", "index_word"):  # JSON knows only text as keys
        by_number = {int(index): value for index, value in counted[name].items()}
        setattr(tokenizer, name, by_number)
    return tokenizer
